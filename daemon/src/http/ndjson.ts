/** Streams objects as one JSON line each; a slow client slows only its own iterator. */
import { writeJsonText } from '../kit/json-text.ts';
import { streamBody, streamHeaders, type StreamEvents } from './stream-body.ts';

export class NdjsonStream<Line> {
  /**
   * `lines` is given the signal that fires when the client has gone. A line may come as the bytes that go over the
   * wire; they have to hold until the next one is asked for.
   */
  constructor(readonly lines: (signal: AbortSignal) => AsyncIterable<Line | Uint8Array>) {}
}

/** Without `events` the headers alone, and nothing of the stream is asked for. */
export function ndjsonResponse(stream: NdjsonStream<unknown>, events: StreamEvents | null): Response {
  const body = events && streamBody((signal) => asPieces(stream.lines(signal)), events);
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson', ...streamHeaders } });
}

/**
 * Writes the line of an object with one more member, a text that is UTF-8 already, and tells the length. There has
 * to be room for six bytes for each of the text, and for the rest.
 */
export function writeTextLine(into: Buffer, members: object, name: string, text: Uint8Array): number {
  const head = JSON.stringify({ ...members, [name]: '' });
  const textAt = into.write(head.slice(0, -2));
  const end = writeJsonText(into, textAt, text);
  return end + into.write('"}\n', end);
}

async function* asPieces(lines: AsyncIterable<unknown>): AsyncGenerator<string | Uint8Array> {
  for await (const line of lines) yield line instanceof Uint8Array ? line : `${JSON.stringify(line)}\n`;
}
