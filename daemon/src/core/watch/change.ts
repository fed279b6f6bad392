/** What happens below a watched directory, as a source sees it and as it is told. */

export const eventTypes = ['create', 'write', 'remove', 'rename', 'chmod'] as const;
export type EventType = (typeof eventTypes)[number];

/** Paths are below the watched root, without a `/` at either end; the root itself is the empty one. */
export interface Change {
  readonly type: EventType;
  readonly path: string;
  /** Of a rename; null otherwise. */
  readonly oldPath: string | null;
  readonly isDirectory: boolean;
  /** When it was learnt of, in ms of the clock that never jumps. */
  readonly atMs: number;
  /** A create that may have replaced what was there: such a one is not undone by a remove. */
  readonly mayReplace?: boolean;
  /** A remove of a directory that may still have had entries, which are gone with it. */
  readonly isWhole?: boolean;
}

export interface ChangeSink {
  change(change: Change): void;
  /** Something may have been missed; all that comes from now on is told again. */
  lost(): void;
  /** The root is no longer there; nothing comes any more. */
  gone(): void;
  /** It cannot go on in this way: another source has to. */
  failed(error: unknown): void;
}

/** Where changes come from: inotify, or looking again and again. */
export interface ChangeSource {
  /** Resolves when all that happens from now on is told. Throws what the file system refuses. */
  open(): Promise<void>;
  close(): void;
}

export function joinPath(parent: string, name: string): string {
  return parent === '' ? name : `${parent}/${name}`;
}
