/** Defines changes below a watched directory, and the interface between sources and watchers. */

export const eventTypes = ['create', 'write', 'remove', 'rename', 'chmod'] as const;
export type EventType = (typeof eventTypes)[number];

/** Paths are relative to the watched root, without a leading or trailing `/`. The path of the root is empty. */
export interface Change {
  readonly type: EventType;
  readonly path: string;
  /** The previous path in a rename; otherwise null. */
  readonly oldPath: string | null;
  readonly isDirectory: boolean;
  /** When the daemon noticed the change, in ms on the monotonic clock. */
  readonly atMs: number;
  /** A create that may have replaced an existing entry. A later remove does not cancel such a create. */
  readonly mayReplace?: boolean;
  /** The removed directory may still have had entries, which are removed with it. */
  readonly isWhole?: boolean;
}

export interface ChangeSink {
  change(change: Change): void;
  /** Changes may have been missed. All later changes are reported again. */
  lost(): void;
  /** The root no longer exists, and no more changes will come. */
  gone(): void;
  /** The source failed and must be replaced by another source. */
  failed(error: unknown): void;
}

/** A source of changes: inotify or polling. */
export interface ChangeSource {
  /** Resolves when all later changes will be reported. Throws the error of the file system. */
  open(): Promise<void>;
  close(): void;
}

export function joinPath(parent: string, name: string): string {
  return parent === '' ? name : `${parent}/${name}`;
}
