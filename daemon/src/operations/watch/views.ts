/** Gives watchers and their events the shape in which every surface shows them. */
import { z } from 'zod';
import { eventTypes } from '../../core/watch/change.ts';
import { absolutePath, relativePath } from '../../core/watch/event-path.ts';
import type { WatchEvent } from '../../core/watch/watch-event.ts';
import { backends, watcherStatuses, type Watcher } from '../../core/watch/watcher.ts';
import { showPath } from '../../kit/text/path-text.ts';

export const WatcherFields = z.object({
  watcher_id: z.string(),
  path: z.string().describe('The absolute watched path.'),
  recursive: z.boolean(),
  exclude: z.array(z.string()),
  include_patterns: z.array(z.string()),
  debounce: z.int().describe('Milliseconds.'),
  status: z.enum(watcherStatuses).describe('gone: the watched path no longer exists, and no more events come.'),
  subscribers: z.int().describe('Each POST adds one, each DELETE takes one.'),
  backend: z.enum(backends).describe('polling where inotify is not available.'),
  warning: z.string().nullable().describe('Why the watcher is limited; null otherwise.'),
  event_count: z.int().describe('Events that are kept and can be polled.'),
  latest_seq: z.int().describe('The number of the newest event; 0 before the first one.'),
  created_at: z.string().describe('RFC 3339, UTC.'),
});

export const EventFields = z.object({
  seq: z.int().describe('Grows with each event; a number may be left out.'),
  type: z.enum(eventTypes),
  path: z.string(),
  relative_path: z.string().describe('Below the watched path; . is that itself.'),
  old_path: z.string().nullable().describe('The former path of a rename.'),
  is_dir: z.boolean(),
  timestamp: z.number().describe('Seconds since 1970.'),
  mtime: z.number().nullable().describe('Seconds since 1970; null, as size and inode, when the path is gone.'),
  size: z.int().nullable().describe('Bytes.'),
  inode: z.int().nullable(),
});

export function watcherRecord(watcher: Watcher) {
  const { spec } = watcher;
  return {
    watcher_id: watcher.id,
    path: showPath(spec.path),
    recursive: spec.recursive,
    exclude: [...spec.exclude],
    include_patterns: [...spec.includePatterns],
    debounce: spec.debounceMs,
    status: watcher.status,
    subscribers: watcher.subscribers,
    backend: watcher.backend,
    warning: watcher.warning,
    event_count: watcher.ring.eventCount,
    latest_seq: watcher.ring.cursor,
    created_at: new Date(watcher.createdMs).toISOString(),
  };
}

export function watchEvent(watcher: Watcher, event: WatchEvent) {
  return {
    seq: event.seq,
    type: event.type,
    path: absolutePath(watcher, event.path),
    relative_path: relativePath(event.path),
    old_path: event.oldPath === null ? null : absolutePath(watcher, event.oldPath),
    is_dir: event.isDirectory,
    timestamp: event.atMs / 1000,
    mtime: event.modifiedMs === null ? null : event.modifiedMs / 1000,
    size: event.sizeBytes,
    inode: event.inode,
  };
}
