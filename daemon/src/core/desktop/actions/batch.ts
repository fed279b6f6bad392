/** Performs actions one after the other, so that no two clients act on the display at the same time. */
import { CoreError } from '../../../kit/errors.ts';
import { Mutex } from '../../../kit/mutex.ts';
import type { BatchResult, CallOptions, Performed, PerformOptions } from '../desktop.ts';
import { waitSeconds, type DesktopAction } from './action.ts';
import { perform, pictureAfter, type ActionDevices } from './perform.ts';

const maxActions = 50;
const maxBatchWaitSeconds = 20;
const maxWaitSeconds = 60;
/** More clients than this wait for each other only because of a mistake. */
const maxWaiting = 64;

export class ActionQueue {
  readonly #mutex = new Mutex();

  /** `devices` connects to the display when there is no connection; it throws `unavailable` when it cannot. */
  constructor(private readonly devices: (options: CallOptions) => Promise<ActionDevices>) {}

  async perform(action: DesktopAction, options: PerformOptions): Promise<Performed> {
    assertShort(waitSeconds(action), maxWaitSeconds);
    return await this.exclusively(options, async () => {
      const devices = await this.devices(options);
      const output = await perform(devices, action, options);
      // The picture of a screenshot action is the one after it.
      if (output?.kind === 'picture') return { output, picture: null, pictureError: null };
      return { output, ...(await pictureAfter(devices, options)) };
    });
  }

  /** Stops at the first action that fails. Throws `bad_argument` for too many actions or waits. */
  async batch(actions: readonly DesktopAction[], options: PerformOptions): Promise<BatchResult> {
    if (actions.length > maxActions) {
      throw new CoreError('bad_argument', `a batch of ${actions.length} actions is longer than ${maxActions}`, {
        hint: 'Send the actions in several batches.',
      });
    }
    assertShort(
      actions.reduce((sum, action) => sum + waitSeconds(action), 0),
      maxBatchWaitSeconds,
    );
    return await this.exclusively(options, async () => await this.#performAll(actions, options));
  }

  /** Runs the work while no action is under way. Throws `capacity_reached` when too many callers wait. */
  async exclusively<T>({ signal }: CallOptions, work: () => Promise<T>): Promise<T> {
    if (this.#mutex.waiting >= maxWaiting) {
      throw new CoreError('capacity_reached', `${maxWaiting} calls wait for the display already`, {
        hint: 'Send the actions of one task as a batch.',
      });
    }
    if (!(await this.#mutex.acquire(signal))) throw signal.reason;
    try {
      return await work();
    } finally {
      this.#mutex.release();
    }
  }

  async #performAll(actions: readonly DesktopAction[], options: PerformOptions): Promise<BatchResult> {
    const devices = await this.devices(options);
    let output: Performed['output'] = null;
    for (const [index, action] of actions.entries()) {
      try {
        output = (await perform(devices, action, options)) ?? output;
      } catch (error) {
        if (!(error instanceof CoreError)) throw error;
        const failure = { performed: index, failedIndex: index, error: error.message };
        return { ...failure, output, ...(await pictureAfter(devices, options)) };
      }
    }
    const all = { performed: actions.length, failedIndex: null, error: null };
    const last = await pictureAfter(devices, options);
    // A batch with a screenshot action answers with its picture, even when no picture of the end was asked for.
    return { ...all, output, ...last, picture: last.picture ?? (output?.kind === 'picture' ? output.picture : null) };
  }
}

function assertShort(seconds: number, maxSeconds: number): void {
  if (seconds <= maxSeconds) return;
  throw new CoreError('bad_argument', `the actions wait ${seconds} s in all, and at most ${maxSeconds} s are allowed`, {
    hint: 'Wait between two calls instead.',
  });
}
