/** Counts time by the share of a core that each process gets, so that busy neighbours fail no wait of a test. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const lookEveryMs = 50;
/** After a longer pause, this process itself had no core. */
const maxPauseMs = 2 * lookEveryMs;
const minShare = 0.1;

/**
 * The limit of a whole test in real time. A test that fails earlier says which wait has passed its own limit in fair
 * time; this limit only ends a test that hangs elsewhere.
 */
export const hangMs = 600_000;

/** A second counts in full only while every process that can run has a core. */
export class FairClock implements Disposable {
  #elapsedMs = 0;
  #lookedAtMs = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(onLook?: (elapsedMs: number) => void) {
    this.#timer = setInterval(() => {
      this.#look();
      onLook?.(this.#elapsedMs);
    }, lookEveryMs);
  }

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    this.#elapsedMs += Math.min(now - this.#lookedAtMs, maxPauseMs) * share();
    this.#lookedAtMs = now;
  }
}

/** Calls `onLate` once `limitMs` of fair time have passed, unless the result is disposed first. */
export function fairTimeout(onLate: () => void, limitMs: number): Disposable {
  const clock = new FairClock((elapsedMs) => {
    if (elapsedMs < limitMs) return;
    clock[Symbol.dispose]();
    onLate();
  });
  return clock;
}

/** Rejects when the work takes more than `limitMs` of fair time. */
export async function within<T>(what: string, work: Promise<T>, limitMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  using _timeout = fairTimeout(() => late.reject(new Error(`not within ${limitMs} ms: ${what}`)), limitMs);
  return await Promise.race([work, late.promise]);
}

/** The share of a core that a process gets now, when all processes that can run share the cores evenly. */
function share(): number {
  return Math.max(minShare, Math.min(1, availableParallelism() / runnable()));
}

/** The fourth field of the file is the number of threads that can run and, after a slash, of all threads. */
function runnable(): number {
  try {
    return Number.parseInt(readFileSync('/proc/loadavg', 'latin1').split(' ')[3] ?? '', 10) || 1;
  } catch {
    return 1; // Some sandboxes have no such file. A second is a second there.
  }
}
