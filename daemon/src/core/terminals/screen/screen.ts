/**
 * Renders the screens of terminal sessions, as text and as state for another terminal.
 *
 * A session has no emulator until a client reads its screen. The first read creates an emulator and replays the end of
 * the log. Reads that follow soon continue from there.
 *
 * The emulator answers no terminal query of a program. An attached client has a terminal that answers. Without a
 * client, an answer would depend on whether a client happened to read the screen. It would also come late and be typed
 * at the prompt. Programs that send queries wait a moment and continue.
 */
import type { EmulatedScreen } from '../../../platform/terminal/emulator.ts';
import type { OpenWorker } from '../../../platform/host/workers.ts';
import { LiveScreen, type LiveScreenDeps } from './live.ts';
import { waitForScreen, type ScreenWait, type ScreenCondition } from './wait.ts';
import type { Terminal } from '../session/terminal.ts';

export interface Screen extends EmulatedScreen {
  /** Reproduces the screen in a terminal of the same size. */
  readonly ansi: string;
}

/** Everything another terminal needs to show the same as the session. */
export interface ScreenRestore {
  /** Restores screen, scrollback and modes in a terminal of the session's size that was reset. */
  readonly data: string;
  /** The offset in the log at which to continue after `data`. Exact, and never inside a control sequence. */
  readonly offset: number;
}

/** When an unused emulator is dropped, and how many unused emulators are kept at most. */
const unusedMs = 60_000;
const maxUnused = 8;
/** More emulators at once would use more memory and be no faster. */
const maxAtOnce = 4;
const ansiBytes = 16 * 1024 * 1024;

export interface ScreensDeps extends LiveScreenDeps {
  /** Opens the worker that tests patterns of clients. */
  readonly openWorker: OpenWorker;
}

interface KeptScreen {
  live: Promise<LiveScreen> | null;
  /** Resolves when the last queued read is done. */
  turn: Promise<unknown>;
  users: number;
  giveUp: ReturnType<typeof setTimeout> | null;
}

export class Screens implements Disposable {
  /** Ordered by last use, most recent last. */
  readonly #kept = new Map<Terminal, KeptScreen>();
  /** Number of emulators at work, and the reads that wait for one to finish. */
  #working = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly deps: ScreensDeps) {}

  look(terminal: Terminal): Promise<Screen> {
    return this.#use(terminal, async (live) => ({
      ...(await live.read()),
      ansi: await live.serialize({ scrollbackRows: 0, maxBytes: ansiBytes }),
    }));
  }

  /** The current text of scrollback and screen. */
  text(terminal: Terminal): Promise<string> {
    return this.#use(terminal, async (live) => (await live.read()).text);
  }

  /** The text of everything that the session has shown, as far back as a replay of its log reaches. */
  async transcript(terminal: Terminal): Promise<string> {
    const { text, hasLostRows } = await this.#use(terminal, (live) => live.read());
    if (!hasLostRows) return text;
    return await this.#oneOfFew(async () => {
      using live = await LiveScreen.open(terminal, this.deps, { keepsText: true });
      await live.catchUp();
      return (await live.read()).text;
    });
  }

  /** Resolves when the condition is met or can no longer be met, or when the time is up. Throws `bad_argument`. */
  async wait(terminal: Terminal, condition: ScreenCondition, ...ends: readonly AbortSignal[]): Promise<ScreenWait> {
    return await waitForScreen({ screens: this, openWorker: this.deps.openWorker }, terminal, condition, ...ends);
  }

  /** Limits `data` to `maxBytes`. The oldest rows of scrollback are left out first; the screen is always complete. */
  restore(terminal: Terminal, maxBytes: number): Promise<ScreenRestore> {
    return this.#use(terminal, async (live) => {
      const data = await live.serialize({ scrollbackRows: Infinity, maxBytes });
      return { data, offset: live.offset };
    });
  }

  /** Number of sessions with an emulator. */
  get size(): number {
    return this.#kept.size;
  }

  [Symbol.dispose](): void {
    for (const terminal of this.#kept.keys()) this.#giveUp(terminal);
  }

  /** Serializes access to one emulator, so that nothing is written during a read. */
  async #use<T>(terminal: Terminal, work: (live: LiveScreen) => Promise<T>): Promise<T> {
    const kept = this.#keep(terminal);
    kept.users++;
    const done = kept.turn.then(() =>
      this.#oneOfFew(async () => {
        const live = await (kept.live ??= LiveScreen.open(terminal, this.deps));
        await live.catchUp();
        return await work(live);
      }),
    );
    kept.turn = done.catch(() => null); // The caller gets the error; the next read runs on its own.
    try {
      return await done;
    } catch (error) {
      this.#giveUp(terminal); // The state of the emulator is unknown after an error.
      throw error;
    } finally {
      if (--kept.users === 0) this.#rest(terminal, kept);
    }
  }

  async #oneOfFew<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working >= maxAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#working++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#working--;
    }
  }

  #keep(terminal: Terminal): KeptScreen {
    const known = this.#kept.get(terminal);
    this.#kept.delete(terminal);
    if (known?.giveUp) clearTimeout(known.giveUp);
    const kept = known ?? { live: null, turn: Promise.resolve(), users: 0, giveUp: null };
    this.#kept.set(terminal, kept);
    return kept;
  }

  #rest(terminal: Terminal, kept: KeptScreen): void {
    if (this.#kept.get(terminal) !== kept) return;
    kept.giveUp = setTimeout(() => this.#giveUp(terminal), unusedMs);
    kept.giveUp.unref();
    const unused = [...this.#kept].filter(([, { users }]) => users === 0);
    for (const [oldest] of unused.slice(0, -maxUnused)) this.#giveUp(oldest);
  }

  #giveUp(terminal: Terminal): void {
    const kept = this.#kept.get(terminal);
    if (!kept) return;
    this.#kept.delete(terminal);
    if (kept.giveUp) clearTimeout(kept.giveUp);
    // The emulator was never opened.
    void kept.turn.then(async () => (await kept.live)?.[Symbol.dispose]()).catch(() => null);
  }
}
