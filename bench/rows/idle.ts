/** What a server holds resident that has served nothing but its first answer. */
import { budget, type Samples } from '../measurement.ts';
import { residentMib } from '../processes.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 3;
/** What a start leaves to be tidied up is given back in this time, or counts. */
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
    return [{ title: 'resident when idle', unit: 'MiB', goals: [budget(45)], samples: { ...started, ...found } }];
  },
};
