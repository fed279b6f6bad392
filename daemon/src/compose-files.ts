/** Constructs the planes of files and of watchers. */
import { tmpdir } from 'node:os';
import { imageEnvironment } from './core/identity/environment.ts';
import type { FilesContext } from './core/files/context.ts';
import { EditHistory } from './core/files/edit-history.ts';
import { BuiltInGrep } from './core/files/grep/built-in.ts';
import { RipgrepGrep } from './core/files/grep/ripgrep.ts';
import { Grep } from './core/files/grep.ts';
import { Parts } from './core/files/parts.ts';
import { Turns } from './core/files/turns.ts';
import type { Accounts } from './core/identity/accounts.ts';
import { Places } from './core/identity/places.ts';
import { Watchers } from './core/watch/watchers.ts';
import type { Logger } from './kit/logger.ts';
import { copyContent, copyProperties } from './platform/copy-file.ts';
import { Directory } from './platform/directory.ts';
import { fileSlice } from './platform/file-slice.ts';
import { Inotify } from './platform/inotify.ts';
import { mimeOf } from './platform/media-types.ts';
import { findTrustedProgram } from './platform/programs.ts';
import type { Spawn } from './platform/spawn.ts';
import { TreeWriter } from './platform/tree-writer.ts';
import { unifiedDiff } from './platform/unified-diff.ts';
import { SystemFiles } from './platform/watched-files.ts';
import { openWorker } from './platform/workers.ts';

export interface FilesInputs {
  readonly accounts: Accounts;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly runtimeDirectory: string;
  readonly spawn: Spawn;
}

export function composeFiles({ accounts, environment, logger, runtimeDirectory, spawn }: FilesInputs): FilesContext {
  const places = new Places(accounts);
  const onFault = (error: unknown) => logger.error('ripgrep could not be put away', { reason: String(error) });
  const findRipgrep = () => {
    const program = findTrustedProgram('rg', imageEnvironment(environment)['PATH'] ?? '');
    return program === null ? null : new RipgrepGrep({ program, spawn, onFault });
  };
  const openDirectory = (path: string) => Directory.open(path);
  return {
    accounts,
    places,
    openDirectory,
    copyContent,
    copyProperties,
    parts: new Parts(`${runtimeDirectory}/parts`, openDirectory),
    newFileMode: 0o666 & ~process.umask(), // Asking for it changes it for a moment: nothing is made meanwhile.
    temporaryDirectory: tmpdir(),
    fileSlice,
    treeWriter: (directory, owner) => new TreeWriter(directory, owner),
    turns: new Turns(),
    edits: new EditHistory(),
    grep: new Grep({ places }, findRipgrep, new BuiltInGrep(openWorker)),
    diff: unifiedDiff,
    mimeOf,
  };
}

export function composeWatchers(places: Places, logger: Logger): Watchers {
  return new Watchers({
    places,
    files: new SystemFiles(),
    openEventQueue: Inotify.open,
    onFault: (what, error) => logger.warn(what, { reason: String(error) }),
    now: Date.now,
  });
}
