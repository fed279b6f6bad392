/** Looks after the server of a session in tmux: that it hears of the end of the shell, and that it stays small. */
import type { Child } from '../../platform/spawn.ts';
import type { ProcessStates } from '../../platform/process-states.ts';

export interface WatchedTmux {
  readonly child: Child;
  /** null until they are known. */
  readonly pids: { readonly shell: number; readonly server: number } | null;
  hold(holder: object): void;
  release(holder: object): void;
}

const lookEveryMs = 250;
/** Memory grows slower than a shell ends. */
const looksForMemory = 4;
/** Its own lines at the largest size are less: more is output that it could not pass on. */
const mostGrowthBytes = 64 * 1024 * 1024;

export class TmuxWatch {
  #looks = 0;
  #calmBytes: number | null = null;
  /** Where the log ended when it was looked at last; null while nothing is held. */
  #heldAt: number | null = null;
  #isAsking = false;

  constructor(
    private readonly tmux: WatchedTmux,
    private readonly states: ProcessStates,
  ) {}

  /** Until the shell has ended. */
  start(): void {
    const looking = setInterval(() => {
      if (this.tmux.child.end) clearInterval(looking);
      else this.#look();
    }, lookEveryMs);
    looking.unref();
  }

  #look(): void {
    const { child, pids } = this.tmux;
    if (child.isLetGo || !pids) return;
    this.#remind(pids.shell);
    if (this.#looks++ % looksForMemory !== 0) return;
    if (this.#heldAt === null) this.#holdIfLarge(pids.server);
    else void this.#releaseIfDone(pids.server);
  }

  /** tmux 3.3 misses every fourth SIGCHLD or so, and then does not tell of that end before it gets another. */
  #remind(shell: number): void {
    const parent = this.states.unawareParent(shell);
    if (parent !== null) this.states.remind(parent);
  }

  /** It keeps what its keeper does not take, however much that is: a disk may be slower than a program. */
  #holdIfLarge(server: number): void {
    const bytes = this.states.residentBytes(server);
    this.#calmBytes ??= bytes;
    if (bytes === null || this.#calmBytes === null || bytes - this.#calmBytes < mostGrowthBytes) return;
    this.tmux.hold(this);
    this.#heldAt = this.#logEnd;
  }

  /** Once nothing comes any more, and it is not the keeper that has stopped. */
  async #releaseIfDone(server: number): Promise<void> {
    const end = this.#logEnd;
    const hasGrown = end !== this.#heldAt;
    this.#heldAt = end;
    if (hasGrown || this.#isAsking) return;
    this.#isAsking = true;
    const isAnswered = (await this.tmux.child.tree()).length > 0;
    this.#isAsking = false;
    if (!isAnswered || this.#logEnd !== end) return;
    this.#heldAt = null;
    // Memory that was needed once is seldom given back.
    this.#calmBytes = this.states.residentBytes(server);
    this.tmux.release(this);
  }

  get #logEnd(): number {
    this.tmux.child.refresh();
    return this.tmux.child.ends[0];
  }
}
