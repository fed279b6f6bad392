/** Measures an X display through each server: a click, twenty clicks, and a picture of 1280x800 pixels. */
import { TestDisplay } from '../../test/harness/display.ts';
import { needPrograms } from '../../test/harness/programs.ts';
import { atMost } from '../measurement.ts';
import { boxkeepDesktop } from '../peers/boxkeep-desktop.ts';
import { computerServer } from '../peers/computer-server.ts';
import type { DesktopServer } from '../peers/desktop.ts';
import { xdotool } from '../peers/xdotool.ts';
import { inTurns, timed } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const clicksInTurn = 20;
const picturesInTurn = 5;
const batch = Array.from({ length: 20 }, (_, index) => [100 + index, 100] as const);
const signatureOfPng = '89504e470d0a1a0a';

export const desktop: Row = {
  name: 'desktop',
  async measure(field) {
    needPrograms('xterm');
    await using stack = new AsyncDisposableStack();
    const servers = [];
    for (const peer of [boxkeepDesktop(field), xdotool(), computerServer()]) {
      // Each server has a display of its own with the same content.
      const display = stack.use(await TestDisplay.start());
      display.spawn(['xterm', '-geometry', '100x40+0+0', '-e', 'seq 1 2000; sleep 600']);
      const limit = field.limitFor(peer.name);
      servers.push({ name: peer.name, server: stack.use(await peer.open(display.name, limit)) });
    }
    const clicks = await inTurns(servers, rounds, ({ server }) =>
      timed(clicksInTurn, (turn) => server.click(200 + turn, 200)),
    );
    const batches = await inTurns(servers, rounds, ({ server }) => timed(1, () => server.clickAll(batch)));
    const pictures = await inTurns(servers, rounds, ({ server }) => timed(picturesInTurn, () => seen(server)));
    const before = [atMost(1, 'xdotool'), atMost(1, 'computer-server')];
    return [
      { title: 'click', unit: 'ms', goals: [atMost(10), ...before], samples: clicks },
      { title: '20 clicks in one call', unit: 'ms', goals: before, samples: batches },
      { title: 'picture of 1280x800', unit: 'ms', goals: [atMost(60), ...before], samples: pictures },
    ];
  },
};

async function seen(server: DesktopServer): Promise<void> {
  const bytes = await server.screenshot();
  if (Buffer.from(bytes.subarray(0, 8)).toString('hex') !== signatureOfPng) throw new Error('a picture is not PNG');
}
