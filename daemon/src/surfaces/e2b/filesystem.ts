/** The service `filesystem.Filesystem`: files, directories and watchers. */
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import { list, maxPage } from '../../core/files/read/list.ts';
import { statFile } from '../../core/files/read/stat.ts';
import { mapBounded } from '../../core/files/slices.ts';
import { deletePath } from '../../core/files/tree/delete.ts';
import { movePath } from '../../core/files/tree/move.ts';
import { makeDirectory } from '../../core/files/write/make-directory.ts';
import { nullOn } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';
import type { E2bDeps } from './app.ts';
import { callerOf, pathOf } from './caller.ts';
import { entryOf } from './entries.ts';
import { PolledWatches, watchEvents, type WatchOptions } from './watches.ts';
import type { Filesystem } from './wire/filesystem_pb.ts';

/** Entries whose facts are read at a time. */
const entriesAtOnce = 16;

export function filesystemService(deps: E2bDeps): ServiceImpl<typeof Filesystem> {
  const { files } = deps;
  const polled = new PolledWatches(deps);
  const placeOf = (path: string, { requestHeader }: HandlerContext) => {
    if (path.includes('\0')) throw new CoreError('bad_argument', 'a path has a NUL byte');
    const caller = callerOf(deps, requestHeader);
    return { path: pathOf(deps, path, caller), user: caller.user };
  };
  const directoryAt = async (given: string, context: HandlerContext): Promise<string> => {
    const { path } = placeOf(given, context);
    if ((await statFile(files, { path, user: null, followSymlinks: true })).isDirectory) return path;
    throw new CoreError('bad_argument', `${path} is not a directory`);
  };
  const watched = async (request: WatchOptions, context: HandlerContext): Promise<WatchOptions> => {
    const path = await directoryAt(request.path, context);
    if (!request.allowNetworkMounts && deps.isNetworkMount(path))
      throw new CoreError('bad_argument', `${path} is on a network file system, whose changes are not all reported`);
    return { ...request, path };
  };
  return {
    stat: async ({ path }, context) => ({ entry: await entryOf(deps, placeOf(path, context).path) }),

    async listDir({ path: given, depth }, context) {
      const path = await directoryAt(given, context);
      const found: string[] = [];
      for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
        const request = { ...wholeListing, path, maxDepth: Math.max(1, depth), isRecursive: depth > 1, cursor };
        const page = await list(files, request, context.signal);
        for (const file of page.files) found.push(file.path);
        cursor = page.nextCursor;
      }
      const entries = await mapBounded(found, entriesAtOnce, (one) => nullOn('file_not_found', entryOf(deps, one)));
      return { entries: entries.filter((entry) => entry !== null) };
    },

    async makeDir({ path: given }, context) {
      const place = placeOf(given, context);
      const { created } = await makeDirectory(files, { ...place, parents: true }).catch((error: unknown) => {
        // Another kind of entry stands there.
        const isOther = error instanceof CoreError && error.code === 'file_exists';
        throw isOther ? new CoreError('bad_argument', error.message) : error;
      });
      if (!created) throw new ConnectError(`${place.path} exists already`, Code.AlreadyExists);
      return { entry: await entryOf(deps, place.path) };
    },

    async move({ source, destination }, context) {
      const { path: from, user } = placeOf(source, context);
      const { path: to } = placeOf(destination, context);
      await movePath(files, { source: from, destination: to, user, overwrite: true });
      return { entry: await entryOf(deps, to) };
    },

    async remove({ path }, context) {
      await nullOn('file_not_found', deletePath(files, { ...placeOf(path, context), recursive: true }));
      return {};
    },

    async *watchDir(request, context) {
      for await (const event of watchEvents(deps, await watched(request, context), context)) {
        if (event === 'start') yield { event: { case: 'start', value: {} } };
        else
          yield event === null
            ? { event: { case: 'keepalive', value: {} } }
            : { event: { case: 'filesystem', value: event } };
      }
    },

    createWatcher: async (request, context) => ({ watcherId: await polled.create(await watched(request, context)) }),
    getWatcherEvents: async ({ watcherId }) => ({ events: await polled.take(watcherId) }),
    removeWatcher({ watcherId }) {
      polled.remove(watcherId);
      return {};
    },
  };
}

const wholeListing = {
  user: null,
  showsHidden: true,
  obeysGitignore: false,
  extensions: null,
  order: { by: 'path', direction: 'asc' },
  limit: maxPage,
} as const;
