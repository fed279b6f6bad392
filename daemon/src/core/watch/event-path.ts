/** Formats event paths for clients. Paths that are not UTF-8 are percent-encoded. */
import { showPath } from '../../kit/text/path-text.ts';
import { joinPath } from './change.ts';
import type { Watcher } from './watcher.ts';

/** `path` is the path of an event, relative to the watched path. */
export function absolutePath({ spec }: Watcher, path: string): string {
  if (path === '') return showPath(spec.path);
  return showPath(spec.path === '/' ? `/${path}` : joinPath(spec.path, path));
}

/** `.` is the watched path itself. */
export function relativePath(path: string): string {
  if (path === '') return '.';
  const shown = showPath(`/${path}`);
  return shown.startsWith('file:///') ? shown.slice('file:///'.length) : path;
}
