/** Answers with JSON: whole where it is small, else in pieces, as fast as the client reads. */
import { LongText } from '../../kit/text/long-text.ts';
import { longestEscape, writeJsonText } from '../../kit/text/json-text.ts';
import { TimeSlices } from '../../kit/slices.ts';
import type { RequestContext } from '../route/context.ts';
import { json } from '../route/envelope.ts';
import { streamBody } from './stream-body.ts';

/** A smaller value is written in one piece, and so is each part of a larger one. */
const smallCharacters = 64 * 1024;
/** What an object, a list or a number counts beside its texts; an estimate of its memory. */
const nodeCharacters = 16;
/** A text that is read from its source has two buffers. */
const longTextCharacters = smallCharacters * 4;
/** Bytes of memory that a character of a JavaScript string takes at most. */
const bytesPerCharacter = 2;

/** A HEAD has no body, so `method` decides whether pieces are written. */
export function jsonAnswer(body: object, method: string, context: RequestContext, status = 200): Response {
  if (!isLarge(body)) return json(body, status);
  const headers = { 'content-type': 'application/json' };
  if (method === 'HEAD') return new Response(null, { status, headers });
  // Any other request may have had an effect, and gets its answer.
  if (method === 'GET') context.body.room.assertRoom();
  const events = context.openAnswer(charactersOf(body, Infinity) * bytesPerCharacter);
  const pieces = streamBody(() => jsonPieces(body), events, context.body.stallMs);
  return new Response(pieces, { status, headers });
}

/** An estimate of the characters that a value holds in memory; stops counting above `max`. */
export function charactersOf(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return nodeCharacters;
  if (value instanceof LongText) return longTextCharacters;
  let count = nodeCharacters;
  for (const name in value) {
    count += name.length + charactersOf((value as Record<string, unknown>)[name], max - count);
    if (count > max) break;
  }
  return count;
}

export function isLarge(value: unknown): boolean {
  return charactersOf(value, smallCharacters) > smallCharacters;
}

/** The JSON of a value without `toJSON`, in pieces of about 64 KiB or more. A piece is valid until the next one. */
export async function* jsonPieces(value: unknown): AsyncGenerator<string | Uint8Array> {
  const slices = new TimeSlices();
  let text = '';
  for (const part of partsOf(value)) {
    if (typeof part === 'string') text += part;
    if (text.length < smallCharacters && typeof part === 'string') continue;
    if (text !== '') yield text;
    text = '';
    if (typeof part !== 'string') yield part;
    await slices.next();
  }
  if (text !== '') yield text;
}

function* partsOf(value: unknown): Generator<string | Uint8Array> {
  if (value instanceof LongText) yield* longText(value);
  else if (!isLarge(value)) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* textParts(value);
  else if (Array.isArray(value)) yield* list(value);
  else yield* object(value as object);
}

function* list(values: readonly unknown[]): Generator<string | Uint8Array> {
  let before = '[';
  for (const value of values) {
    yield before;
    yield* partsOf(value);
    before = ',';
  }
  yield ']';
}

function* object(value: object): Generator<string | Uint8Array> {
  let before = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(member);
    before = ',';
  }
  yield '}';
}

/** A surrogate pair that is cut becomes two escapes, which JSON reads as the pair again. */
function* textParts(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length; at += smallCharacters) {
    yield JSON.stringify(text.slice(at, at + smallCharacters)).slice(1, -1);
  }
  yield '"';
}

function* longText(text: LongText): Generator<string | Uint8Array> {
  let buffer = Buffer.alloc(0);
  yield '"';
  for (const piece of text.pieces()) {
    if (buffer.length < piece.length * longestEscape) buffer = Buffer.allocUnsafeSlow(piece.length * longestEscape);
    yield buffer.subarray(0, writeJsonText(buffer, 0, piece));
  }
  yield '"';
}
