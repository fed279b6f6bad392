/** Measures how many no-op commands end per second, 16 at once. */
import { atLeast } from '../measurement.ts';
import { inTurns, runSideBySide } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 4;
const width = 16;
const runsInTurn = 400;
const turnMs = 1000;

export const burst: Row = {
  name: 'burst',
  async measure({ contestants }) {
    const samples = await inTurns(contestants, rounds, async (contestant) => [
      await runSideBySide(contestant, 'true', width, runsInTurn, turnMs),
    ]);
    return [
      { title: 'exec `true`, 16 at once', unit: '/s', goals: [atLeast(0.75, 'direct'), atLeast(2.2, 'envd')], samples },
    ];
  },
};
