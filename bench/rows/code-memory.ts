/** Idle sessions of code: what one adds in all, and what of that are its interpreter, its keeper and the bridge. */
import type { Measurement } from '../measurement.ts';
import { openCodeServers } from '../peers/code-servers.ts';
import type { CodeServer } from '../peers/code.ts';
import { childrenOf, parentOf, programOf, proportionalMib, treeOf } from '../processes.ts';
import type { Row } from './row.ts';

const idleSessions = 5;
/** What was used in passing is given back in this time, or counts. */
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

/** Proportional: of what several processes share, each has its part. */
interface Sizes {
  readonly allMib: number;
  /** One for each session. */
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
    // One that nothing runs under is kept for what is started next.
    bridgeMib: bridge.filter((pid) => childrenOf(pid).length > 0).map((pid) => proportionalMib(treeOf(pid))),
  };
}

/** What the first session loads is no cost of another one. */
async function loadAll(server: CodeServer): Promise<void> {
  await using opened = new AsyncDisposableStack();
  await begin(server, opened);
}

/** A session with a cell behind it; answers the process of its interpreter. */
async function begin({ language, ...server }: CodeServer, opened: AsyncDisposableStack): Promise<number> {
  const session = opened.use(await server.openSession());
  return Number(await session.run(language.printPid));
}

function isKeeper(pid: number): boolean {
  return programOf(pid) === 'sandboxd-keeper';
}

/** With all that runs below them. */
async function restingMib(pids: readonly number[]): Promise<number> {
  await Bun.sleep(restMs);
  return proportionalMib([...new Set(pids.flatMap(treeOf))]);
}
