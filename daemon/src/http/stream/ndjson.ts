/** Streams objects as one JSON line each; a slow client slows only its own iterator. */
import { mapEach } from '../../kit/async-sequences.ts';
import { writeJsonText } from '../../kit/text/json-text.ts';
import { streamBody, streamHeaders, type StreamEvents } from './stream-body.ts';

export class NdjsonStream<Line> {
  /**
   * The signal passed to `lines` fires when the client has gone. A line may be the bytes to send; they must stay valid
   * until the next line is requested.
   */
  constructor(readonly lines: (signal: AbortSignal) => AsyncIterable<Line | Uint8Array>) {}
}

/** Without `events`, sends only the headers and does not start the stream. */
export function ndjsonResponse(stream: NdjsonStream<unknown>, events: StreamEvents | null): Response {
  const body = events && streamBody((signal) => mapEach(stream.lines(signal), pieceOf), events);
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson', ...streamHeaders } });
}

/**
 * Writes the line of an object with one more member, whose text is already UTF-8, and returns the length.
 * The buffer needs room for six bytes per byte of the text, and for the rest of the line.
 */
export function writeTextLine(into: Buffer, members: object, name: string, text: Uint8Array): number {
  const head = JSON.stringify({ ...members, [name]: '' });
  const textAt = into.write(head.slice(0, -2));
  const end = writeJsonText(into, textAt, text);
  return end + into.write('"}\n', end);
}

function pieceOf(line: unknown): string | Uint8Array {
  return line instanceof Uint8Array ? line : `${JSON.stringify(line)}\n`;
}
