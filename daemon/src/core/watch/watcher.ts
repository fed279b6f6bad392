/** Watches one path: collects its changes, numbers them, and keeps the newest events for readers. */
import { errnoOf } from '../../kit/errno.ts';
import { EventRing, type EventPage } from '../../kit/events/event-ring.ts';
import type { EventSource } from '../../kit/events/follow-events.ts';
import { Notifier } from '../../kit/events/notifier.ts';
import type { WatchedFiles } from '../../platform/files/watched-files.ts';
import { joinPath, type Change, type ChangeSink, type ChangeSource } from './change.ts';
import { ringSize, type WatchEnd, type WatchEvent, type WatchFacts } from './watch-event.ts';
import type { PathFilter } from './filter.ts';
import { maxPending, Pending } from './pending.ts';

export const backends = ['inotify', 'polling'] as const;
export type Backend = (typeof backends)[number];
export const watcherStatuses = ['active', 'gone'] as const;
export type WatcherStatus = (typeof watcherStatuses)[number];

export interface WatchSpec {
  /** Absolute path as the caller wrote it. Events are reported below this path. */
  readonly path: string;
  readonly recursive: boolean;
  readonly exclude: readonly string[];
  readonly includePatterns: readonly string[];
  readonly debounceMs: number;
}

export interface WatcherDeps {
  readonly id: string;
  readonly spec: WatchSpec;
  readonly createdMs: number;
  readonly files: WatchedFiles;
  readonly filter: PathFilter;
  /** `spec.path` with all links resolved. */
  readonly root: string;
  readonly isDirectory: boolean;
  readonly openInotify: (sink: ChangeSink) => ChangeSource;
  readonly openPolling: (sink: ChangeSink) => ChangeSource;
  /** Called with the reason why inotify is not available, for the log. */
  readonly onFault: (what: string, error: unknown) => void;
}

/** Number of entries whose facts are read in parallel. */
const atOnce = 32;
/** Maximum number of changes that wait for their facts. The ring could not hold more. */
const maxUnsent = 2 * ringSize;
/** Errors that mean inotify is unavailable, not that the path is wrong. */
const lacks = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'ENOMEM', 'ENOSYS']);

export class Watcher implements ChangeSink, EventSource<WatchFacts, WatchEnd> {
  readonly ring = new EventRing<WatchFacts>(ringSize);
  status: WatcherStatus = 'active';
  backend: Backend = 'inotify';
  /** Why the watcher does not work fully; otherwise null. */
  warning: string | null = null;
  /** Number of callers that created the watcher and have not released it. */
  subscribers = 1;
  readonly #pending: Pending;
  readonly #changed = new Notifier();
  #source: ChangeSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Serializes the writes to the ring. */
  #telling: Promise<void> = Promise.resolve();
  #unsent = 0;
  #closedFor: 'stopped' | 'closing' | null = null;

  constructor(private readonly deps: WatcherDeps) {
    this.#pending = new Pending(deps.spec.debounceMs);
  }

  get id(): string {
    return this.deps.id;
  }

  get spec(): WatchSpec {
    return this.deps.spec;
  }

  get createdMs(): number {
    return this.deps.createdMs;
  }

  /** Why no more events will come; null while more events are possible. */
  get end(): WatchEnd | null {
    return this.#closedFor ?? (this.status === 'gone' ? 'gone' : null);
  }

  /** Resolves when all later changes will be reported. Throws the error of the file system. */
  async open(): Promise<void> {
    try {
      this.#source = this.deps.openInotify(this);
      await this.#source.open();
    } catch (error) {
      if (!isLackOfInotify(error)) throw error;
      await this.#openPolling(error);
    }
  }

  after(cursor: number, limit: number): EventPage<WatchEvent> {
    return this.ring.after(cursor, limit);
  }

  /** Resolves when there may be new events, or when the signal aborts. */
  nextEvent(signal: AbortSignal): Promise<void> {
    return this.#changed.wait(signal);
  }

  /** Releases all waiting readers and gives them the reason. */
  close(reason: 'stopped' | 'closing'): void {
    this.#closedFor = reason;
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#pending.clear();
    this.#changed.notify();
  }

