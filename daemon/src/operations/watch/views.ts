/** Gives watchers and their events the shape in which every surface shows them. */
import { absolutePath, relativePath } from '../../core/watch/event-path.ts';
import type { WatchEvent } from '../../core/watch/event-ring.ts';
import type { Watcher } from '../../core/watch/watcher.ts';
import { showPath } from '../../kit/text/path-text.ts';

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
