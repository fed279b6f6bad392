/** Where an event is, as clients see paths: percent-encoded where they are not UTF-8. */
import { showPath } from '../../kit/path-text.ts';
import { joinPath } from './change.ts';
import type { Watcher } from './watcher.ts';

/** `path` is that of an event, below the watched one. */
export function absolutePlace({ spec }: Watcher, path: string): string {
  if (path === '') return showPath(spec.path);
  return showPath(spec.path === '/' ? `/${path}` : joinPath(spec.path, path));
}

/** `.` is the watched path itself. */
export function relativePlace(path: string): string {
  if (path === '') return '.';
  const shown = showPath(`/${path}`);
  return shown.startsWith('file:///') ? shown.slice('file:///'.length) : path;
}
