/** Waits for an event on one path. The path may be missing, but its directory must exist. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { pollEvents } from '../../kit/events/follow-events.ts';
import { fileFailureOf } from '../../kit/file-failure.ts';
import { showPath } from '../../kit/text/path-text.ts';
import type { WatchedFiles } from '../../platform/files/watched-files.ts';
import type { PathResolver } from '../processes/directory.ts';
import type { EventType } from './change.ts';
import type { WatchEvent } from './watch-event.ts';
import type { Watcher } from './watcher.ts';
import type { WatchRequest } from './request.ts';

export interface PathWait {
  readonly path: string;
  /** The event types to wait for. If `create` is included, an existing entry counts as created. */
  readonly types: ReadonlySet<EventType>;
  readonly withinMs: number;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** An event from the watcher of the directory. */
export interface PathEvent {
  readonly watcher: Watcher;
  readonly event: WatchEvent;
}

export interface PathWaitDeps {
  readonly paths: PathResolver;
  readonly files: Pick<WatchedFiles, 'factsNow'>;
  readonly watchers: {
    create(request: WatchRequest): Promise<{ readonly watcher: Watcher }>;
    release(id: string): number;
  };
}

const debounceMs = 50;
const pageSize = 1000;

/** Null after the timeout. Throws `bad_argument`, `capacity_reached`, and a `FileFailure`. */
export async function waitForPath(deps: PathWaitDeps, wait: PathWait): Promise<PathEvent | null> {
  const path = deps.paths.resolve(wait.path, null);
  const at = path.lastIndexOf('/');
  const name = path.slice(at + 1);
  if (name === '' || name === '..') {
    throw new CoreError('bad_argument', `${path} is not a name in a directory`, { hint: 'Pass the path of a file.' });
  }
  const spec = { path: path.slice(0, at) || '/', recursive: false, exclude: [], includePatterns: [], debounceMs };
  const { watcher } = await deps.watchers.create({ ...spec, user: null });
  try {
    const event = await nextEvent(watcher, name, wait, () => entryNow(deps.files, path, name, watcher));
    return event && { watcher, event };
  } finally {
    const isClosed = watcher.end === 'stopped' || watcher.end === 'closing';
    if (!isClosed) deps.watchers.release(watcher.id);
  }
}

async function nextEvent(
  watcher: Watcher,
  name: string,
  { types, withinMs, signal }: PathWait,
  entry: () => WatchEvent | null,
): Promise<WatchEvent | null> {
  // Other callers may share the watcher, so ignore its earlier events.
  let { cursor } = watcher.ring;
  let mayBeThere = true;
  using deadline = new Deadline(withinMs, signal);
  for (;;) {
    const there = mayBeThere && types.has('create') ? entry() : null;
    if (there) return there;
    const page = await pollEvents(watcher, {
      cursor,
      limit: pageSize,
      waitMs: withinMs,
      signal: deadline.signal,
    });
    for (const event of page.events) {
      const wanted = asWanted(event, name, types);
      if (wanted) return wanted;
    }
    cursor = page.cursor;
    mayBeThere = page.isOverflow;
    if (page.events.length > 0 || page.isOverflow) continue;
    if (watcher.end === 'gone') throw goneMeanwhile(watcher);
    if (deadline.passed || watcher.end !== null) return null;
  }
}

function goneMeanwhile({ spec }: Watcher): CoreError {
  return new CoreError('unavailable', `${showPath(spec.path)} has gone while a client waited for an entry in it`, {
    hint: 'Create the directory again, then wait again.',
  });
}

/** Translates the event for the caller: a move is a create or a remove, and a new file with content is a write. */
function asWanted(event: WatchEvent, name: string, types: ReadonlySet<EventType>): WatchEvent | null {
  const hasCome = event.path === name;
  if (!hasCome && event.oldPath !== name) return null;
  if (types.has(event.type)) return event;
  const alone = { ...event, path: name, oldPath: null };
  if (!hasCome) return types.has('remove') ? { ...alone, type: 'remove' } : null;
  if (event.type === 'rename' && types.has('create')) return { ...alone, type: 'create' };
  const isNewContent = (event.type === 'rename' || event.type === 'create') && (event.sizeBytes ?? 0) > 0;
  return isNewContent && !event.isDirectory && types.has('write') ? { ...alone, type: 'write' } : null;
}

/** Describes an existing entry as an event. Throws a `FileFailure`. */
function entryNow(files: PathWaitDeps['files'], path: string, name: string, { ring }: Watcher): WatchEvent | null {
  const facts = factsNow(files, path);
  if (!facts) return null;
  const { inode, isDirectory, modifiedNs, size } = facts;
  return {
    seq: ring.cursor,
    type: 'create',
    isMovedIn: false,
    path: name,
    oldPath: null,
    isDirectory,
    atMs: Date.now(),
    modifiedMs: Number(modifiedNs / 1000n) / 1000,
    sizeBytes: size,
    inode,
  };
}

function factsNow(files: PathWaitDeps['files'], path: string): ReturnType<WatchedFiles['factsNow']> {
  try {
    return files.factsNow(path);
  } catch (error) {
    // For example, the name is too long, or the directory is readable but not searchable.
    throw fileFailureOf(error, 'watch', path);
  }
}
