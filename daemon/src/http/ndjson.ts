/** Streams objects as one JSON line each; a slow client slows only its own iterator. */
import { streamBody, streamHeaders, type StreamEvents } from './stream-body.ts';

export class NdjsonStream<Line> {
  /** `lines` is given the signal that fires when the client has gone. */
  constructor(readonly lines: (signal: AbortSignal) => AsyncIterable<Line>) {}
}

/** Without `events` the headers alone, and nothing of the stream is asked for. */
export function ndjsonResponse(stream: NdjsonStream<unknown>, events: StreamEvents | null): Response {
  const body = events && streamBody((signal) => asText(stream.lines(signal)), events);
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson', ...streamHeaders } });
}

async function* asText(lines: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
