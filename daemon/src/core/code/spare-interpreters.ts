/** Interpreters that were started before anybody asks, so that a session or a cell begins at once. */
import type { CodeBackend } from './backend.ts';
import type { Interpreter } from './interpreter.ts';
import type { SessionRecord } from './session.ts';

export interface SpareKind {
  readonly backend: CodeBackend;
  /** How many are kept. */
  readonly wanted: number;
  /** What it lacks now; null when it can be started. */
  readonly missing: () => Promise<string | null>;
  /** Changes when a new one would be another program: what is on PATH is looked at with each request. */
  readonly stamp: () => string | null;
}

interface Spare {
  readonly stamp: string | null;
  /** It may still be starting: to wait for it is quicker than to start another. */
  readonly interpreter: Promise<Interpreter>;
}

export interface SpareInterpretersDeps {
  readonly kinds: readonly SpareKind[];
  /** Where one of the default account starts. */
  readonly record: (backend: CodeBackend) => SessionRecord;
  /** Memory is short: whatever nobody uses has to go. */
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

  /** Starts what is wanted; nothing waits for it. */
  fill(): void {
    for (const kind of this.deps.kinds) void this.#fill(kind);
  }

  /** One for this session, and another one is started behind it; null when there is none that would be the same. */
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
      const taken = await next.interpreter.catch(() => null); // Whoever started it tells of that.
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
      const spare = this.#spare.get(backend) ?? [];
      this.#spare.set(backend, spare);
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

  /** One that could not start is no spare one. */
  async #started(starting: Spare, spare: Spare[]): Promise<void> {
    try {
      await starting.interpreter;
    } catch (error) {
      const index = spare.indexOf(starting);
      if (index >= 0) void spare.splice(index, 1);
      throw error;
    }
  }

  /** Each look fills what is missing, or gives back what memory has to be had for. */
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
