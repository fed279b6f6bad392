/** Streams Server-Sent Events; a slow client slows only its own iterator. */
import { streamBody, streamHeaders, type StreamEvents } from './stream-body.ts';

export type SseEvent =
  | { readonly event: string; readonly id?: string; readonly data: unknown }
  /** Keeps the connection alive; client code never sees a comment. */
  | { readonly comment: string };

export class SseStream {
  /** The signal passed to `events` fires when the client has gone. */
  constructor(readonly events: (signal: AbortSignal) => AsyncIterable<SseEvent>) {}
}

/** Where a reconnecting client resumes. */
export interface ResumePoint {
  readonly seq: number;
  /** True when the client followed another stream, so its position in this one is unknown. */
  readonly isForeign: boolean;
}

/** The id of an event: the stream and an increasing number. */
export function eventId(stream: string, seq: number): string {
  return `${stream}:${seq}`;
}

/** Reads Last-Event-ID; null when the client starts anew. */
export function resumePoint(headers: Headers, stream: string): ResumePoint | null {
  const last = headers.get('last-event-id');
  if (!last) return null;
  const [, id, seq] = /^(.+):(\d{1,15})$/.exec(last) ?? [];
  return id === stream ? { seq: Number(seq), isForeign: false } : { seq: 0, isForeign: true };
}

/** Without `events`, sends only the headers and does not start the stream. */
export function sseResponse(stream: SseStream, events: StreamEvents | null): Response {
  const body = events && streamBody((signal) => asText(stream.events(signal)), events);
  return new Response(body, { headers: { 'content-type': 'text/event-stream', ...streamHeaders } });
}

async function* asText(events: AsyncIterable<SseEvent>): AsyncGenerator<string> {
  for await (const event of events) yield encodeSse(event);
}

/** JSON contains no raw line breaks, so the data is always one line. */
export function encodeSse(event: SseEvent): string {
  if ('comment' in event) return `: ${oneLine(event.comment)}\n\n`;
  const id = event.id === undefined ? '' : `id: ${oneLine(event.id)}\n`;
  return `${id}event: ${oneLine(event.event)}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** Replaces line breaks, which would start another field. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ');
}
