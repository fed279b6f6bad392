/** The changes below a directory, as a stream or by polling. */
import { posix } from 'node:path';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { WatchEvent } from '../../core/watch/watch-event.ts';
import { followEvents } from '../../kit/events/follow-events.ts';
import type { Watcher } from '../../core/watch/watcher.ts';
import { nullOn } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import { showName } from '../../kit/text/path-text.ts';
import type { E2bDeps } from './app.ts';
import { entryOf } from './entries.ts';
import { pingMsOf } from './keepalive.ts';
import { EventType, type FilesystemEventSchema } from './wire/filesystem_pb.ts';

export interface WatchOptions {
  readonly path: string;
  readonly recursive: boolean;
  readonly includeEntry: boolean;
  readonly allowNetworkMounts: boolean;
}

type FilesystemEvent = MessageInitShape<typeof FilesystemEventSchema>;

/** A watcher is removed when no client polls it for this long. */
const polledWithinMs = 600_000;
/** Maximum number of changes in one answer. */
const maxEvents = 10_000;

/** Begins with `start`, once changes are seen; null after a time of silence. Fails when changes are lost. */
export async function* watchEvents(
  deps: E2bDeps,
  options: WatchOptions,
  { requestHeader, signal }: HandlerContext,
): AsyncGenerator<FilesystemEvent | 'start' | null> {
  const watcher = await open(deps, options);
  try {
    const { closing } = deps;
    const following = { cursor: watcher.ring.cursor, silenceMs: pingMsOf(requestHeader), signal, closing };
    yield 'start';
    for await (const message of followEvents(watcher, following)) {
      if (message.kind === 'overflow') throw lost();
      if (message.kind === 'end') throw new ConnectError('the directory is not watched any more', Code.Unavailable);
      if (message.kind === 'silence') yield null;
      else for (const event of await eventsOf(deps, options, message.event)) yield event;
    }
  } finally {
    deps.watchers.release(watcher.id);
  }
}

interface Polled {
  readonly watcher: Watcher;
  readonly options: WatchOptions;
  readonly expiry: ReturnType<typeof setTimeout>;
  cursor: number;
}

/** The watchers whose clients ask for their events. */
export class PolledWatches {
  readonly #byId = new Map<string, Polled>();

  constructor(private readonly deps: E2bDeps) {}

  /** Returns the id. */
  async create(options: WatchOptions): Promise<string> {
    const watcher = await open(this.deps, options);
    const id = mintId('e2b');
    const expiry = setTimeout(() => this.remove(id), polledWithinMs).unref();
    this.#byId.set(id, { watcher, options, expiry, cursor: watcher.ring.cursor });
    return id;
  }

  /** The changes since the last call. Throws once when changes were lost in between. */
  async take(id: string): Promise<FilesystemEvent[]> {
    const polled = this.#get(id);
    polled.expiry.refresh();
    const { events, cursor, isOverflow } = polled.watcher.after(polled.cursor, maxEvents);
    polled.cursor = cursor;
    if (isOverflow) throw lost();
    return (await Promise.all(events.map((event) => eventsOf(this.deps, polled.options, event)))).flat();
  }

  remove(id: string): void {
    const { watcher, expiry } = this.#get(id);
    clearTimeout(expiry);
    this.#byId.delete(id);
    this.deps.watchers.release(watcher.id);
  }

  #get(id: string): Polled {
    const polled = this.#byId.get(id);
    if (!polled) throw new CoreError('watcher_not_found', `no watcher has the id ${id}`);
    return polled;
  }
}

async function open({ watchers }: E2bDeps, { path, recursive }: WatchOptions): Promise<Watcher> {
  const request = { path, user: null, recursive, exclude: [], includePatterns: [], debounceMs: 0 };
  return (await watchers.create(request)).watcher;
}

function lost(): ConnectError {
  return new ConnectError(
    'changes were lost, because more came than were read; list the directory again',
    Code.Internal,
  );
}

const types = {
  create: EventType.CREATE,
  write: EventType.WRITE,
  remove: EventType.REMOVE,
  chmod: EventType.CHMOD,
} as const;

/** A move within the directory is the end of the old name and a new one. */
async function eventsOf(
  deps: E2bDeps,
  { path, includeEntry }: WatchOptions,
  event: WatchEvent,
): Promise<FilesystemEvent[]> {
  const nameOf = (at: string) => (at === '' ? '.' : showName(at)); // Relative to the directory.
  if (event.type === 'rename') {
    const before = event.oldPath === null ? [] : [{ name: nameOf(event.oldPath), type: EventType.RENAME }];
    return [...before, await one(EventType.CREATE)];
  }
  const first = await one(types[event.type]);
  const isWritten = event.type === 'create' && !event.isDirectory && (event.sizeBytes ?? 0) > 0;
  if (!isWritten) return [first];
  // One change of core: a file whose content has come with it, as that of an upload. envd makes the file of an upload in
  // its place, sets its owner, and writes it.
  const owned = event.isMovedIn ? [await one(EventType.CHMOD)] : [];
  return [first, ...owned, await one(EventType.WRITE)];

  async function one(type: EventType): Promise<FilesystemEvent> {
    const name = nameOf(event.path);
    if (!includeEntry || type === EventType.REMOVE) return { name, type };
    // It may have gone meanwhile.
    const entry = await nullOn(CoreError, entryOf(deps, posix.join(path, event.path)));
    return entry ? { name, type, entry } : { name, type };
  }
}
