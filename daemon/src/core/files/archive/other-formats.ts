/** Names the format of a body that is not a tar archive, and what to do with it. */
import type { NextStep } from '../../../kit/errors.ts';

export interface OtherFormat {
  readonly name: string;
  readonly hint: string;
  readonly next: NextStep | null;
}

const unpack = (program: string): Omit<OtherFormat, 'name'> => ({
  hint: `Upload the file and unpack it there with ${program}, or send a tar archive.`,
  next: { operation: 'commands.start' },
});
const decompress = (program: string): Omit<OtherFormat, 'name'> => ({
  hint: `Send what \`${program}\` writes, as it is or compressed with gzip or zstd.`,
  next: null,
});
const once = { hint: 'Compress the tar archive once.', next: null };
const check = { hint: 'Check the address that the archive comes from, and send a tar archive.', next: null };

/** By the first bytes, as file(1) knows them. */
const formats: readonly (readonly [start: string | RegExp, format: OtherFormat])[] = [
  ['\xfd7zXZ\0', { name: 'xz data', ...decompress('xz -dc') }],
  ['BZh', { name: 'bzip2 data', ...decompress('bzip2 -dc') }],
  ['\x04\x22\x4d\x18', { name: 'LZ4 data', ...decompress('lz4 -dc') }],
  ['LZIP', { name: 'lzip data', ...decompress('lzip -dc') }],
  ['\x5d\0\0', { name: 'LZMA data', ...decompress('xz --format=lzma -dc') }],
  ['\x1f\x9d', { name: 'compress(1) data', ...decompress('gzip -dc') }],
  ['\x1f\x8b', { name: 'gzip data inside of the compressed body', ...once }],
  ['\x28\xb5\x2f\xfd', { name: 'zstd data inside of the compressed body', ...once }],
  [/^PK(?:\x03\x04|\x05\x06|\x07\x08)/, { name: 'a zip archive', ...unpack('unzip') }],
  ["7z\xbc\xaf'\x1c", { name: 'a 7z archive', ...unpack('7z x') }],
  ['Rar!\x1a\x07', { name: 'a RAR archive', ...unpack('unrar x') }],
  ['!<arch>\n', { name: 'an ar archive', ...unpack('ar x') }],
  [/^0707(?:0[127])/, { name: 'a cpio archive', ...unpack('cpio -i') }],
  [/^(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body)\b/i, { name: 'an HTML page', ...check }],
  [/^(?:\xef\xbb\xbf)?\s*<\?xml\b/i, { name: 'an XML document', ...check }],
  [/^(?:\xef\xbb\xbf)?\s*[{[]/, { name: 'JSON', ...check }],
];

/** Null for bytes of no known format. */
export function otherFormat(first: Uint8Array): OtherFormat | null {
  const start = Buffer.from(first.subarray(0, 512)).toString('latin1');
  const found = formats.find(([known]) => (typeof known === 'string' ? start.startsWith(known) : known.test(start)));
  return found?.[1] ?? null;
}
