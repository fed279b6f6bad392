/**
 * The screens of terminal sessions: what a person would see, as text and as state for another terminal.
 *
 * A session that nobody looks at has no emulator. The first look makes one and replays the end of the log; looks that
 * follow soon go on from there. It answers no program that asks the terminal something: who is attached has a terminal
 * that does, and with nobody there an answer that depended on whether somebody happened to look, and came late, would
 * be typed at the prompt. Programs that ask wait a moment and go on.
 */
import type { EmulatedScreen } from '../../platform/emulator.ts';
import type { OpenWorker } from '../../platform/workers.ts';
import { LiveScreen, type LiveScreenDeps } from './screen-live.ts';
import { waitForScreen, type ScreenWait, type ScreenWish } from './screen-wait.ts';
import type { Terminal } from './terminal.ts';

export interface Screen extends EmulatedScreen {
  /** Shows the same in a terminal of its size. */
  readonly ansi: string;
}

/** What a terminal has to be given to show the same as the session. */
export interface ScreenRestore {
  /** Brings a terminal of the session's size that was reset to its screen, scrollback and modes. */
  readonly data: string;
  /** What the log has from here on goes on where `data` ends: exactly, and never inside a control sequence. */
  readonly offset: number;
}

/** An emulator that nobody has used for so long is given up. So many that are unused are kept at most. */
const unusedMs = 60_000;
const mostUnused = 8;
/** More would take the memory of more, and be no quicker. */
const mostAtOnce = 4;
const ansiBytes = 16 * 1024 * 1024;

export interface ScreensDeps extends LiveScreenDeps {
  /** For patterns of clients. */
  readonly openWorker: OpenWorker;
}

interface Kept {
  live: Promise<LiveScreen> | null;
  /** Ends when the last one who looks has done so. */
  turn: Promise<unknown>;
  users: number;
  giveUp: ReturnType<typeof setTimeout> | null;
}

export class Screens implements Disposable {
  /** The one that was used last is the last. */
  readonly #kept = new Map<Terminal, Kept>();
  /** How many of them are worked on, and who waits to be. */
  #working = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly deps: ScreensDeps) {}

  /** As it is now. */
  look(terminal: Terminal): Promise<Screen> {
    return this.#use(terminal, async (live) => ({
      ...(await live.read()),
      ansi: await live.serialize({ scrollbackRows: 0, maxBytes: ansiBytes }),
    }));
  }

  /** The text of scrollback and screen, as it is now. */
  text(terminal: Terminal): Promise<string> {
    return this.#use(terminal, async (live) => (await live.read()).text);
  }

  /** Resolves when the wish has come true, cannot any more, or when time is up. Throws `bad_argument`. */
  async wait(terminal: Terminal, wish: ScreenWish, ...ends: readonly AbortSignal[]): Promise<ScreenWait> {
    return await waitForScreen({ screens: this, openWorker: this.deps.openWorker }, terminal, wish, ...ends);
  }

  /** `data` takes at most `maxBytes`: the oldest rows of scrollback are left out first, the screen is always whole. */
  restore(terminal: Terminal, maxBytes: number): Promise<ScreenRestore> {
    return this.#use(terminal, async (live) => {
      const data = await live.serialize({ scrollbackRows: Infinity, maxBytes });
      return { data, offset: live.offset };
    });
  }

  /** How many sessions have an emulator now. */
  get size(): number {
    return this.#kept.size;
  }

  [Symbol.dispose](): void {
    for (const terminal of this.#kept.keys()) this.#giveUp(terminal);
  }

  /** One after the other: nothing is written while somebody reads. */
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
    kept.turn = done.catch(() => null); // Whoever asked is told; the next one has a turn of its own.
    try {
      return await done;
    } catch (error) {
      this.#giveUp(terminal); // Whatever it shows now, nobody can know.
      throw error;
    } finally {
      if (--kept.users === 0) this.#rest(terminal, kept);
    }
  }

  async #oneOfFew<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working >= mostAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#working++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#working--;
    }
  }

  #keep(terminal: Terminal): Kept {
    const known = this.#kept.get(terminal);
    this.#kept.delete(terminal);
    if (known?.giveUp) clearTimeout(known.giveUp);
    const kept = known ?? { live: null, turn: Promise.resolve(), users: 0, giveUp: null };
    this.#kept.set(terminal, kept);
    return kept;
  }

  #rest(terminal: Terminal, kept: Kept): void {
    if (this.#kept.get(terminal) !== kept) return;
    kept.giveUp = setTimeout(() => this.#giveUp(terminal), unusedMs);
    kept.giveUp.unref();
    const unused = [...this.#kept].filter(([, { users }]) => users === 0);
    for (const [oldest] of unused.slice(0, -mostUnused)) this.#giveUp(oldest);
  }

  #giveUp(terminal: Terminal): void {
    const kept = this.#kept.get(terminal);
    if (!kept) return;
    this.#kept.delete(terminal);
    if (kept.giveUp) clearTimeout(kept.giveUp);
    void kept.turn.then(async () => (await kept.live)?.[Symbol.dispose]()).catch(() => null); // It was never there.
  }
}
