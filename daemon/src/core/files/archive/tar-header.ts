/**
 * Encodes and decodes tar headers: blocks of 512 bytes in the GNU tar format, which every current tar reads.
 *
 * The project does not use a library, because libraries decode the names in pax records as UTF-8. A name that is not
 * UTF-8 would change (docs/decisions/0006-files.md).
 */
import { decodePath, encodePath, systemPath } from '../../../kit/text/path-text.ts';

export const blockBytes = 512;

export type TarKind = 'file' | 'directory' | 'symlink' | 'hardlink';

export interface TarMember {
  /** Encoded as in `kit/text/path-text.ts`. */
  readonly name: string;
  readonly kind: TarKind;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Size of the content that follows; 0 for everything except files. */
  readonly size: number;
  /** Seconds since 1970. */
  readonly modifiedSeconds: number;
  /** For a symbolic link, the link text. For a hard link, the name of the earlier member. Otherwise empty. */
  readonly target: string;
  readonly owner: string;
  readonly group: string;
}

const flags = { file: '0', hardlink: '1', symlink: '2', directory: '5' } as const;
const nameBytes = 100;

/**
 * Writes one block, after extra blocks for a name or a target that is too long for one block. `space` returns the next
 * so many bytes of the archive.
 */
export function writeHeader(member: TarMember, space: (length: number) => Buffer): void {
  const name = member.kind === 'directory' ? `${member.name}/` : member.name;
  const isLong = { target: !fits(member.target), name: !fits(name) };
  if (isLong.target) writeLongText(member.target, 'K', space);
  if (isLong.name) writeLongText(name, 'L', space);
  const header = space(blockBytes);
  emptyHeader.copy(header);
  putPath(header, 0, name);
  putPath(header, 157, member.target);
  putNumber(header, 100, 8, member.mode);
  putNumber(header, 108, 8, member.uid);
  putNumber(header, 116, 8, member.gid);
  putNumber(header, 136, 12, member.modifiedSeconds);
  putText(header, 265, member.owner);
  putText(header, 297, member.group);
  finish(header, flags[member.kind], member.size);
}

/** Keyword of the pax record that contains the reason for an early end. */
export const errorKeyword = 'SVC.error';
/** Keyword of the pax record that lists what is not in the archive. */
export const skippedKeyword = 'SVC.skipped';

/** Not a valid header. GNU tar accepts an archive without the two empty end blocks, but fails at this block. */
const damagedBlock = Buffer.alloc(blockBytes, 'this archive ends early\n');

/** Ends an incomplete archive with the reason and a damaged block. */
export function encodeEarlyEnd(reason: string): Buffer {
  return Buffer.concat([encodeRecord(errorKeyword, reason), damagedBlock]);
}

/** A global pax header (POSIX) with one record. A tar ignores a keyword that it does not know. */
export function encodeRecord(keyword: string, value: string): Buffer {
  const rest = encodePath(` ${keyword}=${value}\n`);
  let length = rest.length + String(rest.length).length;
  length = rest.length + String(length).length; // The length includes its own digits.
  const record = Buffer.concat([Buffer.from(String(length)), rest]);
  const header = namedHeader('pax_global_header', 'g', record.length);
  return Buffer.concat([header, record, Buffer.alloc(paddingOf(record.length))]);
}

/** The set-user-id and set-group-id bits of a mode, which no archive carries in or out. */
export const setIdBits = 0o6000;

/** Two empty blocks. */
export const archiveEnd = Buffer.alloc(2 * blockBytes);

/** Number of bytes from the end of the content to the end of its last block. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** Whether the bytes of a path have room in a block. A stray byte counts as three first. */
function fits(path: string): boolean {
  return Buffer.byteLength(path) <= nameBytes || encodePath(path).length <= nameBytes;
}

function writeLongText(path: string, flag: 'K' | 'L', space: (length: number) => Buffer): void {
  const text = encodePath(path);
  const size = text.length + 1; // GNU tar counts the terminating NUL byte.
  space(blockBytes).set(namedHeader('../@LongLink', flag, size));
  const content = space(size + paddingOf(size));
  content.fill(0, text.copy(content));
}

/** A header of an empty file without a name. */
const emptyHeader = Buffer.alloc(blockBytes);
emptyHeader.write('0000000\0'.repeat(3), 100, 'latin1');
emptyHeader.write('00000000000\0'.repeat(2), 124, 'latin1');
emptyHeader.write('ustar  \0', 257, 'latin1');

function namedHeader(name: string, flag: string, size: number): Buffer {
  const header = Buffer.from(emptyHeader);
  header.write(name);
  return finish(header, flag, size);
}

