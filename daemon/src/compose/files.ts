/** Constructs the objects that serve files and watchers. */
import { tmpdir } from 'node:os';
import type { Shared } from './shared.ts';
import type { FilesContext } from '../core/files/context.ts';
import { EditHistory } from '../core/files/write/edit-history.ts';
import { RipgrepGrep } from '../core/files/search/grep/ripgrep.ts';
import { Grep } from '../core/files/search/grep.ts';
import { Parts } from '../core/files/parts.ts';
import { KeyedMutex } from '../core/files/write/keyed-mutex.ts';
import { PathResolver } from '../core/processes/directory.ts';
import { Watchers } from '../core/watch/watchers.ts';
import type { MemoryBudget } from '../kit/memory-budget.ts';
import { copyContent, copyProperties } from '../platform/files/copy-file.ts';
import { Directory } from '../platform/files/directory.ts';
import { fileSlice } from '../platform/files/file-slice.ts';
import { Inotify } from '../platform/files/inotify.ts';
import { mimeOf } from '../platform/files/media-types.ts';
import { carriedRipgrep } from '../platform/process/carried.ts';
import { readDirectory } from '../platform/files/read-directory.ts';
import { TreeWriter } from '../platform/files/tree-writer.ts';
import { unifiedDiff } from '../platform/files/unified-diff.ts';
import { WatchedFiles } from '../platform/files/watched-files.ts';

export function composeFiles({ accounts, onFault, runtimeDirectory, spawn }: Shared, room: MemoryBudget): FilesContext {
  const paths = new PathResolver(accounts);
  // Loaded with the first search for a type, because most daemons never have one.
  const fileTypes = async () => (await import('../assets/tables/file-types.txt', { with: { type: 'text' } })).default;
  const openDirectory = (path: string) => Directory.open(path);
  const parts = new Parts(`${runtimeDirectory}/parts`, openDirectory);
  void parts.clearStale().catch((error: unknown) => onFault('unfinished files could not be cleared', error));
  const ripgrep = new RipgrepGrep({
    program: carriedRipgrep(),
    spawn,
    onFault: (error) => onFault('ripgrep could not be put away', error),
  });
  return {
    accounts,
    paths,
    openDirectory,
    readDirectory,
    copyContent,
    copyProperties,
    parts,
    newFileMode: 0o666 & ~process.umask(), // Reading the umask resets it briefly; nothing is created meanwhile.
    temporaryDirectory: tmpdir(),
    fileSlice,
    treeWriter: (directory, owner) => new TreeWriter(directory, owner),
    fileLocks: new KeyedMutex(),
    edits: new EditHistory(),
    grep: new Grep({ paths, room, fileTypes }, ripgrep),
    diff: unifiedDiff,
    mimeOf,
    room,
  };
}

export function composeWatchers({ logger }: Shared, { paths }: FilesContext): Watchers {
  return new Watchers({
    paths,
    files: new WatchedFiles(),
    openEventQueue: Inotify.open,
    onFault: (what, error) => logger.warn(what, { reason: String(error) }),
    now: Date.now,
  });
}
