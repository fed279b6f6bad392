/** What the verbs of the files plane work with. */
import type { copyContent, copyProperties } from '../../platform/copy-file.ts';
import type { Directory } from '../../platform/directory.ts';
import type { TreeWriter } from '../../platform/tree-writer.ts';
import type { Accounts } from '../identity/accounts.ts';
import type { Grep } from './grep.ts';
import type { Places } from '../identity/places.ts';
import type { EditHistory } from './edit-history.ts';
import type { Owner } from './owner.ts';
import type { Parts } from './parts.ts';
import type { OpenDirectory } from './target.ts';
import type { Turns } from './turns.ts';

export interface FilesContext {
  readonly accounts: Accounts;
  readonly places: Places;
  /** Links on the way are followed. */
  readonly openDirectory: OpenDirectory;
  readonly copyContent: typeof copyContent;
  readonly copyProperties: typeof copyProperties;
  readonly parts: Parts;
  /** Permission bits of a new file that nobody gives others. */
  readonly newFileMode: number;
  /** The directory for what has no place of its own. */
  readonly temporaryDirectory: string;
  /** A range of an open file, to be sent by the runtime itself. The file stays open until that is done. */
  readonly fileSlice: (descriptor: number, from: number, to: number) => Blob;
  /** The media type that an extension stands for. */
  readonly mimeOf: (path: string) => string;
  /** What fills a new directory, for an owner; null is the daemon's account. */
  readonly treeWriter: (directory: Directory, owner: Owner | null) => TreeWriter;
  /** Of all that change a file, by the key of its target. */
  readonly turns: Turns;
  readonly edits: EditHistory;
  /** A unified diff of a file; null where it would say nothing. */
  readonly diff: (path: string, before: string, after: string) => Promise<string | null>;
  readonly grep: Grep;
}
