/** Builds a release file: the native program, the compressed files, and the trailer (native/README.md). */
import { createHash } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';

export interface CarriedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Trailer {
  readonly offset: bigint;
  readonly length: bigint;
  readonly unpackedBytes: bigint;
  /** SHA-256 of the table and the compressed files. */
  readonly digest: Uint8Array;
}

export const nameBytes = 24;
const magic = 'SVCPAYL2';
/** Level 12 takes twice the time to save one part in eighty, level 19 thirty times the time to save one in ten. */
const compressionLevel = 9;
/** Unpacking needs this much memory. */
const windowLog = 22;

export function layOutRelease(program: Uint8Array, files: readonly CarriedFile[]): Buffer {
  return joinRelease(program, files, encodePayload(files));
}

/** Accepts a damaged payload and wrong numbers, for tests that a damaged release is refused. */
export function joinRelease(
  program: Uint8Array,
  files: readonly CarriedFile[],
  payload: Uint8Array,
  changes: Partial<Trailer> = {},
): Buffer {
  const trailer = {
    offset: BigInt(program.length),
    length: BigInt(payload.length),
    unpackedBytes: BigInt(files.reduce((total, { bytes }) => total + bytes.length, 0)),
    digest: digestOf(payload),
    ...changes,
  };
  return Buffer.concat([program, payload, encodeTrailer(trailer)]);
}

export function encodePayload(files: readonly CarriedFile[]): Buffer {
  return Buffer.concat([encodeTable(files), compress(Buffer.concat(files.map(({ bytes }) => bytes)))]);
}

/** The number of files. Then the size and the name of each file, padded with zeroes. */
export function encodeTable(files: readonly CarriedFile[]): Buffer {
  const count = Buffer.alloc(8);
  count.writeBigUInt64LE(BigInt(files.length));
  const rows = files.map(({ name, bytes }) => {
    const row = Buffer.alloc(8 + nameBytes);
    row.writeBigUInt64LE(BigInt(bytes.length));
    row.write(name, 8);
    return row;
  });
  return Buffer.concat([count, ...rows]);
}

/** Includes a checksum of the content, which is verified while unpacking. */
export function compress(content: Uint8Array): Buffer {
  return zstdCompressSync(content, {
    params: {
      [constants.ZSTD_c_compressionLevel]: compressionLevel,
      [constants.ZSTD_c_windowLog]: windowLog,
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
}

export function digestOf(payload: Uint8Array): Buffer {
  return createHash('sha256').update(payload).digest();
}

function encodeTrailer({ offset, length, unpackedBytes, digest }: Trailer): Buffer {
  const head = Buffer.alloc(32);
  head.write(magic, 0, 'latin1');
  head.writeBigUInt64LE(offset, 8);
  head.writeBigUInt64LE(length, 16);
  head.writeBigUInt64LE(unpackedBytes, 24);
  return Buffer.concat([head, digest]);
}
