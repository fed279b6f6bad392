/** Measures the first cell of a session: cold, with a spare interpreter, and five at once. */
import { atMost, type Samples } from '../measurement.ts';
import { openCodeServers, type CodeServersOptions } from '../peers/code-servers.ts';
import { timeOf, type CodeServer } from '../peers/code.ts';
import { quiet } from '../processes.ts';
import { inTurns } from '../turns.ts';
import type { Field, Row } from './row.ts';

const rounds = 5;
const roundsTogether = 2;
const together = 5;
/** Spare kernels of the gateway, one for each turn, because the gateway starts them only at its own start. */
const gatewaySpare = rounds + 1;

export const codeStart: Row = {
  name: 'code-start',
  async measure(field) {
    const cold = { spare: 0, gatewaySpare: 0, plain: 'once' } as const;
    const first = await measureFirst(field, cold, rounds, (server) => firstCells(server, 1));
    const prewarmed = await measureFirst(field, { ...cold, spare: 1, gatewaySpare }, rounds, (server) =>
      firstCells(server, 1),
    );
    const atOnce = await measureFirst(field, cold, roundsTogether, (server) => firstCells(server, together));
    return [
      { title: 'first cell of a new session', unit: 'ms', goals: [atMost(1, 'gateway')], samples: first },
      { title: 'first cell with an interpreter to spare', unit: 'ms', goals: [atMost(100)], samples: prewarmed },
      { title: `first cells of ${together} sessions at once`, unit: 'ms', goals: [], samples: atOnce },
    ];
  },
};

/** Each measurement starts on a quiet machine, after the processes of the previous one have started or ended. */
async function measureFirst(
  field: Field,
  options: CodeServersOptions,
  rounds: number,
  measure: (server: CodeServer) => Promise<number[]>,
): Promise<Samples> {
  await using servers = await openCodeServers(field, options);
  const pids = servers.all.flatMap((server) => server.pids);
  return await inTurns(servers.all, rounds, async (server) => {
    await quiet(pids);
    return await measure(server);
  });
}

/** From the request for the sessions to the last answer. The sessions are closed afterwards. */
async function firstCells({ language, ...server }: CodeServer, count: number): Promise<number[]> {
  await using opened = new AsyncDisposableStack();
  const startedMs = performance.now();
  const first = async () => timeOf(opened.use(await server.openSession()), language.print('first'), 'first\n');
  await Promise.all(Array.from({ length: count }, first));
  return [performance.now() - startedMs];
}
