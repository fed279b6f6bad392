/** Catches the signals that a person or a supervisor sends to this process but means for the command. */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { Notifier } from '../../kit/events/notifier.ts';

const relayed = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
/** A second interrupt within this time kills the command. */
const insistsWithinMs = 2000;

export type Relayed = (typeof relayed)[number] | 'SIGKILL';

export class CaughtSignals implements Disposable {
  readonly #waiting: Relayed[] = [];
  readonly #arrived = new Notifier();
  readonly #givenUp = new AbortController();
  readonly #handlers: { name: NodeJS.Signals; handler: () => void }[] = [];
  #interruptedMs = Number.NEGATIVE_INFINITY;

  constructor() {
    for (const name of relayed) {
      if (isIgnored(name)) continue; // nohup, or a background job of a script: its parent wants the signal ignored.
      const handler = () => this.#take(name);
      process.on(name, handler);
      this.#handlers.push({ name, handler });
    }
  }

  /** Aborts at the second interrupt, SIGTERM or SIGHUP, for work that can be given up then. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** The next signal in order of arrival; null when the wait was aborted. */
  async next(signal: AbortSignal): Promise<Relayed | null> {
    while (this.#waiting.length === 0 && !signal.aborted) await this.#arrived.wait(signal);
    return signal.aborted ? null : (this.#waiting.shift() ?? null);
  }

  [Symbol.dispose](): void {
    for (const { name, handler } of this.#handlers) process.removeListener(name, handler);
  }

  #take(name: (typeof relayed)[number]): void {
    const isSecond = name === 'SIGINT' && performance.now() - this.#interruptedMs < insistsWithinMs;
    if (name === 'SIGINT') this.#interruptedMs = performance.now();
    if (isSecond || name === 'SIGTERM' || name === 'SIGHUP') this.#givenUp.abort();
    this.#waiting.push(isSecond ? 'SIGKILL' : name);
    this.#arrived.notify();
  }
}

/** Whether the process was started with a signal ignored. */
function isIgnored(name: NodeJS.Signals): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[name] - 1)) & 1n) === 1n;
  } catch {
    return false; // Not known without /proc.
  }
}
