/** How the protocol shows a file. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { posix } from 'node:path';
import { statFile, type FileStat } from '../../core/files/read/stat.ts';
import { nullOn } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';
import { showName } from '../../kit/text/path-text.ts';
import type { E2bDeps } from './app.ts';
import { attributePrefix } from './metadata.ts';
import { FileType, type EntryInfoSchema } from './wire/filesystem_pb.ts';

export type EntryInfo = MessageInitShape<typeof EntryInfoSchema>;

type EntryDeps = Pick<E2bDeps, 'files' | 'attributes'>;

/** The path is absolute. Throws a `FileFailure`. */
export async function entryOf({ files, attributes }: EntryDeps, path: string): Promise<EntryInfo> {
  const link = await statFile(files, { path, user: null, followSymlinks: false });
  const target = link.isSymlink
    ? await nullOn(CoreError, statFile(files, { path, user: null, followSymlinks: true })) // It may lead nowhere.
    : link;
  return {
    name: showName(posix.basename(link.path)),
    type: typeOf(target),
    path: showName(link.path),
    size: BigInt(link.size),
    mode: (target ?? link).mode & 0o777,
    permissions: permissionsOf(link),
    owner: link.owner ?? String(link.uid),
    group: link.group ?? String(link.gid),
    modifiedTime: timestampFromMs(link.modifiedMs),
    isSymlink: link.isSymlink,
    metadata: Object.fromEntries(attributes.of(link.path, attributePrefix)),
    ...(link.isSymlink && { symlinkTarget: showName((target && link.realPath) ?? link.path) }),
  };
}

const [typeBits, regular] = [0o170_000, 0o100_000];

function typeOf(stat: FileStat | null): FileType {
  if (!stat) return FileType.UNSPECIFIED;
  if (stat.isDirectory) return FileType.DIRECTORY;
  return (stat.mode & typeBits) === regular ? FileType.FILE : FileType.UNSPECIFIED;
}

/** The letters of Go's `FileMode`, in its order: one for each bit that is set, else a dash. */
const letters: readonly (readonly [is: (mode: number) => boolean, letter: string])[] = [
  [(mode) => (mode & typeBits) === 0o040_000, 'd'],
  [(mode) => (mode & typeBits) === 0o120_000, 'L'],
  [(mode) => [0o060_000, 0o020_000].includes(mode & typeBits), 'D'],
  [(mode) => (mode & typeBits) === 0o010_000, 'p'],
  [(mode) => (mode & typeBits) === 0o140_000, 'S'],
  [(mode) => (mode & 0o4000) !== 0, 'u'],
  [(mode) => (mode & 0o2000) !== 0, 'g'],
  [(mode) => (mode & typeBits) === 0o020_000, 'c'],
  [(mode) => (mode & 0o1000) !== 0, 't'],
];

function permissionsOf({ mode }: FileStat): string {
  const kind = letters.map(([is, letter]) => (is(mode) ? letter : '')).join('') || '-';
  const bits = Array.from('rwxrwxrwx', (letter, at) => (mode & (0o400 >> at) ? letter : '-')).join('');
  return `${kind}${bits}`;
}
