/** Manages the watchers of the daemon. Watchers do not survive a restart; clients create them again. */
import type { WatchRequest } from './request.ts';
import { CoreError } from '../../kit/errors.ts';
import { asFileOperation } from '../../kit/file-failure.ts';
import { mintId } from '../../kit/ids.ts';
import type { OpenEventQueue } from '../../platform/files/inotify.ts';
import type { WatchedFiles } from '../../platform/files/watched-files.ts';
import type { PathResolver } from '../processes/directory.ts';
import type { ChangeSink } from './change.ts';
import { DirectorySource } from './directory-source.ts';
import { FileSource } from './file-source.ts';
import { PathFilter } from './filter.ts';
import { PollingSource } from './polling-source.ts';
import { waitForPath, type PathEvent, type PathWait } from './wait-for-path.ts';
import { WatchTable } from './watch-table.ts';
import { Watcher, type WatchSpec } from './watcher.ts';

export const maxWatchers = 128;
/** Limit for each kind of pattern in one watcher. Every event is matched against all patterns. */
const maxPatterns = 256;
const longestPattern = 1024;

export interface WatchersDeps {
  readonly paths: PathResolver;
  readonly files: WatchedFiles;
  readonly openEventQueue: OpenEventQueue;
  readonly onFault: (what: string, error: unknown) => void;
  readonly now: () => number;
}

export class Watchers implements Disposable {
  readonly #table: WatchTable;
  readonly #byId = new Map<string, Watcher>();
  /** Keys include everything that distinguishes two requests. */
  readonly #byKey = new Map<string, Promise<Watcher>>();
  /** Number of watchers that are being opened. They count toward the limit. */
  #opening = 0;
  #isClosed = false;

  constructor(private readonly deps: WatchersDeps) {
    this.#table = new WatchTable(deps.openEventQueue);
  }

  get count(): number {
    return this.#byId.size;
  }

  /** An identical request shares its watcher. Throws `capacity_reached`, and a `FileFailure`. */
  async create({ user, ...request }: WatchRequest): Promise<{ watcher: Watcher; isReused: boolean }> {
    assertPatterns(request.exclude);
    assertPatterns(request.includePatterns);
    const spec = { ...request, path: this.deps.paths.resolve(request.path, user) };
    const key = keyOf(spec);
    for (let other = this.#byKey.get(key); other; other = this.#byKey.get(key)) {
      const watcher = await other;
      if (watcher.end === null) {
        watcher.subscribers += 1;
        return { watcher, isReused: true };
      }
      if (this.#byKey.get(key) === other) this.#byKey.delete(key);
    }
    // There must be no await between this line and the call to set. Otherwise two callers could create the same
    // watcher.
    this.#assertRoom();
    const opening = this.#open(spec);
    this.#byKey.set(key, opening);
    try {
      return { watcher: await opening, isReused: false };
    } catch (error) {
      if (this.#byKey.get(key) === opening) this.#byKey.delete(key);
      throw error;
    }
  }

  /** Waits for the next change of one path; null on timeout. Throws the errors of `create`, and `bad_argument`. */
  async wait(wait: PathWait): Promise<PathEvent | null> {
    const { files, paths } = this.deps;
    return await waitForPath({ files, paths, watchers: this }, wait);
  }

  list(): Watcher[] {
    return [...this.#byId.values()];
  }

  /** Throws `watcher_not_found`. */
  get(id: string): Watcher {
    const watcher = this.#byId.get(id);
    if (!watcher) {
      throw new CoreError('watcher_not_found', `no watcher has the id ${id}`, {
        hint: 'A watcher ends with its last subscriber and with the daemon.',
        next: { operation: 'watch.start' },
      });
    }
    return watcher;
  }

  /** Removes one subscriber. The watcher ends with its last subscriber. Returns the number of remaining subscribers. */
  release(id: string): number {
    const watcher = this.get(id);
    watcher.subscribers -= 1;
    if (watcher.subscribers === 0) this.#remove(watcher, 'stopped');
    return watcher.subscribers;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const watcher of this.#byId.values()) this.#remove(watcher, 'closing');
  }

  #assertRoom(): void {
    if (this.#byId.size + this.#opening < maxWatchers) return;
    throw new CoreError('capacity_reached', `${maxWatchers} watchers are running, which is the limit`, {
      hint: 'Watchers whose root is gone count too.',
      next: { operation: 'watch.stop' },
    });
  }

  async #open(spec: WatchSpec): Promise<Watcher> {
    this.#opening += 1;
    try {
      return await asFileOperation('watch', spec.path, async () => {
        const watcher = await this.#make(spec);
        await watcher.open();
        if (this.#isClosed) watcher.close('closing');
        this.#byId.set(watcher.id, watcher);
        return watcher;
      });
    } finally {
      this.#opening -= 1;
    }
  }

  async #make(spec: WatchSpec): Promise<Watcher> {
    const { files, onFault, now } = this.deps;
    const root = await files.realPath(spec.path);
    const { isDirectory } = await files.facts(root);
    const filter = new PathFilter(spec.exclude, spec.includePatterns);
    const source = { files, filter, root, recursive: spec.recursive };
    const Source = isDirectory ? DirectorySource : FileSource;
    return new Watcher({
      id: mintId('watch'),
      spec,
      createdMs: now(),
      files,
      filter,
      root,
      isDirectory,
      openInotify: (sink: ChangeSink) => new Source({ ...source, table: this.#table, sink }),
      openPolling: (sink: ChangeSink) => new PollingSource({ ...source, sink }),
      onFault,
    });
  }

  #remove(watcher: Watcher, reason: 'stopped' | 'closing'): void {
    this.#byId.delete(watcher.id);
    watcher.close(reason);
    for (const [key, opening] of this.#byKey) {
      void opening.then(
        (opened) => {
          if (opened === watcher && this.#byKey.get(key) === opening) this.#byKey.delete(key);
        },
        () => null, // The caller that opens the watcher gets the error.
      );
    }
  }
}

function assertPatterns(patterns: readonly string[]): void {
  if (patterns.length <= maxPatterns && patterns.every(({ length }) => length <= longestPattern)) return;
  throw new CoreError('bad_argument', `at most ${maxPatterns} patterns of ${longestPattern} characters`, {
    hint: 'Use fewer patterns, such as a directory instead of its entries.',
  });
}

/** The order of the patterns does not matter. */
function keyOf({ path, recursive, exclude, includePatterns, debounceMs }: WatchSpec): string {
  return JSON.stringify([path, recursive, exclude.toSorted(), includePatterns.toSorted(), debounceMs]);
}
