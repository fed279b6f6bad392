/** What a client notes about a file: extended attributes, which the headers of an upload set. */
import { CoreError } from '../../kit/errors.ts';

export interface FileAttributes {
  /** False where the file system keeps none. */
  replace(fd: number, prefix: string, values: ReadonlyMap<string, string>): boolean;
  /** Without the prefix in their names. Throws for a missing file. */
  of(path: string, prefix: string): ReadonlyMap<string, string>;
}

export const attributePrefix = 'user.e2b.';
const headerPrefix = 'x-metadata-';
const [maxKeyBytes, maxBytes] = [246, 4096];

/** Throws `bad_argument` for what a file cannot keep. */
export function metadataIn(headers: Headers): ReadonlyMap<string, string> {
  const given = [...headers]
    .filter(([name]) => name.startsWith(headerPrefix))
    .map(([name, value]) => [name.slice(headerPrefix.length), value] as const);
  let bytes = 0;
  for (const [key, value] of given) {
    if (key === '' || key.length > maxKeyBytes)
      throw new CoreError('bad_argument', `the key of metadata has to have 1 to ${maxKeyBytes} characters`);
    if (!/^[\x20-\x7e]*$/.test(value))
      throw new CoreError('bad_argument', `the metadata ${key} is not printable ASCII`);
    bytes += attributePrefix.length + key.length + value.length;
  }
  if (bytes > maxBytes) throw new CoreError('bad_argument', `the metadata has more than ${maxBytes} bytes`);
  return new Map(given);
}
