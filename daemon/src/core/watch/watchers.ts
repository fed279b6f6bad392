/** The watchers of a daemon. They live as long as it does: a client of the next one makes its own anew. */
import { CoreError } from '../../kit/errors.ts';
import { asFileOperation } from '../../kit/file-failure.ts';
import { mintId } from '../../kit/ids.ts';
import type { OpenEventQueue } from '../../platform/inotify.ts';
import type { WatchedFiles } from '../../platform/watched-files.ts';
import type { Places } from '../identity/places.ts';
import type { ChangeSink } from './change.ts';
import { DirectorySource } from './directory-source.ts';
import { FileSource } from './file-source.ts';
import { PathFilter } from './filter.ts';
import { PollingSource } from './polling-source.ts';
import { waitForPath, type PathEvent, type PathWait } from './wait-for-path.ts';
import { WatchTable } from './watch-table.ts';
import { Watcher, type WatchSpec } from './watcher.ts';

export const mostWatchers = 128;
/** Of each kind, for one watcher; every event is held against all of them. */
const mostPatterns = 256;
const longestPattern = 1024;

export interface WatchersDeps {
  readonly places: Places;
  readonly files: WatchedFiles;
  readonly openEventQueue: OpenEventQueue;
  readonly onFault: (what: string, error: unknown) => void;
  readonly now: () => number;
}

export interface WatchRequest extends WatchSpec {
  /** The account whose home `~` is; null is the default account. */
  readonly user: string | null;
}

export class Watchers implements Disposable {
  readonly #deps: WatchersDeps;
  readonly #table: WatchTable;
  readonly #byId = new Map<string, Watcher>();
  /** By all that makes two requests the same. */
  readonly #byKey = new Map<string, Promise<Watcher>>();
  /** Those that are being opened: each has its place already. */
  #opening = 0;
  #isClosed = false;

  constructor(deps: WatchersDeps) {
    this.#deps = deps;
    this.#table = new WatchTable(deps.openEventQueue);
  }

  get count(): number {
    return this.#byId.size;
  }

  /** The same request again is the same watcher, for one subscriber more. Throws `capacity_reached`, and a `FileFailure`. */
  async create({ user, ...request }: WatchRequest): Promise<{ watcher: Watcher; isReused: boolean }> {
    assertPatterns(request.exclude);
    assertPatterns(request.includePatterns);
    const spec = { ...request, path: this.#deps.places.resolve(request.path, user) };
    const key = keyOf(spec);
    for (let other = this.#byKey.get(key); other; other = this.#byKey.get(key)) {
      const watcher = await other;
      if (watcher.end === null) {
        watcher.subscribers += 1;
        return { watcher, isReused: true };
      }
      if (this.#byKey.get(key) === other) this.#byKey.delete(key);
    }
    // No await from here to the set, so that two callers never make the same one.
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

  /** The next change of one path; null when the time is over. Throws what `create` does, and `bad_argument`. */
  async wait(wait: PathWait): Promise<PathEvent | null> {
    const { files, places } = this.#deps;
    return await waitForPath({ files, places, watchers: this }, wait);
  }

  list(): Watcher[] {
    return [...this.#byId.values()];
  }

  /** Throws `watcher_not_found`. */
  get(id: string): Watcher {
    const watcher = this.#byId.get(id);
    if (!watcher) {
      throw new CoreError('watcher_not_found', `no watcher has the id ${id}`, {
        hint: 'Watchers end with their last subscriber and with the daemon; POST /v2/watch makes a new one.',
      });
    }
    return watcher;
  }

  /** One subscriber lets go; the last one ends the watcher. Answers how many are left. */
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
    if (this.#byId.size + this.#opening < mostWatchers) return;
    throw new CoreError('capacity_reached', `${mostWatchers} watchers are there, which is the most`, {
      hint: 'DELETE /v2/watch/{id} ends one; GET /v2/watch lists them, those whose root has gone too.',
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
    const { files, onFault, now } = this.#deps;
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
        () => null, // Who waits for it is told.
      );
    }
  }
}

function assertPatterns(patterns: readonly string[]): void {
  if (patterns.length <= mostPatterns && patterns.every(({ length }) => length <= longestPattern)) return;
  throw new CoreError('bad_argument', `at most ${mostPatterns} patterns of ${longestPattern} characters`, {
    hint: 'Use fewer patterns, such as a directory in place of what is in it.',
  });
}

/** The order of patterns means nothing. */
function keyOf({ path, recursive, exclude, includePatterns, debounceMs }: WatchSpec): string {
  return JSON.stringify([path, recursive, exclude.toSorted(), includePatterns.toSorted(), debounceMs]);
}
