/** Measures the memory of idle code sessions: in total, and for interpreter, keeper and bridge. */
import type { Measurement } from '../measurement.ts';
import { openCodeServers } from '../peers/code-servers.ts';
import type { CodeServer } from '../peers/code.ts';
import { childrenOf, parentOf, programOf, proportionalMib, treeOf } from '../processes.ts';
import type { Row } from './row.ts';

const idleSessions = 5;
/** After this time temporary memory has been returned, or counts. */
const restMs = 3000;

export const codeMemory: Row = {
  name: 'code-memory',
  async measure(field) {
    await using servers = await openCodeServers(field, { spare: 0, gatewaySpare: 0, plain: 'fed' });
    const sizes: (Sizes & { readonly name: string })[] = [];
    for (const server of servers.all) sizes.push({ name: server.name, ...(await sizesOf(server)) });
    const row = (title: string, unit: 'MiB' | 'KiB', of: (one: Sizes) => readonly number[]): Measurement => ({
      title,
      unit,
      goals: [],
      samples: Object.fromEntries(sizes.flatMap((one) => (of(one).length > 0 ? [[one.name, of(one)]] : []))),
    });
    return [
      row(`each of ${idleSessions} idle sessions, all that it adds`, 'MiB', ({ allMib }) => [allMib]),
      row('its interpreter', 'MiB', ({ interpretersMib }) => interpretersMib),
      row('its keeper', 'KiB', ({ keepersMib }) => keepersMib.map((mib) => mib * 1024)),
      row('the bridge that they share, with its keeper', 'MiB', ({ bridgeMib }) => bridgeMib),
    ];
  },
};

/** Proportional sizes: memory that several processes share is divided among them. */
interface Sizes {
  readonly allMib: number;
  /** One entry for each session. */
  readonly interpretersMib: readonly number[];
  readonly keepersMib: readonly number[];
  readonly bridgeMib: readonly number[];
}

async function sizesOf(server: CodeServer): Promise<Sizes> {
  await loadAll(server);
  const before = await restingMib(server.pids);
  await using opened = new AsyncDisposableStack();
  const pids: number[] = [];
  while (pids.length < idleSessions) pids.push(await begin(server, opened));
  const after = await restingMib([...server.pids, ...(server.pids.length === 0 ? pids : [])]);
  const keepers = pids.map(parentOf).filter(isKeeper);
  const bridge = server.pids.flatMap(childrenOf).filter((pid) => isKeeper(pid) && !keepers.includes(pid));
  return {
    allMib: (after - before) / idleSessions,
    interpretersMib: pids.map((pid) => proportionalMib(treeOf(pid))),
    keepersMib: keepers.map((pid) => proportionalMib([pid])),
    // A bridge process without children is a spare for the next start.
    bridgeMib: bridge.filter((pid) => childrenOf(pid).length > 0).map((pid) => proportionalMib(treeOf(pid))),
  };
}

/** Memory that the first session loads is not a cost of later sessions. */
async function loadAll(server: CodeServer): Promise<void> {
  await using opened = new AsyncDisposableStack();
  await begin(server, opened);
}

/** Opens a session and runs a cell in it. Returns the pid of its interpreter. */
async function begin({ language, ...server }: CodeServer, opened: AsyncDisposableStack): Promise<number> {
  const session = opened.use(await server.openSession());
  return Number(await session.run(language.printPid));
}

function isKeeper(pid: number): boolean {
  return programOf(pid) === 'boxkeep-keeper';
}

/** Includes all descendants. */
async function restingMib(pids: readonly number[]): Promise<number> {
  await Bun.sleep(restMs);
  return proportionalMib([...new Set(pids.flatMap(treeOf))]);
}
