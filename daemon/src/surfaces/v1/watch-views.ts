/** The wire shapes of 1.x watchers and their events. */
import { z } from 'zod';
import { eventTypes } from '../../core/watch/change.ts';
import { watcherStatuses, type Watcher } from '../../core/watch/watcher.ts';
import { watcherRecord as wholeRecord } from '../../operations/watch/views.ts';

export const WatcherRecord = z.object({
  watcher_id: z.string(),
  path: z.string(),
  recursive: z.boolean(),
  exclude: z.array(z.string()),
  include_patterns: z.array(z.string()),
  debounce: z.number().int().describe('Milliseconds.'),
  status: z.enum(watcherStatuses).describe('gone: the watched path no longer exists.'),
  event_count: z.number().int().describe('Events that are kept and can be polled.'),
  latest_seq: z.number().int().describe('The number of the newest event; 0 before the first one.'),
  created_at: z.string().describe('RFC 3339, UTC.'),
});

export const WatchEvent = z.object({
  seq: z.number().int(),
  type: z.enum(eventTypes),
  path: z.string(),
  relative_path: z.string().describe('Below the watched path.'),
  old_path: z.string().nullable().describe('The former path of a rename.'),
  is_dir: z.boolean(),
  timestamp: z.number().describe('Seconds since 1970.'),
  mtime: z.number().nullable().describe('Seconds since 1970; null, as size and inode, when the path is gone.'),
  size: z.number().int().nullable().describe('Bytes.'),
  inode: z.number().int().nullable(),
});

export function watcherRecord(watcher: Watcher): z.input<typeof WatcherRecord> {
  const { subscribers: _subscribers, backend: _backend, warning: _warning, ...record } = wholeRecord(watcher);
  return record;
}
