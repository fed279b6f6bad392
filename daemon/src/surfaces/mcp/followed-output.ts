/** Holds the newest output of a running call until its reader takes it; a slow reader slows nothing. */
import { Notifier } from '../../kit/events/notifier.ts';

/** The params of a progress notification, without its token. */
type Progress = Readonly<Record<string, unknown>>;

/** Characters of output in one notification. Older output of a slow reader is left out; the answer has it. */
const maxCharacters = 4000;
/** Notifications of another server that wait for the reader. */
const maxPassed = 256;
/** Characters of one such notification as JSON. A longer one is left out, because many of them may wait. */
const maxPassedCharacters = 16 * 1024;

export class FollowedOutput {
  readonly #changes = new Notifier();
  #text = '';
  #total = 0;
  /** Progress of another server, which passes through unchanged. */
  #passed: Progress[] = [];

  addText(text: string): void {
    this.#total += text.length;
    this.#text = (this.#text + text).slice(-maxCharacters).toWellFormed();
    this.#changes.notify();
  }

  /** A reader that is slower than its server misses the oldest notifications. */
  pass(progress: Progress): void {
    if (JSON.stringify(progress).length > maxPassedCharacters) return;
    this.#passed.push(progress);
    if (this.#passed.length > maxPassed) this.#passed.shift();
    this.#changes.notify();
  }

  get hasNews(): boolean {
    return this.#text !== '' || this.#passed.length > 0;
  }

  /** Returns what arrived since the last call. */
  take(): readonly Progress[] {
    const passed = this.#passed.splice(0);
    if (this.#text === '') return passed;
    const message = this.#text;
    this.#text = '';
    return [...passed, { progress: this.#total, message }];
  }

  /** Resolves when output arrives, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (!this.hasNews) await this.#changes.wait(signal);
  }
}
