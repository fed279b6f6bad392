/** Measures pages and clicks in Chromium through each server: snapshots of 5 000 elements, a click, the first call. */
import { Chromium } from '../../test/harness/chromium.ts';
import { TestSite } from '../../test/harness/test-site.ts';
import type { Limit } from '../limit.ts';
import { atMost, type Samples } from '../measurement.ts';
import { agentBrowser } from '../peers/agent-browser.ts';
import { boxkeepBrowser } from '../peers/boxkeep-browser.ts';
import { refOf, type BrowserPeer, type BrowserServer } from '../peers/browser.ts';
import { playwrightMcp } from '../peers/playwright-mcp.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const snapshotsInTurn = 3;
const clicksInTurn = 20;
/** The rows of the large page. Each row has a button. */
const buttons = 1000;
const peerNames = ['agent-browser', 'playwright-mcp'];

export const browser: Row = {
  name: 'browser',
  async measure(field) {
    using site = new TestSite();
    await using stack = new AsyncDisposableStack();
    const rivals: Rival[] = [];
    // Each server has a Chromium of its own, because every client of a browser makes it slower for the others.
    for (const peer of [boxkeepBrowser(field), agentBrowser(), playwrightMcp()]) {
      const { port } = stack.use(await Chromium.start());
      const rival = { name: peer.name, peer, port, limit: field.limitFor(peer.name) };
      await using server = await peer.open(port, rival.limit);
      await server.navigate(site.page('parts/counter'));
      rivals.push(rival);
    }
    const first = await inTurns(rivals, rounds, async (rival) => [await firstCall(rival)]);
    const warm = [];
    for (const { name, peer, port, limit } of rivals)
      warm.push({ name, server: stack.use(await peer.open(port, limit)) });
    const clicks = await inTurns(warm, rounds, ({ server }) => clickRepeatedly(server, site.page('parts/counter')));
    for (const { server } of warm) await server.navigate(site.page('five-thousand'));
    const sizes: Record<string, number[]> = {};
    const snapshots = await inTurns(warm, rounds, ({ name, server }) => readRepeatedly(server, (sizes[name] ??= [])));
    return measurements({ first, clicks, snapshots, sizes });
  },
};

interface Rival {
  readonly name: string;
  readonly peer: BrowserPeer;
  readonly port: number;
  readonly limit: Limit | null;
}

function measurements(taken: Readonly<Record<'first' | 'clicks' | 'snapshots' | 'sizes', Samples>>) {
  const beforePeers = peerNames.map((name) => atMost(1, name));
  return [
    {
      title: 'snapshot of 5 000 elements',
      unit: 'ms' as const,
      goals: [atMost(60), ...beforePeers],
      samples: taken.snapshots,
    },
    { title: 'its text', unit: 'KiB' as const, goals: beforePeers, samples: taken.sizes },
    { title: 'click on an idle page', unit: 'ms' as const, goals: [atMost(30), ...beforePeers], samples: taken.clicks },
    { title: 'start to the first snapshot', unit: 'ms' as const, goals: beforePeers, samples: taken.first },
  ];
}

/** From the start of the server to the snapshot of a small page. */
async function firstCall({ peer, port, limit }: Rival): Promise<number> {
  const startedMs = performance.now();
  await using server = await peer.open(port, limit);
  const text = await server.snapshot();
  const tookMs = performance.now() - startedMs;
  refOf(text, 'Count');
  return tookMs;
}

async function clickRepeatedly(server: BrowserServer, url: string): Promise<number[]> {
  await server.navigate(url);
  const ref = refOf(await server.snapshot(), 'Count');
  const took: number[] = [];
  while (took.length < clicksInTurn) {
    const startedMs = performance.now();
    await server.click(ref);
    took.push(performance.now() - startedMs);
  }
  const text = await server.snapshot();
  if (!text.includes(`Counted ${clicksInTurn} times`)) throw new Error(`not every click has arrived: ${text}`);
  return took;
}

async function readRepeatedly(server: BrowserServer, sizes: number[]): Promise<number[]> {
  const took: number[] = [];
  while (took.length < snapshotsInTurn) {
    const startedMs = performance.now();
    const text = await server.snapshot();
    took.push(performance.now() - startedMs);
    const found = text.match(/"Order item \d+".*\bref=/g)?.length;
    if (found !== buttons) throw new Error(`a snapshot has ${found} of ${buttons} buttons: ${text.slice(0, 200)}`);
    sizes.push(Buffer.byteLength(text) / 1024);
  }
  return took;
}
