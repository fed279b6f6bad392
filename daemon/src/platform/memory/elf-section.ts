/** Finds a section of an ELF file (elf(5)) by its name: 64 bits, little endian. */
import { closeSync, openSync, readSync } from 'node:fs';

export interface ElfSection {
  /** Position in the file. */
  readonly offset: number;
  readonly bytes: number;
}

const headerBytes = 64;
const magic = '\x7fELF\x02\x01';

/** null for another kind of file, and for a file without the section. Throws the system's error. */
export function elfSection(path: string, name: string): ElfSection | null {
  const descriptor = openSync(path, 'r');
  try {
    return findSection((offset, length) => readAt(descriptor, offset, length), name);
  } finally {
    closeSync(descriptor);
  }
}

type Read = (offset: number, length: number) => Buffer;

function findSection(read: Read, name: string): ElfSection | null {
  const header = read(0, headerBytes);
  if (header.length < headerBytes || !header.toString('latin1').startsWith(magic)) return null;
  const [entryBytes, count, namesIndex] = [58, 60, 62].map((at) => header.readUInt16LE(at)) as [number, number, number];
  const table = read(Number(header.readBigUInt64LE(40)), entryBytes * count);
  const entries = Array.from({ length: count }, (_, index) => table.subarray(index * entryBytes));
  const names = entries[namesIndex];
  if (!names) return null;
  const { offset, bytes } = rangeOf(names);
  const texts = read(offset, bytes).toString('latin1');
  const found = entries.find((entry) => texts.startsWith(`${name}\0`, entry.readUInt32LE(0)));
  return found ? rangeOf(found) : null;
}

function rangeOf(entry: Buffer): ElfSection {
  return { offset: Number(entry.readBigUInt64LE(24)), bytes: Number(entry.readBigUInt64LE(32)) };
}

function readAt(descriptor: number, offset: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, offset));
}
