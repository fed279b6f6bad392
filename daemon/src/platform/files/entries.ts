/** Reads the names in a directory, exactly, with what the file system says about them. */
import { promises as fs, readdirSync, type Dirent } from 'node:fs';
import { decodePath } from '../../kit/text/path-text.ts';

export interface Entry {
  readonly name: string;
  /** True when the file system reports a regular file; not every file system reports kinds. */
  readonly isFile: boolean;
}

export async function readNames(path: string | Buffer): Promise<string[]> {
  const names = await fs.readdir(path);
  return names.some(isInexact) ? exact(await fs.readdir(path, { encoding: 'buffer' })) : names;
}

export async function readEntries(path: string | Buffer): Promise<Entry[]> {
  const found = await fs.readdir(path, { withFileTypes: true });
  if (!found.some(({ name }) => isInexact(name))) return entriesOf(found);
  return withKinds(exact(await fs.readdir(path, { encoding: 'buffer' })), found);
}

/** Blocks the daemon while it reads. */
export function readEntriesNow(path: string | Buffer): Entry[] {
  const found = readdirSync(path, { withFileTypes: true });
  if (!found.some(({ name }) => isInexact(name))) return entriesOf(found);
  return withKinds(exact(readdirSync(path, { encoding: 'buffer' })), found);
}

/** Whether the runtime may have replaced bytes that are not UTF-8. Names as bytes take four times as long to read. */
function isInexact(name: string): boolean {
  return name.includes('\ufffd');
}

function exact(names: readonly Buffer[]): string[] {
  return names.map((name) => decodePath(name));
}

function entriesOf(found: readonly Dirent[]): Entry[] {
  return found.map((entry) => ({ name: entry.name, isFile: entry.isFile() }));
}

/** A name that the runtime has changed is of no known kind. */
function withKinds(names: readonly string[], found: readonly Dirent[]): Entry[] {
  const files = new Set(found.filter((entry) => entry.isFile()).map(({ name }) => name));
  return names.map((name) => ({ name, isFile: files.has(name) }));
}
