/** Lets one reader wait for changes of a command, again and again, with little work for each change. */
import { AutoResetEvent } from '../../kit/auto-reset-event.ts';
import type { FollowOptions } from '../../kit/events/follow-events.ts';
import type { Child } from '../../platform/process/spawn.ts';

/** A wait ends after `silenceMs` without a change. Aborts end it as a change does. */
export type ChangeWaiterOptions = Omit<FollowOptions, 'cursor'>;

export class ChangeWaiter implements Disposable {
  readonly #event = new AutoResetEvent();
  readonly #changes: Disposable;
  readonly #signals: readonly AbortSignal[];
  readonly #silence: ReturnType<typeof setTimeout>;
  #isSilent = false;

  constructor(child: Child, { silenceMs, signal, closing }: ChangeWaiterOptions) {
    this.#changes = child.onChange(this.wake);
    this.#signals = [signal, closing];
    for (const one of this.#signals) one.addEventListener('abort', this.wake);
    if (this.#isAborted) this.wake();
    this.#silence = setTimeout(() => {
      this.#isSilent = true;
      this.wake();
    }, silenceMs);
  }

  /** Ends the wait now. */
  readonly wake = (): void => {
    this.#event.set();
  };

  /** Resolves at the next change. True when there was none for `silenceMs`. */
  async next(): Promise<boolean> {
    this.#isSilent = false;
    this.#silence.refresh();
    await this.#event.wait();
    return this.#isSilent && !this.#isAborted;
  }

  [Symbol.dispose](): void {
    this.#changes[Symbol.dispose]();
    for (const one of this.#signals) one.removeEventListener('abort', this.wake);
    clearTimeout(this.#silence);
  }

  get #isAborted(): boolean {
    return this.#signals.some(({ aborted }) => aborted);
  }
}
