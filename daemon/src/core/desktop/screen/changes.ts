/** Numbers the states of a screen, so that a client can wait until the screen differs from what the client has seen. */
import { randomBytes } from '../../../kit/crypto.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import { X11Closed } from '../../../protocols/x11-errors.ts';
import type { ChangeReport } from '../../../platform/x11/changes/change-reports.ts';
import type { Display } from '../../../platform/x11/display.ts';
import type { CallOptions, ChangeRequest, ScreenVersion } from '../desktop.ts';

/** Without a client for this time, the X server stops to report. */
const idleMs = 10_000;

export class ScreenChanges {
  /** A version of another connection is never the current one. */
  readonly #series = randomBytes(4).toString('hex');
  readonly #changed = new Notifier();
  #count = 0;
  #report: Promise<ChangeReport> | null = null;
  #waiting = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly display: Pick<Display, 'changes' | 'closed' | 'isOpen'>) {
    void display.closed.then(() => this.#changed.notify());
  }

  /** Resolves at once when the screen has changed since that version, and otherwise when it does or the time is over. */
  async next({ since, waitMs }: ChangeRequest, { signal }: CallOptions): Promise<ScreenVersion> {
    using wait = new Deadline(waitMs, signal);
    clearTimeout(this.#idle);
    this.#waiting += 1;
    try {
      const report = await this.#begin();
      while (since === this.#version && !wait.passed) await this.#nextChange(wait.signal);
      signal.throwIfAborted();
      const version = this.#version;
      // What is drawn after this, even before the caller takes a picture, belongs to the next version.
      if (since !== version) report.again();
      return { version, hasChanged: since !== version };
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#idle = setTimeout(() => this.#end(), idleMs).unref();
    }
  }

  get #version(): string {
    return `${this.#series}-${this.#count}`;
  }

  async #nextChange(signal: AbortSignal): Promise<void> {
    if (!this.display.isOpen) throw new X11Closed(await this.display.closed);
    await this.#changed.wait(signal);
  }

  async #begin(): Promise<ChangeReport> {
    const report = (this.#report ??= this.display.changes.begin(() => this.#change()));
    try {
      return await report;
    } catch (error) {
      if (this.#report === report) this.#report = null;
      throw error;
    }
  }

  #change(): void {
    this.#count += 1;
    this.#changed.notify();
  }

  /** Nothing counts from here on, so the next version is a new one. */
  #end(): void {
    const report = this.#report;
    this.#report = null;
    this.#count += 1;
    report?.then(
      ({ end }) => end(),
      () => null, // The caller has had the error.
    );
  }
}
