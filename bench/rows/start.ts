/** Measures the time from the start of the program to its first answer. */
import { atMost } from '../measurement.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;

export const start: Row = {
  name: 'start',
  async measure({ starters }) {
    const samples = await inTurns(starters, rounds, async (peer) => {
      await using contestant = await peer.open();
      return contestant.startMs === null ? [] : [contestant.startMs];
    });
    return [{ title: 'start to the first answer', unit: 'ms', goals: [atMost(35)], samples }];
  },
};
