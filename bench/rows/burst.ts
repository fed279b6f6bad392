/** Commands that do nothing, 16 at once: how many end in a second. */
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
    return [{ title: 'exec `true`, 16 at once', unit: '/s', goals: [atLeast(3, 'envd')], samples }];
  },
};