/** Adds the kind, the size and the checksum. */
function finish(header: Buffer, flag: string, size: number): Buffer {
  putNumber(header, 124, 12, size);
  header[156] = flag.charCodeAt(0);
  putNumber(header, 148, 7, sumOf(header));
  header[155] = 0x20;
  return header;
}

/** Cuts a path that does not fit. */
function putPath(header: Buffer, at: number, path: string): void {
  const text = systemPath(path);
  if (typeof text === 'string' && Buffer.byteLength(text) <= nameBytes) header.write(text, at);
  else encodePath(path).copy(header, at, 0, nameBytes);
}

/** Writes octal digits, or GNU's big-endian form if the digits do not fit. */
function putNumber(header: Buffer, at: number, length: number, value: number): void {
  if (value < 0 || value >= 8 ** (length - 1)) return putBinary(header, at, length, value);
  let rest = value;
  for (let i = at + length - 2; i >= at; i--) {
    header[i] = 0x30 + (rest % 8);
    rest = Math.floor(rest / 8);
  }
}

function putBinary(header: Buffer, at: number, length: number, value: number): void {
  let rest = BigInt.asUintN(length * 8, BigInt(value));
  for (let i = at + length - 1; i >= at; i--) {
    header[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  header[at] = (header[at] ?? 0) | 0x80;
}

const accountBytes = 31;

/** Leaves out an account name that does not fit. The header also contains the numeric id. */
function putText(header: Buffer, at: number, text: string): void {
  if (Buffer.byteLength(text) <= accountBytes) header.write(text, at);
}

/** The fields of a header block, before validation. */
export interface RawHeader extends Omit<TarMember, 'kind' | 'owner' | 'group'> {
  readonly flag: string;
}

/** null for an invalid header: a wrong checksum or an invalid number. */
export function decodeHeader(block: Buffer): RawHeader | null {
  if (readNumber(block, 148, 8) !== sumOf(block)) return null;
  const numbers = {
    mode: readNumber(block, 100, 8),
    uid: readNumber(block, 108, 8),
    gid: readNumber(block, 116, 8),
    size: readNumber(block, 124, 12),
    modifiedSeconds: readNumber(block, 136, 12),
  };
  if (Object.values(numbers).some(Number.isNaN) || numbers.size < 0) return null;
  // Only the POSIX format has a prefix. The GNU format stores times there.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? readText(block, 345, 155) : '';
  const name = readText(block, 0, nameBytes);
  return {
    ...numbers,
    name: prefix === '' ? name : `${prefix}/${name}`,
    flag: String.fromCharCode(block[156] ?? 0),
    target: readText(block, 157, nameBytes),
  };
}

/** Reads up to a NUL byte or to the end of the field. */
export function readText(bytes: Buffer, from: number, length: number): string {
  const end = bytes.subarray(from, from + length).indexOf(0);
  return decodePath(bytes.subarray(from, end === -1 ? from + length : from + end));
}

/** NaN for an invalid number. */
function readNumber(block: Buffer, at: number, length: number): number {
  const first = block[at] ?? 0;
  if ((first & 0x80) !== 0) return readBinary(block.subarray(at, at + length));
  const text = block.toString('latin1', at, at + length).replace(/^ +/, '');
  const digits = /^([0-7]*)[\0 ]/.exec(`${text}\0`)?.[1];
  if (digits === undefined) return Number.NaN;
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function readBinary(bytes: Buffer): number {
  let value = BigInt((bytes[0] ?? 0) & 0x7f);
  for (const byte of bytes.subarray(1)) value = (value << 8n) | BigInt(byte);
  const signed = BigInt.asIntN(bytes.length * 8 - 1, value);
  return signed > BigInt(Number.MAX_SAFE_INTEGER) || signed < BigInt(Number.MIN_SAFE_INTEGER)
    ? Number.NaN
    : Number(signed);
}

/** Checksum of the block. The checksum field itself counts as blanks. */
function sumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let i = 0; i < 148; i++) sum += block[i] ?? 0;
  for (let i = 156; i < blockBytes; i++) sum += block[i] ?? 0;
  return sum;
}

/** Decodes the records of a pax header (POSIX). Returns null for malformed records. */
export function decodePax(bytes: Buffer): ReadonlyMap<string, string> | null {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const blank = bytes.indexOf(0x20, at);
    const length = blank === -1 ? Number.NaN : Number(bytes.toString('latin1', at, blank));
    const end = at + length;
    if (!Number.isSafeInteger(length) || end > bytes.length || bytes[end - 1] !== 0x0a) return null;
    const equals = bytes.indexOf(0x3d, blank);
    if (equals === -1 || equals >= end) return null;
    records.set(bytes.toString('utf8', blank + 1, equals), decodePath(bytes.subarray(equals + 1, end - 1)));
    at = end;
  }
  return records;
}
