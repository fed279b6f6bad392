/** Measures what the hub of the MCP endpoint adds to other servers: lists of three servers, and a trivial call. */
import { atMost, type Measurement } from '../measurement.ts';
import { openBrowserMcp, trivialTool } from '../peers/browser-mcp.ts';
import { HttpMcp } from '../peers/http-mcp.ts';
import { inTurns, timed } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const callsInTurn = 20;
const prefixes = ['a', 'b', 'c'];
const maxAddedMs = 2;

export const measureHub: Row['measure'] = async (field) => {
  await using opened = new AsyncDisposableStack();
  const limit = field.limitFor('browser-mcp');
  const urls = [];
  for (const prefix of prefixes) urls.push({ prefix, url: await openBrowserMcp(opened, limit) });
  const registered = Object.fromEntries(urls.map(({ prefix, url }) => [prefix, { url, prefix }]));
  const boxkeep = opened.use(await field.openBoxkeepIn({ EXTRA_MCP_SERVERS: JSON.stringify(registered) }));
  const hub = new HttpMcp(`${boxkeep.url}/mcp`);
  const direct = new HttpMcp(urls[0]?.url ?? '');

  const lists = await inTurns(
    [
      { name: 'boxkeep', list: () => listed(hub, prefixes.length) },
      { name: 'browser-mcp', list: () => listed(direct, 1) },
    ],
    rounds,
    ({ list }) => timed(callsInTurn, list),
  );
  const sizes: Record<string, number[]> = { boxkeep: [], 'browser-mcp': [] };
  const pairs = await inTurns([{ name: 'pairs' }], rounds, () => pairsOf(hub, direct, sizes));
  const taken = pairs['pairs'] ?? [];
  const [ours, theirs] = [taken.filter((_, i) => i % 2 === 0), taken.filter((_, i) => i % 2 === 1)];
  const added = ours.map((ms, i) => ms - (theirs[i] ?? 0));
  return [
    { title: 'MCP: list the tools of three servers, or of one', unit: 'ms', goals: [], samples: lists },
    { title: 'MCP: call of another server', unit: 'ms', goals: [], samples: { boxkeep: ours, 'browser-mcp': theirs } },
    { title: 'what the hub adds', unit: 'ms', goals: [atMost(maxAddedMs)], samples: { boxkeep: added } },
    { title: 'the whole answer', unit: 'KiB', goals: [], samples: sizes },
  ] satisfies Measurement[];
};

async function listed(server: HttpMcp, servers: number): Promise<void> {
  const names = await server.list();
  const found = names.filter((name) => name.endsWith(trivialTool)).length;
  if (found !== servers) throw new Error(`${found} of ${servers} servers are listed`);
}

/** Each call through the hub is followed by the same call without it, so that other load affects both alike. */
async function pairsOf(hub: HttpMcp, direct: HttpMcp, sizes: Record<string, number[]>): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < callsInTurn; i++) {
    const through = await timed(1, async () =>
      sizes['boxkeep']?.push((await hub.call(`a_${trivialTool}`, {})).bytes / 1024),
    );
    const without = await timed(1, async () =>
      sizes['browser-mcp']?.push((await direct.call(trivialTool, {})).bytes / 1024),
    );
    took.push(...through, ...without);
  }
  return took;
}
