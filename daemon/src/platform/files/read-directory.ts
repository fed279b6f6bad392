/** Reads a directory of any size: a small one with one call of the runtime, a large one in pieces of bounded memory. */
import { constants, promises as fs, type Dirent } from 'node:fs';
import { decodePath, systemPath } from '../../kit/text/path-text.ts';
import { nextEntries } from '../host/system-calls.ts';

export interface DirectoryEntry {
  readonly name: string;
  /** Unknown where the file system reports no kinds. */
  readonly kind: 'directory' | 'link' | 'other' | 'unknown';
}

/** Entries in the order of the file system: all of them, or one piece after the other. */
export type DirectoryPieces = readonly [readonly DirectoryEntry[]] | AsyncIterable<readonly DirectoryEntry[]>;

/** In bytes of the directory itself. A directory of this size has at most a few thousand entries. */
const smallBytes = 64 * 1024;
const pieceBytes = 32 * 1024;

/**
 * The file systems of the machine itself, by their statfs(2) magic numbers: btrfs, ext4, f2fs, overlayfs, tmpfs, XFS and
 * ZFS. A piece is read with a blocking call, which must not wait for a network or for the process behind a mount.
 */
const local = new Set([0x9123683e, 0xef53, 0xf2f52010, 0x794c7630, 0x01021994, 0x58465342, 0x2fc12fc1]);

/** Throws the error of the system. */
export async function readDirectory(path: string): Promise<DirectoryPieces> {
  const exact = systemPath(path);
  const { size } = await fs.stat(exact);
  if (size > smallBytes && local.has((await fs.statfs(exact)).type)) return pieces(exact);
  const entries = await fs.readdir(exact, { withFileTypes: true });
  if (!entries.some(({ name }) => name.includes('\ufffd'))) return [entries.map(entryOf)];
  // A name that is not UTF-8 can only be read as bytes, and the runtime returns bytes without kinds.
  const names = await fs.readdir(exact, { encoding: 'buffer' });
  return [names.map((name) => ({ name: decodePath(name), kind: 'unknown' }))];
}

function entryOf(entry: Dirent): DirectoryEntry {
  if (entry.isDirectory()) return { name: entry.name, kind: 'directory' };
  if (entry.isSymbolicLink()) return { name: entry.name, kind: 'link' };
  const isOther =
    entry.isFile() || entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return { name: entry.name, kind: isOther ? 'other' : 'unknown' };
}

async function* pieces(path: string | Buffer): AsyncGenerator<readonly DirectoryEntry[]> {
  await using directory = await fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const buffer = Buffer.alloc(pieceBytes);
  for (let length = 0; (length = nextEntries(directory.fd, buffer)) > 0;) yield entriesIn(buffer.subarray(0, length));
}

/** DT_UNKNOWN, DT_DIR and DT_LNK of readdir(3). */
const kinds: Readonly<Record<number, DirectoryEntry['kind']>> = { 0: 'unknown', 4: 'directory', 10: 'link' };

/** Reads the `linux_dirent64` records of getdents64(2): inode, offset, length of the record, kind, name. */
export function entriesIn(records: Buffer): DirectoryEntry[] {
  const entries: DirectoryEntry[] = [];
  for (let at = 0; at < records.length; at += records.readUInt16LE(at + 16)) {
    const start = at + 19;
    const end = records.indexOf(0, start);
    const text = records.toString('utf8', start, end);
    if (text === '.' || text === '..') continue;
    const name = text.includes('\ufffd') ? decodePath(records.subarray(start, end)) : text;
    entries.push({ name, kind: kinds[records[at + 18]!] ?? 'other' });
  }
  return entries;
}
