/** The wire shapes of watchers and their events. */
import { z } from 'zod';
import { eventTypes } from '../../core/watch/change.ts';
import { backends, watcherStatuses } from '../../core/watch/watcher.ts';

const cursor = z.number().int().min(0);

export const WatcherRecord = z
  .object({
    watcher_id: z.string(),
    path: z.string().describe('The absolute watched path.'),
    recursive: z.boolean(),
    exclude: z.array(z.string()),
    include_patterns: z.array(z.string()),
    debounce: z.number().int().describe('Milliseconds.'),
    status: z.enum(watcherStatuses).describe('gone: the watched path no longer exists, and no more events come.'),
    subscribers: z.number().int().describe('Each POST adds one, each DELETE takes one.'),
    backend: z.enum(backends).describe('polling where inotify is not available.'),
    warning: z.string().nullable().describe('Why the watcher is limited; null otherwise.'),
    event_count: z.number().int().describe('Events that are kept and can be polled.'),
    latest_seq: z.number().int().describe('The number of the newest event; 0 before the first one.'),
    created_at: z.string().describe('RFC 3339, UTC.'),
  })
  .meta({ id: 'Watcher' });

export const WatchEvent = z
  .object({
    seq: z.number().int().describe('Grows with each event; a number may be left out.'),
    type: z.enum(eventTypes),
    path: z.string(),
    relative_path: z.string().describe('Below the watched path; . is that itself.'),
    old_path: z.string().nullable().describe('The former path of a rename.'),
    is_dir: z.boolean(),
    timestamp: z.number().describe('Seconds since 1970.'),
    mtime: z.number().nullable().describe('Seconds since 1970; null, as size and inode, when the path is gone.'),
    size: z.number().int().nullable().describe('Bytes.'),
    inode: z.number().int().nullable(),
  })
  .meta({ id: 'WatchEvent' });

export const WatchPage = z
  .object({
    events: z.array(WatchEvent),
    cursor: cursor.describe('Pass it to the next poll.'),
    overflow: z.boolean().describe('Earlier events are lost: list the tree again, then apply these events.'),
    status: z.enum(watcherStatuses),
  })
  .meta({ id: 'WatchPage' });

export const WatchStarted = WatcherRecord.extend({ cursor: cursor.describe('Events after it follow.') }).meta({
  id: 'WatchStarted',
});
