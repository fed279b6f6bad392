/** The wire shapes of watchers and their events. */
import { z } from 'zod';
import { watchEnds } from '../../core/watch/watch-event.ts';
import { watcherStatuses } from '../../core/watch/watcher.ts';
import { EventFields, WatcherFields } from '../../operations/watch/views.ts';
import { namedObject } from '../../operations/inputs.ts';

const cursor = z.int().min(0);

export const WatcherRecord = WatcherFields.meta({ id: 'Watcher' });
export const WatchEvent = EventFields.meta({ id: 'WatchEvent' });

export const WatchPage = namedObject('WatchPage', {
  events: z.array(WatchEvent),
  cursor: cursor.describe('Pass it to the next poll.'),
  overflow: z.boolean().describe('Earlier events are lost: list the tree again, then apply these events.'),
  status: z.enum(watcherStatuses),
});

export const WatchStarted = WatcherRecord.extend({ cursor: cursor.describe('Events after it follow.') }).meta({
  id: 'WatchStarted',
});

const position = { watcher_id: z.string(), cursor: cursor.describe('Where the stream is.') };

export const WatchOverflow = z
  .object(position)
  .meta({ id: 'WatchOverflow', description: 'Earlier events are lost: list the tree again, then apply what follows.' });

export const WatchEnded = z
  .object({ ...position, reason: z.enum(watchEnds) })
  .meta({ id: 'WatchEnded', description: 'The last event of the stream.' });
