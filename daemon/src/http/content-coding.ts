/** Compresses what a client accepts compressed (RFC 9110, section 12.5.3), and opens what it sends so. */
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress, gzip, zstdCompress } from 'node:zlib';
import { CoreError } from '../kit/errors.ts';

export type Coding = 'gzip' | 'zstd';

/** Of one trip to the thread that compresses. */
const chunkSize = 256 * 1024;
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
  const encoder = coding === 'gzip' ? createGzip({ chunkSize }) : createZstdCompress({ chunkSize });
  // A failure of either reaches the reader of the encoder.
  const encoded = pipeline(Readable.from(pieces, { objectMode: false }), encoder, () => undefined);
  for await (const piece of encoded) yield piece as Uint8Array;
}

const magic: Readonly<Record<Coding, Buffer>> = {
  gzip: Buffer.of(0x1f, 0x8b),
  zstd: Buffer.of(0x28, 0xb5, 0x2f, 0xfd),
};
const names: Readonly<Record<string, Coding | null>> = { gzip: 'gzip', 'x-gzip': 'gzip', zstd: 'zstd', identity: null };

/** What was compressed by its header, or by itself, as its first bytes tell. Throws `malformed_request`. */
export async function* decodedPieces(
  pieces: AsyncIterable<Uint8Array>,
  contentEncoding: string | null,
): AsyncGenerator<Uint8Array> {
  const told = names[(contentEncoding ?? 'identity').trim().toLowerCase()];
  if (told === undefined) throw malformed(`the content encoding ${JSON.stringify(contentEncoding)} is not taken`);
  const { first, all } = await peek(pieces);
  const coding = told ?? codingOf(first);
  yield* coding === null ? all : inflate(all, coding);
}

function codingOf(first: Uint8Array): Coding | null {
  const starts = (coding: Coding) => magic[coding].equals(first.subarray(0, magic[coding].length));
  return starts('gzip') ? 'gzip' : starts('zstd') ? 'zstd' : null;
}

/** At least four bytes, where there are so many, and all pieces with them. */
async function peek(
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ readonly first: Buffer; readonly all: AsyncIterable<Uint8Array> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  while (first.length < magic.zstd.length) {
    const { done, value } = await iterator.next();
    if (done) break;
    first = Buffer.concat([first, value]);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    if (first.length > 0) yield first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { first, all: all() };
}

async function* inflate(pieces: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const decoder = coding === 'gzip' ? createGunzip({ chunkSize }) : createZstdDecompress({ chunkSize });
  let cause: unknown;
  let hasBegun = false;
  const decoded = pipeline(Readable.from(pieces, { objectMode: false }), decoder, (error) => {
    cause = error;
  });
  try {
    for await (const piece of decoded) {
      hasBegun = true;
      yield piece as Uint8Array;
    }
    if (hasBegun) return;
  } catch (error) {
    if (cause instanceof CoreError || error instanceof CoreError) throw cause ?? error;
  }
  // That of zstd says nothing about a stream that ends too soon; what is in it has an end of its own.
  throw malformed(`the body is no whole ${coding} stream`);
}

function malformed(message: string): CoreError {
  return new CoreError('malformed_request', message, {
    hint: 'Send it as it is, or compressed with gzip or zstd, to the end.',
  });
}
