/** Answers with JSON: whole where it is small, else in pieces, as fast as the client reads. */
import { json } from '../route/envelope.ts';
import { charactersOf, isLarge, jsonPieces } from './json-pieces.ts';
import type { RequestContext } from '../route/context.ts';
import { streamBody } from './stream-body.ts';

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
