/** Reads a directory that a running daemon changes: a file removed during the read counts as absent. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every regular file below `directory` that still exists, with its bytes. */
export function liveFiles(directory: string): { readonly path: string; readonly bytes: Buffer }[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, bytes: readLive(path) }))
    .filter((file): file is { path: string; bytes: Buffer } => file.bytes !== null);
}

function readLive(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
