/** The desktop of one display: connects when a call needs the display, and again after the display has gone. */
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Point, Size } from '../../kit/types/geometry.ts';
import { X11Closed, X11Unreachable, X11Unsupported } from '../../protocols/x11-errors.ts';
import type { Accessibility } from './accessibility/accessibility.ts';
import type { NodeQuery, NodeReading, TreeReading } from './accessibility/query.ts';
import type { DesktopAction } from './actions/action.ts';
import { ActionQueue } from './actions/batch.ts';
import type { ActionDevices } from './actions/perform.ts';
import type {
  BatchResult,
  CallOptions,
  ChangeRequest,
  DesktopInfo,
  Performed,
  PerformOptions,
  Picture,
  Recording,
  RecordRequest,
  ScreenshotRequest,
  ScreenVersion,
  WindowList,
} from './desktop.ts';
import type { Recorder } from './recording/recorder.ts';

/** Everything that shares one connection to the display. */
export interface DisplayParts extends Omit<ActionDevices, 'screen' | 'windows' | 'nodes'> {
  readonly isOpen: boolean;
  readonly screen: ActionDevices['screen'] & { setSize(size: Size, options: CallOptions): Promise<Size> };
  readonly changes: { next(request: ChangeRequest, options: CallOptions): Promise<ScreenVersion> };
  readonly windows: ActionDevices['windows'] & { list(options: CallOptions): Promise<WindowList> };
  /** Leaves the display as it was before. */
  close(): Promise<void>;
}

export interface LiveDesktopDeps {
  /** The names that the worker was started with; null where they are not set. */
  readonly display: string | null;
  readonly xauthority: string | null;
  /** Throws `X11Unreachable`. */
  readonly connect: () => Promise<DisplayParts>;
  readonly accessibility: Accessibility;
  readonly recorder: Recorder;
  readonly hasEncoder: () => boolean;
}

const serverHint = 'Use an X server such as Xvfb, Xvnc or Xorg, which have the extension.';
/** A description does not wait longer for the accessibility bus. */
const accessibilityMs = 1000;

/** A display that cannot be reached makes every method but `info` and `close` throw `unavailable`. */
export class LiveDesktop {
  readonly #queue: ActionQueue;
  #parts: DisplayParts | null = null;
  #connecting: Promise<DisplayParts> | null = null;

  constructor(private readonly deps: LiveDesktopDeps) {
    this.#queue = new ActionQueue(async () => ({ ...(await this.#connected()), nodes: deps.accessibility }));
  }

  async info({ signal }: CallOptions): Promise<DesktopInfo> {
    const { display, xauthority } = this.deps;
    const [screen, accessibility] = await Promise.all([this.#sizeOrReason({ signal }), this.#accessibilityGap(signal)]);
    const isAvailable = typeof screen !== 'string';
    const hasEncoder = this.deps.hasEncoder();
    const gaps = [isAvailable ? null : screen, hasEncoder ? null : 'ffmpeg is not on PATH', accessibility];
    return {
      ...{ isAvailable, display, xauthority, screen: isAvailable ? screen : null },
      capabilities: {
        ...{ screenshot: isAvailable, actions: isAvailable, clipboard: isAvailable },
        recording: isAvailable && hasEncoder,
        accessibility: accessibility === null,
      },
      warnings: gaps.filter((gap) => gap !== null),
    };
  }

  async screenshot(request: ScreenshotRequest, options: CallOptions): Promise<Picture> {
    return await this.#use(({ screen }) => screen.screenshot(request, options));
  }

  /** Waits until what the screen shows differs from a version, or until the time is over. */
  async changes(request: ChangeRequest, options: CallOptions): Promise<ScreenVersion> {
    return await this.#use(({ changes }) => changes.next(request, options));
  }

  async cursor(options: CallOptions): Promise<Point> {
    return await this.#use(({ pointer }) => pointer.position(options));
  }

  async clipboard(options: CallOptions): Promise<string> {
    return await this.#use(({ clipboard }) => clipboard.readText(options));
  }

  async windows(options: CallOptions): Promise<WindowList> {
    return await this.#use(({ windows }) => windows.list(options));
  }

  async perform(action: DesktopAction, options: PerformOptions): Promise<Performed> {
    return await this.#named(() => this.#queue.perform(action, options));
  }

  /** Performs the actions in order and stops at the first that fails; nothing else acts on the display meanwhile. */
  async batch(actions: readonly DesktopAction[], options: PerformOptions): Promise<BatchResult> {
    return await this.#named(() => this.#queue.batch(actions, options));
  }

  async accessibility(query: NodeQuery, options: CallOptions): Promise<TreeReading> {
    return await this.#named(() => this.deps.accessibility.tree(query, options));
  }

  async nodes(query: NodeQuery, options: CallOptions): Promise<NodeReading> {
    return await this.#named(() => this.deps.accessibility.nodes(query, options));
  }

  async record(request: RecordRequest, options: CallOptions): Promise<Recording> {
    if (request.action === 'start') await this.#use(({ screen }) => screen.size(options));
    return await this.deps.recorder.record(request, options.signal);
  }

  /** Returns the size that the screen then has. */
  async setResolution(size: Size, options: CallOptions): Promise<Size> {
    // A batch computes its coordinates from the size of the screen.
    return await this.#queue.exclusively(options, () => this.#use(({ screen }) => screen.setSize(size, options)));
  }

  async close(): Promise<void> {
    await this.deps.recorder.close();
    this.deps.accessibility[Symbol.dispose]();
    await this.#parts?.close();
  }

  /** The size of the screen, or why there is none. */
  async #sizeOrReason(options: CallOptions): Promise<Size | string> {
    try {
      return await this.#use(({ screen }) => screen.size(options));
    } catch (error) {
      if (error instanceof CoreError) return error.message;
      throw error;
    }
  }

  async #accessibilityGap(signal: AbortSignal): Promise<string | null> {
    using deadline = new Deadline(accessibilityMs, signal);
    return await this.deps.accessibility.missing({ signal: deadline.signal });
  }

  async #use<T>(work: (parts: DisplayParts) => Promise<T>): Promise<T> {
    return await this.#named(async () => await work(await this.#connected()));
  }

  /** Throws `unavailable` for a display that cannot be reached. */
  async #named<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof X11Unreachable || error instanceof X11Closed) throw noDisplay(this.deps.display, error);
      if (error instanceof X11Unsupported)
        throw new CoreError('unavailable', error.message, { isRetryable: false, hint: serverHint });
      // The wait of a call ends with the client, who reads no answer.
      if (isAbort(error)) throw new CoreError('unavailable', 'the client has gone before the end of the call');
      throw error;
    }
  }

  async #connected(): Promise<DisplayParts> {
    if (this.#parts?.isOpen) return this.#parts;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    return await this.#connecting;
  }

  async #connect(): Promise<DisplayParts> {
    await this.#parts?.close();
    this.#parts = null;
    return (this.#parts = await this.deps.connect());
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

function noDisplay(display: string | null, { message }: Error): CoreError {
  if (display === null) {
    return new CoreError('unavailable', 'the worker has no display: DISPLAY is not set', {
      isRetryable: false,
      hint: 'Start boxkeep computer-use with DISPLAY set, and XAUTHORITY where the X server needs it.',
    });
  }
  return new CoreError('unavailable', `the display ${display} is not available: ${message}`, {
    hint: 'Start the X server of this display again; the next call connects by itself.',
  });
}
