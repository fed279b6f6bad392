/** Updates the state of a command from its logs and its journal, where no keeper reports to this daemon. */
import { existsSync } from 'node:fs';
import { lookEvery } from '../../kit/events/look-every.ts';
import { endFromJournal } from './child-end.ts';
import type { ChildState } from './child-state.ts';
import type { CommandDirectory } from './command-directory.ts';

/** Polling interval for the files of a command whose keeper another daemon owns, while a caller waits. */
const pollMs = 10;

export class JournalReader {
  #poll: ReturnType<typeof setInterval> | null = null;

  constructor(
    private readonly directory: CommandDirectory,
    private readonly state: ChildState,
  ) {}

  readEnds(): void {
    this.state.growTo(this.directory.storedEnds());
  }

  readHeads(): void {
    this.state.evictTo(this.directory.heads());
  }

  /** Records the end of the command, because the keeper has gone. */
  settle(): void {
    this.state.settle(this.directory.journal(), this.directory.storedEnds(), () => this.directory.lastWriteMs());
  }

  /** Polls the files from now on, as long as a caller waits for a change. */
  startPolling(): void {
    this.#poll ??= lookEvery(pollMs, () => this.#readAll());
  }

  stopPolling(): void {
    if (this.#poll) clearInterval(this.#poll);
    this.#poll = null;
  }

  #readAll(): void {
    const { state, directory } = this;
    if (state.changes.waiting === 0) {
      this.stopPolling();
      return;
    }
    const before = { ends: state.ends, end: state.end, streamsOpen: state.streamsOpen };
    // The order matters. What a keeper wrote before it exited is then in the journal. What it wrote before the last
    // line of the journal is then in the logs.
    const hasKeeper = existsSync(`/proc/${state.keeperPid}`);
    const journal = directory.journal();
    this.readEnds();
    if (!hasKeeper) this.settle();
    else if (journal?.exit || journal?.failure) state.end ??= endFromJournal(journal, directory.lastWriteMs());
    if (journal?.isClosed) state.streamsOpen = false;
    const hasGrown = state.ends.some((end, stream) => end !== before.ends[stream]);
    if (hasGrown || state.end !== before.end || state.streamsOpen !== before.streamsOpen) state.changes.notify();
  }
}
