/** Measures what a client reads of a window with 1 000 buttons: its accessibility tree, and one button by its name. */
import { AccessibleDesktop } from '../../test/harness/accessible-desktop.ts';
import { atMost } from '../measurement.ts';
import { openDesktopRoutes } from '../peers/boxkeep-desktop.ts';
import { inTurns } from '../turns.ts';
import type { Row } from './row.ts';

const rounds = 5;
const readingsInTurn = 3;
/** Buttons of the window, which has a few nodes more. */
const buttons = 1000;

export const accessibility: Row = {
  name: 'accessibility',
  async measure(field) {
    await using stack = new AsyncDisposableStack();
    const desktop = stack.use(await AccessibleDesktop.start());
    await desktop.open('Station', buttons);
    const routes = stack.use(await openDesktopRoutes(field, desktop.environment, field.limitFor('boxkeep')));
    const read = async (path: string, minNodes: number): Promise<number> => {
      const startedMs = performance.now();
      const text = await (await routes.call(`${path}scope=desktop`)).text();
      const tookMs = performance.now() - startedMs;
      const found = text.split('"node_id"').length - 1;
      if (found < minNodes) throw new Error(`${path}: ${found} nodes`);
      return tookMs;
    };
    const measure = (path: string, minNodes: number) =>
      inTurns([{ name: 'boxkeep' }], rounds, () =>
        Array.fromAsync({ length: readingsInTurn }, () => read(path, minNodes)),
      );
    const trees = await measure('accessibility?', buttons);
    const searches = await measure('accessibility/nodes?name=Station%20777&match=exact&', 1);
    return [
      { title: 'accessibility tree of 1 000 nodes', unit: 'ms', goals: [atMost(300)], samples: trees },
      { title: 'search in 1 000 nodes', unit: 'ms', goals: [], samples: searches },
    ];
  },
};
