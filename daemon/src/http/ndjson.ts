/** Streams objects as one JSON line each; a slow client slows only its own iterator. */
import { streamBody, streamHeaders, type StreamEvents } from './stream-body.ts';

/** A line as it goes over the wire, for many who are sent the same. */
export class EncodedLine<Line> {
  readonly bytes: Uint8Array;

  constructor(line: Line) {
    this.bytes = Buffer.from(asText(line));
  }
}

export class NdjsonStream<Line> {
  /** `lines` is given the signal that fires when the client has gone. */
  constructor(readonly lines: (signal: AbortSignal) => AsyncIterable<Line | EncodedLine<Line>>) {}
}

/** Without `events` the headers alone, and nothing of the stream is asked for. */
export function ndjsonResponse(stream: NdjsonStream<unknown>, events: StreamEvents | null): Response {
  const body = events && streamBody((signal) => asPieces(stream.lines(signal)), events);
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson', ...streamHeaders } });
}

async function* asPieces(lines: AsyncIterable<unknown>): AsyncGenerator<string | Uint8Array> {
  for await (const line of lines) yield line instanceof EncodedLine ? line.bytes : asText(line);
}

function asText(line: unknown): string {
  return `${JSON.stringify(line)}\n`;
}
