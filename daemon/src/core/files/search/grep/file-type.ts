/** Looks up ripgrep's file types in a table of names and globs. */
import { readTable } from '../../../../kit/text/table.ts';
import { type FileType, PatternError } from './query.ts';

/** `table` is the text of `assets/tables/file-types.txt`. */
export function fileTypeNamed(name: string, table: string): FileType {
  const globs = readTable(table).find(([type]) => type === name);
  return { name, globs: globs?.slice(1) ?? null };
}

/** Returns the globs of a file type. Throws `PatternError`. */
export function typeGlobs({ name, globs }: FileType): readonly string[] {
  if (!globs) throw new PatternError(`unrecognized file type: ${name}`);
  return globs;
}
