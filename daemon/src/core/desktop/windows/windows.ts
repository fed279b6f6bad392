/** Lists the windows of a display, and activates and minimizes them, with a window manager or without. */
import { createHash } from '../../../kit/crypto.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { CoreError } from '../../../kit/errors.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import { X11Refusal } from '../../../protocols/x11-errors.ts';
import type { CallOptions, DesktopWindow, WindowList } from '../desktop.ts';
import { describeWindow, idOf, isMinimizedWindow, nameOf } from './describe.ts';
import { activeId, listIds, supportedBy, whileItExists, windowStates, type WindowDisplay } from './manager.ts';

const maxWindows = 200;
/** How long a window manager may take for a request. */
const managerMs = 3_000;
/** The mask of property changes, as in the protocol. */
const propertyChanges = 1 << 22;
/** A request of a pager, that is on behalf of the user (EWMH). */
const pager = 2;

export class Windows {
  constructor(private readonly display: WindowDisplay) {}

  /** The highest window first; at most 200. */
  async list(options: CallOptions): Promise<WindowList> {
    const isManaged = (await supportedBy(this.display, options)) !== null;
    const [ids, active] = await Promise.all([
      listIds(this.display, isManaged, options),
      activeId(this.display, isManaged, options),
    ]);
    const highest = ids.toReversed().slice(0, maxWindows);
    const found = await Promise.all(
      highest.map(async (id): Promise<DesktopWindow | null> => {
        const window = await whileItExists(describeWindow(this.display, id, options));
        // A manager may name another active window some time after it has minimized this one.
        return window && { ...window, isActive: id === active && !window.isMinimized };
      }),
    );
    const windows = found.filter((window) => window !== null);
    const snapshotId = createHash('sha256').update(JSON.stringify(windows)).digest('hex').slice(0, 16);
    return { snapshotId, windows };
  }

  /** Restores, raises and focuses the window. Throws `bad_argument` for a window that does not exist. */
  async activate(windowId: string, options: CallOptions): Promise<void> {
    await this.#onWindow(windowId, options, async (window, isManaged) => {
      if (!isManaged) return await this.#activateAlone(window, options);
      const { atoms, windows } = this.display;
      const type = await atoms.of('_NET_ACTIVE_WINDOW');
      await this.#managed(window, options, {
        ask: () => windows.tellManager(window, type, [pager, 0, 0], options.signal),
        // A window that was minimized a moment ago may still be named as the active one.
        isDone: async (call) =>
          (await activeId(this.display, true, call)) === window &&
          !(await isMinimizedWindow(this.display, window, call)),
        what: 'activate',
      });
    });
  }

  /** Throws `bad_argument` for a window that does not exist. */
  async minimize(windowId: string, options: CallOptions): Promise<void> {
    await this.#onWindow(windowId, options, async (window, isManaged) => {
      if (!isManaged) return await this.#minimizeAlone(window, options);
      const { atoms, windows } = this.display;
      const type = await atoms.of('WM_CHANGE_STATE');
      await this.#managed(window, options, {
        ask: () => windows.tellManager(window, type, [windowStates.iconic], options.signal),
        isDone: (call) => isMinimizedWindow(this.display, window, call),
        what: 'minimize',
      });
    });
  }

  async #onWindow(
    windowId: string,
    options: CallOptions,
    work: (window: number, isManaged: boolean) => Promise<void>,
  ): Promise<void> {
    const window = idOf(windowId);
    if (window === null) throw noWindow(windowId);
    const isManaged = (await supportedBy(this.display, options)) !== null;
    const ids = await listIds(this.display, isManaged, options);
    if (!ids.includes(window)) throw noWindow(windowId);
    try {
      await work(window, isManaged);
    } catch (error) {
      if (error instanceof X11Refusal) throw noWindow(windowId);
      throw error;
    }
  }

  async #activateAlone(window: number, { signal }: CallOptions): Promise<void> {
    const { windows } = this.display;
    await this.#setState(window, windowStates.normal, { signal });
    await windows.map(window, signal);
    await windows.raise(window, signal);
    await windows.setFocus(window, signal);
  }

  async #minimizeAlone(window: number, options: CallOptions): Promise<void> {
    await this.#setState(window, windowStates.iconic, options);
    await this.display.windows.unmap(window, options.signal);
  }

  async #setState(window: number, state: number, { signal }: CallOptions): Promise<void> {
    const { atoms, properties } = this.display;
    const property = await atoms.of('WM_STATE');
    const bytes = Buffer.alloc(8); // The second number is the icon window, of which there is none.
    bytes.writeUInt32LE(state);
    await properties.write(window, { property, type: property, format: 32, bytes }, signal);
  }

  /** Waits until the manager has done what it was asked for: its properties of the window and of the root change. */
  async #managed(window: number, { signal }: CallOptions, request: ManagerRequest): Promise<void> {
    const { connection, windows, root } = this.display;
    using deadline = new Deadline(managerMs, signal);
    const changes = new Notifier();
    using _listening = connection.listen(({ kind }) => kind === 'propertyNotify' && changes.notify());
    await Promise.all([root, window].map((each) => windows.select(each, propertyChanges, signal)));
    await request.ask();
    while (!deadline.passed) {
      const change = changes.wait(deadline.signal);
      if (await request.isDone({ signal })) return;
      await change;
    }
    signal.throwIfAborted();
    const limit = `${managerMs / 1000} s`;
    throw new CoreError('unavailable', `the window manager did not ${request.what} ${nameOf(window)} within ${limit}`, {
      hint: 'List the windows to see their state: some windows refuse the focus, and a dialog may be open above them.',
    });
  }
}

interface ManagerRequest {
  readonly ask: () => Promise<void>;
  readonly isDone: (call: CallOptions) => Promise<boolean>;
  readonly what: 'activate' | 'minimize';
}

function noWindow(windowId: string): CoreError {
  const shown = JSON.stringify(windowId.slice(0, 100));
  return new CoreError('bad_argument', `there is no window ${shown} on the display`, {
    hint: 'List the windows again and pass one of their ids: windows get new ids when programs start.',
  });
}
