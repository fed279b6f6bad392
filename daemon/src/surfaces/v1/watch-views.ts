/** The wire shapes of 1.x watchers and their events. */
import type { z } from 'zod';
import type { Watcher } from '../../core/watch/watcher.ts';
import { EventFields, watcherRecord as wholeRecord, WatcherFields } from '../../operations/watch/views.ts';

export const WatcherRecord = WatcherFields.omit({ subscribers: true, backend: true, warning: true });
export const WatchEvent = EventFields;

export function watcherRecord(watcher: Watcher): z.input<typeof WatcherRecord> {
  const { subscribers: _subscribers, backend: _backend, warning: _warning, ...record } = wholeRecord(watcher);
  return record;
}
