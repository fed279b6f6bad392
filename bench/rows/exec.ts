/** Measures the cost of a no-op command over one kept connection. */
import { atMost } from '../measurement.ts';
import { inTurns, runInSequence } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 10;
const runsInTurn = 50;
const turnMs = 1000;

export const exec: Row = {
  name: 'exec',
  async measure({ contestants }) {
    const samples = await inTurns(contestants, rounds, (contestant) =>
      runInSequence(contestant, 'true', runsInTurn, turnMs),
    );
    const goals = [atMost(1.8, 'direct'), atMost(0.4, 'envd')];
    return [{ title: 'exec `true`, one connection', unit: 'ms', goals, samples }];
  },
};
