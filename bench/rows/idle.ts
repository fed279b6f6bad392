/** Measures the resident memory of a server that has served only its first answer. */
import { budget, type Samples } from '../measurement.ts';
import { residentMib } from '../processes.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 3;
/** After this time temporary memory of the start has been returned, or counts. */
const restMs = 1000;

export const idle: Row = {
  name: 'idle',
  async measure({ contestants, starters }) {
    const started = await inTurns(starters, rounds, async (peer) => {
      await using contestant = await peer.open();
      await Bun.sleep(restMs);
      return [residentMib(contestant.pids)];
    });
    const found: Samples = Object.fromEntries(
      contestants.flatMap(({ name, pids, startMs }) =>
        startMs === null && pids.length > 0 ? [[name, [residentMib(pids)]]] : [],
      ),
    );
    return [{ title: 'resident when idle', unit: 'MiB', goals: [budget(30)], samples: { ...started, ...found } }];
  },
};
