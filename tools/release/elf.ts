/** Reads the machine, the loader and the needed libraries from a 64-bit ELF file. */

export interface Elf {
  readonly machine: 'x64' | 'arm64' | 'other';
  /** The loader that the file names. Null for a static program and for a library. */
  readonly interpreter: string | null;
  readonly needed: readonly string[];
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly fileBytes: number;
}

const segmentType = { load: 1, dynamic: 2, interpreter: 3 } as const;
const dynamicTag = { needed: 1, stringTable: 5 } as const;
const machines: Readonly<Record<number, Elf['machine']>> = { 62: 'x64', 183: 'arm64' };

export function readElf(bytes: Uint8Array): Elf {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error('no ELF file of 64 bits, little endian');
  const segments = readSegments(file);
  return {
    machine: machines[file.readUInt16LE(18)] ?? 'other',
    interpreter: segments.filter(({ type }) => type === segmentType.interpreter).map(textIn(file))[0] ?? null,
    needed: readNeeded(file, segments),
  };
}

function readSegments(file: Buffer): Segment[] {
  const start = Number(file.readBigUInt64LE(32));
  const size = file.readUInt16LE(54);
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const at = start + index * size;
    return {
      type: file.readUInt32LE(at),
      offset: Number(file.readBigUInt64LE(at + 8)),
      address: Number(file.readBigUInt64LE(at + 16)),
      fileBytes: Number(file.readBigUInt64LE(at + 32)),
    };
  });
}

const textIn =
  (file: Buffer) =>
  ({ offset }: Segment): string =>
    textAt(file, offset);

function textAt(file: Buffer, at: number): string {
  return file.toString('latin1', at, file.indexOf(0, at));
}

function readNeeded(file: Buffer, segments: readonly Segment[]): string[] {
  const entries = segments.filter(({ type }) => type === segmentType.dynamic).flatMap((one) => readDynamic(file, one));
  const strings = entries.find(({ tag }) => tag === dynamicTag.stringTable);
  if (!strings) return [];
  const base = offsetOf(strings.value, segments);
  return entries.filter(({ tag }) => tag === dynamicTag.needed).map(({ value }) => textAt(file, base + value));
}

function readDynamic(file: Buffer, { offset, fileBytes }: Segment): { tag: number; value: number }[] {
  return Array.from({ length: Math.floor(fileBytes / 16) }, (_, index) => ({
    tag: Number(file.readBigUInt64LE(offset + index * 16)),
    value: Number(file.readBigUInt64LE(offset + index * 16 + 8)),
  }));
}

/** The file offset of the byte that is loaded at an address. */
function offsetOf(address: number, segments: readonly Segment[]): number {
  const segment = segments.find(
    ({ type, address: start, fileBytes }) =>
      type === segmentType.load && address >= start && address < start + fileBytes,
  );
  if (!segment) throw new Error('the ELF file names an address that it does not load');
  return segment.offset + address - segment.address;
}
