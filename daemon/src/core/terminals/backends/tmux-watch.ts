/** Watches a session's tmux server: reminds the server of a missed shell exit and limits its memory. */
import { lookEvery } from '../../../kit/events/look-every.ts';
import type { Child } from '../../../platform/process/spawn.ts';
import type { ProcessStates } from '../../../platform/process/process-states.ts';

export interface WatchedTmux {
  readonly child: Child;
  /** null until the pids are known. */
  readonly pids: { readonly shell: number; readonly server: number } | null;
  hold(holder: object): void;
  release(holder: object): void;
}

const lookEveryMs = 250;
/** Memory is checked less often, because it changes more slowly than a shell ends. */
const looksForMemory = 4;
/** Scrollback at the largest size needs less. A server that grows more holds output that it could not pass on. */
const maxGrowthBytes = 64 * 1024 * 1024;

export class TmuxWatch {
  #looks = 0;
  #calmBytes: number | null = null;
  /** The end of the log at the last check; null while nothing is paused. */
  #heldAt: number | null = null;
  #isAsking = false;

  constructor(
    private readonly tmux: WatchedTmux,
    private readonly states: ProcessStates,
  ) {}

  /** Watches until the shell has ended. */
  start(): void {
    const looking = lookEvery(lookEveryMs, () => {
      if (this.tmux.child.end) clearInterval(looking);
      else this.#look();
    });
    looking.unref();
  }

  #look(): void {
    const { child, pids } = this.tmux;
    if (child.ownership.isLeft || !pids) return;
    this.#remind(pids.shell);
    if (this.#looks++ % looksForMemory !== 0) return;
    if (this.#heldAt === null) this.#holdIfLarge(pids.server);
    else void this.#releaseIfDone(pids.server);
  }

  /** tmux 3.3 misses about one SIGCHLD in four, and then does not report that end until another SIGCHLD arrives. */
  #remind(shell: number): void {
    const parent = this.states.unawareParent(shell);
    if (parent !== null) this.states.remind(parent);
  }

  /** tmux buffers all output that its keeper has not taken, without limit. A disk may be slower than a program. */
  #holdIfLarge(server: number): void {
    const bytes = this.states.residentBytes(server);
    this.#calmBytes ??= bytes;
    if (bytes === null || this.#calmBytes === null || bytes - this.#calmBytes < maxGrowthBytes) return;
    this.tmux.hold(this);
    this.#heldAt = this.#logEnd;
  }

  /** Resumes output once the log stops growing and the keeper still answers. */
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
    // Processes seldom return memory, so the current size is the new baseline.
    this.#calmBytes = this.states.residentBytes(server);
    this.tmux.release(this);
  }

  get #logEnd(): number {
    this.tmux.child.refresh();
    return this.tmux.child.ends[0];
  }
}