  change(change: Change): void {
    for (const one of this.#included(change)) this.#pending.add(one);
    if (this.#pending.size >= maxPending) this.#flush(null);
    else this.#schedule();
  }

  lost(): void {
    this.#flush(null);
    this.#notify(() => this.ring.addLoss());
  }

  gone(): void {
    this.#flush(null);
    this.#notify(async () => {
      const change: Change = {
        type: 'remove',
        path: '',
        oldPath: null,
        isDirectory: this.deps.isDirectory,
        atMs: performance.now(),
      };
      this.ring.add(await this.#event(change));
      this.status = 'gone';
    });
  }

  failed(error: unknown): void {
    this.#flush(null);
    this.#notify(async () => {
      if (this.backend === 'polling') throw error;
      await this.#openPolling(error);
      this.ring.addLoss();
    });
  }

  async #openPolling(reason: unknown): Promise<void> {
    const code = errnoOf(reason);
    this.deps.onFault('inotify is not available', reason);
    this.backend = 'polling';
    this.warning = `inotify is not available (${code ?? 'no such library'}): the daemon polls for changes, so events arrive later`;
    this.#source = this.deps.openPolling(this);
    await this.#source.open();
    if (this.#closedFor !== null) this.#source.close();
  }

  /** A file that moves into or out of the included paths is created or removed; a directory, with its contents. */
  #included(change: Change): Change[] {
    const { type, path, oldPath, isDirectory } = change;
    const { filter } = this.deps;
    const isHere = path === '' || filter.isIncluded(path);
    if (type !== 'rename' || oldPath === null) return isHere || (isDirectory && change.isWhole) ? [change] : [];
    const wasHere = filter.isIncluded(oldPath);
    if (isDirectory || (isHere && wasHere)) return [change];
    if (isHere) return [{ ...change, type: 'create', oldPath: null, mayReplace: true }];
    return wasHere ? [{ ...change, type: 'remove', path: oldPath, oldPath: null }] : [];
  }

  #schedule(): void {
    const { dueMs } = this.#pending;
    if (dueMs === null || this.#timer !== undefined || this.#closedFor !== null) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#flush(performance.now());
        this.#schedule();
      },
      Math.max(0, dueMs - performance.now()),
    );
  }

  /** Reports the changes that are due, or all changes if null. */
  #flush(nowMs: number | null): void {
    const changes = this.#pending.take(nowMs);
    if (changes.length === 0) return;
    if (this.#unsent + changes.length > maxUnsent) {
      this.#notify(() => this.ring.addLoss());
      return;
    }
    this.#unsent += changes.length;
    this.#notify(async () => {
      for (let at = 0; at < changes.length; at += atOnce) {
        const events = await Promise.all(changes.slice(at, at + atOnce).map((change) => this.#event(change)));
        for (const event of events) this.ring.add(event);
        this.#changed.notify();
      }
      this.#unsent -= changes.length;
    });
  }

  #notify(work: () => void | Promise<void>): void {
    this.#telling = this.#telling
      .then(() => (this.#closedFor === null ? work() : undefined))
      .catch((error: unknown) => {
        // Without its source the watcher gets no more events. For readers this is the same as a removed root.
        this.deps.onFault('a watcher has failed', error);
        this.status = 'gone';
      })
      .finally(() => this.#changed.notify());
  }

  async #event({ type, path, oldPath, isDirectory, atMs, mayReplace = false }: Change): Promise<WatchFacts> {
    const { files, root } = this.deps;
    const place = path === '' ? root : joinPath(root === '/' ? '' : root, path);
    const facts = type === 'remove' ? null : await files.facts(place).catch(() => null);
    return {
      type,
      path,
      oldPath,
      isDirectory,
      isMovedIn: type === 'create' && mayReplace,
      atMs: Date.now() - (performance.now() - atMs),
      modifiedMs: facts ? Number(facts.modifiedNs / 1000n) / 1000 : null,
      sizeBytes: facts?.size ?? null,
      inode: facts?.inode ?? null,
    };
  }
}

function isLackOfInotify(error: unknown): boolean {
  const code = errnoOf(error);
  return code === null || lacks.has(code);
}
