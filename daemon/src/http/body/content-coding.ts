/** Compresses answers as the client accepts (RFC 9110, section 12.5.3), and decompresses request bodies. */
import { promisify } from 'node:util';
import { CoreError } from '../../kit/errors.ts';

export type Coding = 'gzip' | 'zstd';

/** Bytes per round trip to the compressing thread. */
const chunkSize = 256 * 1024;
/** Smaller bodies gain nothing from compression. */
export const leastBytes = 1024;
const compressible =
  /^(text\/|image\/svg|application\/([\w.-]+\+)?(json|xml|javascript|wasm|x-sh|sql|yaml|toml|x-tar)\b)/;

export function isCompressible(mediaType: string): boolean {
  return compressible.test(mediaType);
}

/** The coding with the highest weight, zstd before gzip at equal weights; null when the client accepts none. */
export function acceptedCoding(header: string | null): Coding | null {
  const weight = weightsOf(header);
  const best: Coding = weight('zstd') >= weight('gzip') ? 'zstd' : 'gzip';
  return weight(best) > 0 ? best : null;
}

/** Whether the client accepts an answer as it is, or in a coding that this module has. */
export function acceptsAnswer(header: string | null): boolean {
  return acceptedCoding(header) !== null || weightsOf(header)('identity', 1) > 0;
}

/** How much the client wants a coding; `unnamed` where the header speaks neither of it nor of all others. */
function weightsOf(header: string | null): (coding: string, unnamed?: number) => number {
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
  return (coding, unnamed = 0) => weights.get(coding) ?? weights.get('*') ?? unnamed;
}

/** Loaded for the first body in a coding, because they bring the streams of the runtime. */
const zlib = () => process.getBuiltinModule('node:zlib');
const stream = () => process.getBuiltinModule('node:stream');

export async function encodeWhole(bytes: Uint8Array, coding: Coding): Promise<Buffer<ArrayBuffer>> {
  const { gzip, zstdCompress } = zlib();
  const encode = coding === 'gzip' ? promisify(gzip) : promisify(zstdCompress);
  return Buffer.from(await encode(bytes));
}

export async function* encodePieces(pieces: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const { pipeline, Readable } = stream();
  const { createGzip, createZstdCompress } = zlib();
  const encoder = coding === 'gzip' ? createGzip({ chunkSize }) : createZstdCompress({ chunkSize });
  // A failure of either stream reaches the reader of the encoder.
  const encoded = pipeline(Readable.from(pieces, { objectMode: false }), encoder, () => undefined);
  for await (const piece of encoded) yield piece as Uint8Array;
}

const magic: Readonly<Record<Coding, Buffer>> = {
  gzip: Buffer.of(0x1f, 0x8b),
  zstd: Buffer.of(0x28, 0xb5, 0x2f, 0xfd),
};
const names: ReadonlyMap<string, Coding | null> = new Map(
  Object.entries({ gzip: 'gzip', 'x-gzip': 'gzip', zstd: 'zstd', identity: null } as const),
);

/**
 * Decompresses a body by its Content-Encoding header, or by its first bytes when the header names no coding. Throws
 * `malformed_request` and `unsupported_coding`.
 */
export async function* decodedPieces(
  pieces: AsyncIterable<Uint8Array>,
  contentEncoding: string | null,
): AsyncGenerator<Uint8Array> {
  const declared = names.get(codingName(contentEncoding));
  if (declared === undefined)
    throw unsupported(contentEncoding, 'gzip, zstd', 'Send it as it is, or compressed with gzip or zstd.');
  const { first, all } = await peek(pieces);
  const coding = declared ?? codingOf(first);
  yield* coding === null ? all : inflate(all, coding);
}

function codingName(contentEncoding: string | null): string {
  return (contentEncoding ?? 'identity').trim().toLowerCase();
}

export function isEncoded(headers: Headers): boolean {
  return codingName(headers.get('content-encoding')) !== 'identity';
}

/** For routes that read the body unchanged. Throws `unsupported_coding`. */
export function assertNotEncoded(headers: Headers): void {
  if (isEncoded(headers))
    throw unsupported(headers.get('content-encoding'), 'identity', 'Send the body as it is, without Content-Encoding.');
}

function unsupported(contentEncoding: string | null, accepted: string, hint: string): CoreError {
  const message = `a body with the content encoding ${JSON.stringify(contentEncoding)} is not read here`;
  return new CoreError('unsupported_coding', message, { hint, facts: { accepted } });
}

function codingOf(first: Uint8Array): Coding | null {
  const starts = (coding: Coding) => magic[coding].equals(first.subarray(0, magic[coding].length));
  return starts('gzip') ? 'gzip' : starts('zstd') ? 'zstd' : null;
}

/** The first four bytes or more, if the body has that many, and all pieces including those. */
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
  const { pipeline, Readable } = stream();
  const { createGunzip, createZstdDecompress } = zlib();
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
  // The zstd decoder does not report a truncated stream. Once output has begun, the content inside reveals the
  // truncation, because it has an end marker of its own.
  throw malformed(`the body is not a whole ${coding} stream`);
}

function malformed(message: string): CoreError {
  return new CoreError('malformed_request', message, {
    hint: 'Send it as it is, or compressed with gzip or zstd, to the end.',
  });
}
