/** Reads small files of the system, such as those of proc(5). */
import { readFileSync } from 'node:fs';

/** Null when the file is not there, as after the end of its process, or may not be read. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
