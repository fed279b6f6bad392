/** Streams Server-Sent Events; a slow client slows only its own iterator. */
import { streamBody, streamHeaders, type StreamEvents } from './stream-body.ts';

export type SseEvent =
  | { readonly event: string; readonly id?: string; readonly data: unknown }
  /** Keeps the connection alive; clients never see it. */
  | { readonly comment: string };

export class SseStream {
  /** `events` is given the signal that fires when the client has gone. */
  constructor(readonly events: (signal: AbortSignal) => AsyncIterable<SseEvent>) {}
}

/** Where a client goes on that has followed a stream before. */
export interface ResumePoint {
  readonly seq: number;
  /** It has followed another stream: what it has seen of this one is not known. */
  readonly isForeign: boolean;
}

/** Of an event of a stream, with a number that grows. */
export function eventId(stream: string, seq: number): string {
  return `${stream}:${seq}`;
}

/** Null where the client begins. */
export function resumePoint(headers: Headers, stream: string): ResumePoint | null {
  const last = headers.get('last-event-id');
  if (!last) return null;
  const [, id, seq] = /^(.+):(\d{1,15})$/.exec(last) ?? [];
  return id === stream ? { seq: Number(seq), isForeign: false } : { seq: 0, isForeign: true };
}

/** Without `events` the headers alone, and nothing of the stream is asked for. */
export function sseResponse(stream: SseStream, events: StreamEvents | null): Response {
  const body = events && streamBody((signal) => asText(stream.events(signal)), events);
  return new Response(body, { headers: { 'content-type': 'text/event-stream', ...streamHeaders } });
}

async function* asText(events: AsyncIterable<SseEvent>): AsyncGenerator<string> {
  for await (const event of events) yield encodeSse(event);
}

/** JSON has no raw line breaks, so that the data is always one line. */
export function encodeSse(event: SseEvent): string {
  if ('comment' in event) return `: ${oneLine(event.comment)}\n\n`;
  const id = event.id === undefined ? '' : `id: ${oneLine(event.id)}\n`;
  return `${id}event: ${oneLine(event.event)}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

/** A line break would begin another field. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ');
}
