/** Reports changes below a root by polling, for file systems and hosts without inotify. */
import type { FileFacts } from '../../platform/files/watched-files.ts';
import { joinPath, type Change, type ChangeSource, type EventType } from './change.ts';
import type { SourceDeps } from './directory-source.ts';
import { errnoOf } from '../../kit/errno.ts';
import { TimeSlices } from '../../kit/slices.ts';

/** A scan delays other requests, so the pause after a scan is five times as long as the scan. */
const restFactor = 5;
const leastRestMs = 500;
/** Maximum for one watcher. An entry takes about 300 bytes. */
const maxEntries = 250_000;

/** The state of an entry in a snapshot. Numbers save memory, because there are many entries. */
interface Seen extends Pick<FileFacts, 'isDirectory' | 'device' | 'inode' | 'size' | 'mode'> {
  /** Nanoseconds since 1970. 0 for a directory, whose entries are reported separately. */
  readonly modified: number;
  readonly changed: number;
}

type Snapshot = Map<string, Seen>;

export class PollingSource implements ChangeSource {
  readonly #slices = new TimeSlices();
  #before: Snapshot = new Map();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(private readonly deps: Omit<SourceDeps, 'table'>) {}

  async open(): Promise<void> {
    const startedMs = performance.now();
    this.#before = await this.#look();
    this.#rest(performance.now() - startedMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#before.clear();
  }

  #rest(tookMs: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#again(), Math.max(leastRestMs, tookMs * restFactor));
  }

  async #again(): Promise<void> {
    const startedMs = performance.now();
    try {
      const now = await this.#look();
      if (this.#isClosed) return;
      if (isOther(this.#before.get(''), now.get(''))) {
        this.close();
        this.deps.sink.gone();
        return;
      }
      for (const change of compare(this.#before, now, performance.now())) {
        if (change) this.deps.sink.change(change);
        const pause = this.#slices.next();
        if (pause) await pause;
      }
      this.#before = now;
      this.#rest(performance.now() - startedMs);
    } catch (error) {
      if (this.#isClosed) return;
      this.close();
      if (errnoOf(error) === null) this.deps.sink.failed(error);
      else this.deps.sink.gone();
    }
  }

  /** Throws when the root cannot be read. */
  async #look(): Promise<Snapshot> {
    const { files, root, recursive } = this.deps;
    const facts = await files.facts(root);
    const seen: Snapshot = new Map([['', seenOf(facts)]]);
    if (!facts.isDirectory) return seen;
    const left = [''];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (this.#isClosed || seen.size >= maxEntries) break;
      const inside = await this.#lookInto(next, seen);
      if (recursive) left.push(...inside);
      await this.#slices.next();
    }
    return seen;
  }

  /** Reads one directory and returns its subdirectories. */
  async #lookInto(directory: string, seen: Snapshot): Promise<string[]> {
    const { files, filter } = this.deps;
    const names = await files.names(this.#systemPath(directory)).catch((error: unknown) => orNothing(error, []));
    const paths = names.map((name) => joinPath(directory, name)).filter((path) => !filter.isExcluded(path));
    const inside: string[] = [];
    for (const path of paths) {
      const facts = this.#factsOf(path);
      if (!facts) continue;
      seen.set(path, seenOf(facts));
      if (facts.isDirectory) inside.push(path);
      const pause = this.#slices.next();
      if (pause) await pause;
    }
    return inside;
  }

  #factsOf(path: string): FileFacts | null {
    try {
      return this.deps.files.factsNow(this.#systemPath(path));
    } catch (error) {
      return orNothing(error, null);
    }
  }

  #systemPath(path: string): string {
    const { root } = this.deps;
    return path === '' ? root : joinPath(root === '/' ? '' : root, path);
  }
}

/** A root directory must stay the same directory. A root file may be replaced when an editor saves it. */
function isOther(before: Seen | undefined, now: Seen | undefined): boolean {
  return before?.isDirectory !== now?.isDirectory || (now?.isDirectory === true && !isSameFile(before, now));
}

/** An entry that was deleted meanwhile or is not readable counts as missing. */
function orNothing<T>(error: unknown, nothing: T): T {
  if (errnoOf(error) === null) throw error;
  return nothing;
}

function seenOf({ isDirectory, device, inode, mode, size, modifiedNs, changedNs }: FileFacts): Seen {
  const own = isDirectory
    ? { modified: 0, changed: 0, size: 0 }
    : { modified: Number(modifiedNs), changed: Number(changedNs), size };
  return { isDirectory, device, inode, mode, ...own };
}

function isSameFile(a: Seen | undefined, b: Seen | undefined): boolean {
  return a?.inode === b?.inode && a?.device === b?.device;
}

function hasSameContent(a: Seen | undefined, b: Seen | undefined): boolean {
  return a?.size === b?.size && a?.modified === b?.modified;
}

function identityOf({ device, inode }: Seen): string {
  return `${device} ${inode}`;
}

/** Removals, moves, then new entries, with parents before their contents. A null marks a possible pause. */
function* compare(before: Snapshot, now: Snapshot, atMs: number): Generator<Change | null> {
  const moves = yield* movesBetween(before, now);
  const gone = new Set<string>();
  for (const [path, { isDirectory }] of before) {
    yield null;
    if (now.get(path)?.isDirectory === isDirectory || moves.has(path) || isBelow(path, gone)) continue;
    if (isDirectory) gone.add(path);
    yield { type: 'remove', path, oldPath: null, isDirectory, atMs, isWhole: true };
  }
  for (const [oldPath, path] of moves) {
    // The removal of the old directory already covers the old path.
    if (isBelow(oldPath, gone)) yield { type: 'create', path, oldPath: null, isDirectory: false, atMs };
    else yield { type: 'rename', path, oldPath, isDirectory: false, atMs };
  }
  const arrived = new Set(moves.values());
  for (const [path, seen] of now) {
    yield null;
    if (arrived.has(path)) continue;
    const type = typeOfChange(moves.has(path) ? undefined : before.get(path), seen);
    if (type) yield { type, path, oldPath: null, isDirectory: seen.isDirectory, atMs };
  }
}

function typeOfChange(old: Seen | undefined, seen: Seen): EventType | null {
  if (!old || old.isDirectory !== seen.isDirectory) return 'create';
  if (!hasSameContent(old, seen) || (!seen.isDirectory && !isSameFile(old, seen))) return 'write';
  return old.mode === seen.mode && old.changed === seen.changed ? null : 'chmod';
}

/** Finds files that left one path and appeared at a new path. */
function* movesBetween(before: Snapshot, now: Snapshot): Generator<null, Map<string, string>> {
  const arrivals = new Map<string, string>();
  for (const [path, seen] of now) {
    yield null;
    if (!seen.isDirectory && !before.has(path)) arrivals.set(identityOf(seen), path);
  }
  const moves = new Map<string, string>();
  if (arrivals.size === 0) return moves;
  for (const [path, seen] of before) {
    yield null;
    const identity = identityOf(seen);
    const target = arrivals.get(identity);
    if (seen.isDirectory || target === undefined || isSameFile(now.get(path), seen)) continue;
    // The file system soon reuses an inode number for another file.
    if (!hasSameContent(now.get(target), seen)) continue;
    arrivals.delete(identity);
    moves.set(path, target);
  }
  return moves;
}

/** Whether a parent directory was already reported. That report covers everything below it. */
function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}
