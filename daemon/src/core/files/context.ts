/** Lists the dependencies of the file operations, and what each is asked for. */
import type { copyContent, copyProperties } from '../../platform/files/copy-file.ts';
import type { Directory } from '../../platform/files/directory.ts';
import type { readDirectory } from '../../platform/files/read-directory.ts';
import type { TreeWriter } from '../../platform/files/tree-writer.ts';
import type { MemoryBudget } from '../../kit/memory-budget.ts';
import type { Owner } from '../../kit/types/owner.ts';
import type { Accounts } from '../identity/accounts.ts';
import type { Grep } from './search/grep.ts';
import type { PathResolver } from '../processes/directory.ts';
import type { EditHistory } from './write/edit-history.ts';
import type { OpenDirectory } from './open-directory.ts';
import type { Parts } from './parts.ts';
import type { KeyedMutex } from './write/keyed-mutex.ts';

/** What every operation on one path is asked for. */
export interface FileRequest {
  readonly path: string;
  /** Owns what is created, and `~` is its home; null is the default account. */
  readonly user: string | null;
}

export interface FilesContext {
  readonly accounts: Accounts;
  readonly paths: PathResolver;
  /** Opens a directory, following links in the path. */
  readonly openDirectory: OpenDirectory;
  readonly readDirectory: typeof readDirectory;
  readonly copyContent: typeof copyContent;
  readonly copyProperties: typeof copyProperties;
  readonly parts: Parts;
  readonly newFileMode: number;
  /** The directory for uploads without a path and for temporary directories. */
  readonly temporaryDirectory: string;
  /** A range of an open file that the runtime sends directly. The file must stay open until the range is sent. */
  readonly fileSlice: (descriptor: number, from: number, to: number) => Blob | null;
  /** Returns the media type for the extension of a path. */
  readonly mimeOf: (path: string) => string;
  /** Creates a writer that fills a new directory for an owner; null is the daemon's account. */
  readonly treeWriter: (directory: Directory, owner: Owner | null) => TreeWriter;
  /** Serializes the changes of each file, by the key of its target. */
  readonly fileLocks: KeyedMutex;
  readonly edits: EditHistory;
  /** Returns a unified diff, or null when a diff would not be useful. */
  readonly diff: (path: string, before: string, after: string) => Promise<string | null>;
  readonly grep: Grep;
  /** Admits what is read whole into memory. */
  readonly room: MemoryBudget;
}
