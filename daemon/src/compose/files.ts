/** Constructs the objects that serve files and watchers. */
import { tmpdir } from 'node:os';
import type { Shared } from './shared.ts';
import type { FilesContext } from '../core/files/context.ts';
import { EditHistory } from '../core/files/write/edit-history.ts';
import { BuiltInGrep } from '../core/files/search/grep/built-in.ts';
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
import { findTrustedProgram } from '../platform/process/programs.ts';
import { readDirectory } from '../platform/files/read-directory.ts';
import { TreeWriter } from '../platform/files/tree-writer.ts';
import { unifiedDiff } from '../platform/files/unified-diff.ts';
import { SystemFiles } from '../platform/files/watched-files.ts';
import { openWorker } from '../platform/host/workers.ts';

export function composeFiles(
  { accounts, onFault, runtimeDirectory, spawn, toolEnvironment }: Shared,
  room: MemoryBudget,
): FilesContext {
  const paths = new PathResolver(accounts);
  const findRipgrep = () => {
    const program = findTrustedProgram('rg', toolEnvironment['PATH'] ?? '');
    const onKept = (error: unknown) => onFault('ripgrep could not be put away', error);
    return program === null ? null : new RipgrepGrep({ program, spawn, onFault: onKept });
  };
  // Loaded with the first search for a type, because most daemons never have one.
  const fileTypes = async () => (await import('../assets/tables/file-types.txt', { with: { type: 'text' } })).default;
  const openDirectory = (path: string) => Directory.open(path);
  const parts = new Parts(`${runtimeDirectory}/parts`, openDirectory);
  void parts.clearStale().catch((error: unknown) => onFault('unfinished files could not be cleared', error));
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
    grep: new Grep({ paths, room, fileTypes }, findRipgrep, new BuiltInGrep(openWorker)),
    diff: unifiedDiff,
    mimeOf,
    room,
  };
}

export function composeWatchers({ logger }: Shared, { paths }: FilesContext): Watchers {
  return new Watchers({
    paths,
    files: new SystemFiles(),
    openEventQueue: Inotify.open,
    onFault: (what, error) => logger.warn(what, { reason: String(error) }),
    now: Date.now,
  });
}
