/** Starts interpreters in advance, so that a new session or cell begins at once. */
import type { CodeBackend } from '../backends/backend.ts';
import type { Interpreter } from '../backends/interpreter.ts';
import type { SessionRecord } from './record.ts';

export interface SpareKind {
  readonly backend: CodeBackend;
  /** Number of spare interpreters. */
  readonly wanted: number;
  /** What is missing for this kind; null when an interpreter can be started. */
  readonly missing: () => Promise<string | null>;
  /** Changes when PATH leads to another program. Spares with an old stamp are not used. */
  readonly stamp: () => string | null;
}

interface Spare {
  readonly stamp: string | null;
  /** The interpreter may still be starting. Waiting for it is faster than starting another one. */
  readonly interpreter: Promise<Interpreter>;
}

export interface SpareInterpretersDeps {
  readonly kinds: readonly SpareKind[];
  /** The record for a spare interpreter, with the default account. */
  readonly record: (backend: CodeBackend) => SessionRecord;
  /** True when memory is short and unused interpreters must end. */
  readonly isMemoryShort: () => boolean;
  readonly onFault: (what: string, error: unknown) => void;
}

const lookEveryMs = 5000;

export class SpareInterpreters implements Disposable {
  readonly #spare = new Map<CodeBackend, Spare[]>();
  readonly #filling = new Set<CodeBackend>();
  #looking: ReturnType<typeof setInterval> | null = null;
  #isClosed = false;

  constructor(private readonly deps: SpareInterpretersDeps) {}

  /** Starts the missing spares in the background. */
  fill(): void {
    for (const kind of this.deps.kinds) void this.#fill(kind);
  }

  /** Returns a spare for this session and starts a replacement. Null when no spare matches the session. */
  async take(record: SessionRecord): Promise<Interpreter | null> {
    const kind = this.deps.kinds.find(
      ({ backend }) => backend.name === record.backend && backend.language === record.language,
    );
    if (!kind) return null;
    const same = this.deps.record(kind.backend);
    const isSame = record.user === same.user && record.kernel === same.kernel && record.cwd === same.cwd;
    if (!isSame || Object.keys(record.env).length > 0) return null;
    const spare = this.#spare.get(kind.backend) ?? [];
    for (let next = spare.shift(); next; next = spare.shift()) {
      const taken = await next.interpreter.catch(() => null); // `#fill` reports the error.
      void this.#fill(kind);
      if (taken && !taken.end && next.stamp === kind.stamp()) return taken;
      await taken?.close();
    }
    return null;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    if (this.#looking) clearInterval(this.#looking);
  }

  async #fill(kind: SpareKind): Promise<void> {
    const { backend, wanted } = kind;
    if (this.#filling.has(backend) || wanted === 0) return;
    this.#filling.add(backend);
    this.#keepLooking();
    try {
      const spare = this.#spare.getOrInsert(backend, []);
      if ((await kind.missing()) !== null) return;
      while (spare.length < wanted && !this.#isClosed && !this.deps.isMemoryShort()) {
        const starting = { stamp: kind.stamp(), interpreter: backend.start(this.deps.record(backend)) };
        spare.push(starting);
        await this.#started(starting, spare);
      }
    } catch (error) {
      this.deps.onFault(`no spare interpreter of ${backend.language} (${backend.name})`, error);
    } finally {
      this.#filling.delete(backend);
    }
  }

  /** Removes a spare that could not start. */
  async #started(starting: Spare, spare: Spare[]): Promise<void> {
    try {
      await starting.interpreter;
    } catch (error) {
      const index = spare.indexOf(starting);
      if (index >= 0) void spare.splice(index, 1);
      throw error;
    }
  }

  /** Refills the spares periodically, or ends them when memory is short. */
  #keepLooking(): void {
    this.#looking ??= setInterval(() => void this.#look(), lookEveryMs).unref();
  }

  async #look(): Promise<void> {
    if (!this.deps.isMemoryShort()) return this.fill();
    for (const spare of this.#spare.values()) {
      for (const one of spare.splice(0)) {
        await one.interpreter
          .then((interpreter) => interpreter.close())
          .catch((error: unknown) => this.deps.onFault('a spare interpreter could not be ended', error));
      }
    }
  }
}
