/** Answers with a file: whole, a range, compressed, or 304 when the client already has it. */
import type { Range } from '../../kit/byte-log.ts';
import { FileFailure } from '../../kit/file-failure.ts';
import { showName, showPath } from '../../kit/text/path-text.ts';
import { codedTag, isKnown, meetsCondition, wantsPartOf, type State } from './conditions.ts';
import {
  acceptedCoding,
  encodePieces,
  encodeWhole,
  isCompressible,
  leastBytes,
  type Coding,
} from '../body/content-coding.ts';
import { dispositionOf, type Disposition } from './disposition.ts';
import { rangeOf } from './ranges.ts';
import { RawReply, type RawBody } from '../stream/raw.ts';

/** A file to send. The code that answers with the file disposes of it. */
export interface SentFile extends State {
  [Symbol.asyncDispose](): Promise<void>;
  readonly path: string;
  readonly name: string;
  readonly size: number;
  /** The largest range that `read` accepts. */
  readonly wholeBytes: number;
  /** A range that the runtime itself sends; null where it cannot. */
  slice(from: number, to: number): Blob | null;
  read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>>;
  pieces(from: number, to: number): AsyncIterable<Uint8Array>;
  /** Throws when `isKnown` is false, because the file is not in the state that the caller named. */
  assertKnown(isKnown: boolean): void;
}

/** Builds the answer with the media type `mime`. The file is disposed of when it has been sent, or cannot be sent. */
export async function fileReply(
  found: SentFile,
  mime: string,
  asked: Headers,
  disposition: Disposition = 'attachment',
): Promise<RawReply> {
  try {
    return await replyWith(found, mime, asked, disposition);
  } catch (error) {
    await found[Symbol.asyncDispose]();
    throw error;
  }
}

async function replyWith(found: SentFile, mime: string, asked: Headers, disposition: Disposition): Promise<RawReply> {
  const release = () => found[Symbol.asyncDispose]();
  found.assertKnown(meetsCondition(asked, found));
  const range = wantsPartOf(asked, found) ? rangeOf(asked.get('range'), found.size) : 'whole';
  const coding = range === 'whole' ? codingFor(found, mime, asked) : null;
  const headers = { ...headersOf(found, mime, coding), ...shownAs(found, disposition) };
  if (isKnown(asked, found)) return new RawReply({ kind: 'none' }, headers, 304, release);
  if (range === 'unsatisfiable') throw unsatisfiable(found, asked.get('range') ?? '');
  if (coding) return new RawReply(await codedBody(found, coding), headers, 200, release);
  const { from, to } = range === 'whole' ? { from: 0, to: found.size } : range;
  const withLength = { ...headers, 'content-length': String(to - from) };
  const body = await bodyOf(found, { from, to });
  if (range === 'whole') return new RawReply(body, withLength, 200, release);
  return new RawReply(body, { ...withLength, 'content-range': `bytes ${from}-${to - 1}/${found.size}` }, 206, release);
}

function codingFor({ size }: SentFile, mime: string, asked: Headers): Coding | null {
  return isCompressible(mime) && size >= leastBytes ? acceptedCoding(asked.get('accept-encoding')) : null;
}

function headersOf(found: SentFile, mime: string, coding: Coding | null): Record<string, string> {
  return {
    'content-type': mime,
    'last-modified': new Date(found.modifiedMs).toUTCString(),
    etag: coding ? codedTag(found.etag, coding) : found.etag,
    'accept-ranges': 'bytes',
    // A cache may store the file but must revalidate it each time.
    'cache-control': 'private, no-cache',
    // The media type of a page from the sandbox must not make a browser run the page as the daemon's own.
    'x-content-type-options': 'nosniff',
    ...(isCompressible(mime) ? { vary: 'Accept-Encoding' } : {}),
    ...(coding ? { 'content-encoding': coding } : {}),
  };
}

/** A page that is shown must not act as a page of the daemon. */
function shownAs({ name }: SentFile, disposition: Disposition): Record<string, string> {
  return {
    'content-disposition': dispositionOf(showName(name), disposition),
    ...(disposition === 'inline' ? { 'content-security-policy': 'sandbox' } : {}),
  };
}

async function bodyOf(found: SentFile, { from, to }: Range): Promise<RawBody> {
  if (to - from <= found.wholeBytes) return { kind: 'bytes', bytes: await found.read(from, to) };
  const file = found.slice(from, to);
  return file ? { kind: 'file', file } : { kind: 'pieces', pieces: () => found.pieces(from, to) };
}

async function codedBody(found: SentFile, coding: Coding): Promise<RawBody> {
  if (found.size > found.wholeBytes)
    return { kind: 'pieces', pieces: () => encodePieces(found.pieces(0, found.size), coding) };
  return { kind: 'bytes', bytes: await encodeWhole(await found.read(0, found.size), coding) };
}

function unsatisfiable({ path, size }: SentFile, range: string): FileFailure {
  return FileFailure.of('download', path, 'EINVAL', {
    code: 'range_not_satisfiable',
    message: `${showPath(path)}: has ${size} bytes, and none of them is in the range ${JSON.stringify(range)}`,
    hint: `Ask for bytes=0-${Math.max(0, size - 1)}, for bytes=-N, the last N, or for the whole without Range.`,
    facts: { size },
  });
}
