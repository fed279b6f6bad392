/** The commands that can be read: keeps their records, and evicts finished ones by count, age and size. */
import { lookEvery } from '../../kit/events/look-every.ts';
import type { Command } from './command.ts';
import { EvictedFiles } from './evicted-files.ts';
import { KeptBytes } from './kept-bytes.ts';
import type { LogBudget } from './log-budget.ts';
import { EndedCommands } from './retention.ts';
import type { UsedIds } from './used-ids.ts';

export interface KeptCommandsDeps {
  readonly usedIds: UsedIds;
  readonly budget: LogBudget;
  /** Called when state cannot be written to disk. The records concerned are kept. */
  readonly onFault: (what: string, error: unknown) => void;
}

const faultText = 'ended commands could not be retired';
const trimEveryMs = 5000;
/** Eviction runs at once when a command leaves more output than this. */
const largeBytes = 64 * 1024;

export class KeptCommands {
  readonly #byId = new Map<string, Command>();
  readonly #ended = new EndedCommands();
  readonly #bytes = new KeptBytes();
  readonly #evictedFiles: EvictedFiles;
  #trimming: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly deps: KeptCommandsDeps) {
    this.#evictedFiles = new EvictedFiles((error) => deps.onFault(faultText, error));
  }

  get count(): number {
    return this.#byId.size;
  }

  get all(): Command[] {
    return [...this.#byId.values()];
  }

  find(id: string): Command | undefined {
    return this.#byId.get(id);
  }

  add(command: Command): void {
    this.#byId.set(command.id, command);
    this.#bytes.add(command.child);
  }

  /** Total bytes in the logs of all commands, as last reported. The logs themselves are not read. */
  totalBytes(): number {
    return this.#bytes.total();
  }

  /** A deleted command has ended too, but its record is no longer kept. */
  noteEnd(command: Command): void {
    if (this.#byId.get(command.id) !== command) return;
    this.#ended.add(command);
    // Evict after the waiting callers got their answer: eviction must not delay them.
    setImmediate(() => this.#retireByCount());
    if (command.child.keptBytes > largeBytes) this.#retireByAgeAndSize();
  }

  /** Call when a command starts: the daemon then waits for a keeper, and has time to delete files. */
  noteStart(): void {
    this.#evictedFiles.deleteNext();
  }

  /** Deletes the records and the files. */
  forget(commands: readonly Command[]): void {
    this.#deleteRecords(commands, ({ child }) => child.forget());
  }

  startTrimming(): void {
    this.#trimming = lookEvery(trimEveryMs, () => this.#trim()).unref();
  }

  stopTrimming(): void {
    if (this.#trimming) clearInterval(this.#trimming);
    this.#evictedFiles.deleteAll();
  }

  /** Enforces the log budget: evicts finished commands first, then caps each running command at a fair share. */
  #trim(): void {
    this.#retireByAgeAndSize();
    const running = this.all.filter((command) => command.child.isAttached);
    for (const { child } of running) child.refreshKept();
    if (this.totalBytes() <= this.deps.budget.totalBytes) return;
    const capBytes = this.deps.budget.fairCap(running.length);
    for (const { child } of running) if (child.keptBytes > capBytes) child.cap(capBytes);
  }

  /** The files are deleted a moment later: a disk may be slow, and the next request may already wait. */
  #retireByCount(): void {
    this.#tryToRetire(() => {
      this.#deleteRecords(this.#ended.tooMany(), ({ child }) => this.#evictedFiles.add(child));
    });
  }

  #retireByAgeAndSize(): void {
    this.#tryToRetire(() => this.forget(this.#ended.tooOldOrLarge(this.deps.budget.endedBytes)));
  }

  #tryToRetire(retire: () => void): void {
    try {
      retire();
    } catch (error) {
      this.deps.onFault(faultText, error);
    }
  }

  /** Stores the ids before the records are deleted, so that no id becomes free in between. */
  #deleteRecords(commands: readonly Command[], deleteFiles: (command: Command) => void): void {
    this.deps.usedIds.add(commands.filter(({ note }) => note.fingerprint !== null).map(({ id }) => id));
    for (const command of commands) {
      this.#byId.delete(command.id);
      this.#ended.delete(command);
      this.#bytes.delete(command.child);
      deleteFiles(command);
    }
  }
}
