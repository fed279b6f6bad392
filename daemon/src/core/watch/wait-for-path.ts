/** Waits for something to happen to one path, which need not be there yet; the directory that it is in has to be. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { fileFailureOf } from '../../kit/file-failure.ts';
import { showPath } from '../../kit/path-text.ts';
import type { WatchedFiles } from '../../platform/watched-files.ts';
import type { Places } from '../identity/places.ts';
import type { EventType } from './change.ts';
import type { WatchEvent } from './event-ring.ts';
import type { Watcher } from './watcher.ts';
import type { WatchRequest } from './watchers.ts';

export interface PathWait {
  readonly path: string;
  /** What is waited for; with `create`, that it is there already will do. */
  readonly types: ReadonlySet<EventType>;
  readonly withinMs: number;
  /** The caller has gone. */
  readonly signal: AbortSignal;
}

/** An event of a watcher of the directory. */
export interface PathEvent {
  readonly watcher: Watcher;
  readonly event: WatchEvent;
}

export interface PathWaitDeps {
  readonly places: Places;
  readonly files: Pick<WatchedFiles, 'factsNow'>;
  readonly watchers: {
    create(request: WatchRequest): Promise<{ readonly watcher: Watcher }>;
    release(id: string): number;
  };
}

const debounceMs = 50;
const pageSize = 1000;

/** Null when the time is over. Throws `bad_argument`, `capacity_reached`, and a `FileFailure`. */
export async function waitForPath(deps: PathWaitDeps, wait: PathWait): Promise<PathEvent | null> {
  const path = deps.places.resolve(wait.path, null);
  const at = path.lastIndexOf('/');
  const name = path.slice(at + 1);
  if (name === '' || name === '..') {
    throw new CoreError('bad_argument', `${path} is no name in a directory`, { hint: 'Give the path of a file.' });
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
  // Others may have the same watcher: what it has told before is of no interest.
  let { cursor } = watcher.ring;
  let mayBeThere = true;
  using deadline = new Deadline(withinMs, signal);
  for (;;) {
    const there = mayBeThere && types.has('create') ? entry() : null;
    if (there) return there;
    const page = await watcher.poll(cursor, pageSize, withinMs, deadline.signal);
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
  return new CoreError('unavailable', `${showPath(spec.path)} has gone while something in it was waited for`, {
    hint: 'Make the directory again, then wait again.',
  });
}

/** The event as the caller means it: one that moves comes or goes, and one that comes with content is written. */
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

/** What is there already, as an event. Throws a `FileFailure`. */
function entryNow(files: PathWaitDeps['files'], path: string, name: string, { ring }: Watcher): WatchEvent | null {
  const facts = factsNow(files, path);
  if (!facts) return null;
  const { inode, isDirectory, modifiedNs, size } = facts;
  return {
    seq: ring.cursor,
    type: 'create',
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
    throw fileFailureOf(error, 'watch', path); // A name that is too long, or a directory that may be listed and not entered.
  }
}
