/** Compresses what a client accepts compressed (RFC 9110, section 12.5.3), and tells what is worth it. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, createZstdCompress, gzip, zstdCompress } from 'node:zlib';

export type Coding = 'gzip' | 'zstd';

/** What is smaller gains nothing. */
export const leastBytes = 1024;
const compressible =
  /^(text\/|image\/svg|application\/([\w.-]+\+)?(json|xml|javascript|wasm|x-sh|sql|yaml|toml|x-tar)\b)/;

export function isCompressible(mediaType: string): boolean {
  return compressible.test(mediaType);
}

/** null where the client accepts none. Of equals, zstd is the faster one. */
export function acceptedCoding(header: string | null): Coding | null {
  const weights = new Map(
    (header ?? '').split(',').map((entry) => {
      const [name = '', ...parameters] = entry
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const q = parameters.find((parameter) => parameter.startsWith('q='));
      return [name, q === undefined ? 1 : Number(q.slice(2))] as const;
    }),
  );
  const weight = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0;
  const best: Coding = weight('zstd') >= weight('gzip') ? 'zstd' : 'gzip';
  return weight(best) > 0 ? best : null;
}

const whole = { gzip: promisify(gzip), zstd: promisify(zstdCompress) } as const;

export async function encodeWhole(bytes: Uint8Array, coding: Coding): Promise<Buffer<ArrayBuffer>> {
  return Buffer.from(await whole[coding](bytes));
}

export async function* encodePieces(pieces: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const encoder = coding === 'gzip' ? createGzip() : createZstdCompress();
  // A failure of either reaches the reader of the encoder.
  const encoded = pipeline(Readable.from(pieces, { objectMode: false }), encoder, () => undefined);
  for await (const piece of encoded) yield piece as Uint8Array;
}
