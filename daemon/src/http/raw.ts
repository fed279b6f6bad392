/** Answers outside the envelope: bytes, a file of the system, or a stream of pieces. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestContext } from './route.ts';
import { streamBody, type StreamEvents } from './stream-body.ts';

export type RawBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Sent by the runtime itself, from the file. */
  | { readonly kind: 'file'; readonly file: Blob }
  /** `pieces` is given the signal that fires when the client has gone. */
  | { readonly kind: 'pieces'; readonly pieces: (signal: AbortSignal) => AsyncIterable<Uint8Array> };

export class RawReply {
  constructor(
    readonly body: RawBody,
    readonly headers: Readonly<Record<string, string>>,
    readonly status = 200,
    /** Gives back what the body is made from: it has been sent, or nobody wants it. */
    readonly release: () => Promise<void> = () => Promise.resolve(),
  ) {}
}

export async function rawResponse(reply: RawReply, request: Request, context: RequestContext): Promise<Response> {
  const { body, status, headers } = reply;
  if (request.method === 'HEAD' || body.kind === 'none' || body.kind === 'bytes') {
    await reply.release();
    const bytes = body.kind === 'bytes' && request.method !== 'HEAD' ? body.bytes : null;
    return new Response(bytes, { status, headers });
  }
  const events = await openStream(reply, context);
  if (body.kind === 'pieces') return new Response(streamBody(body.pieces, events), { status, headers });
  void untilSent(context, body.file.size, events);
  return new Response(body.file, { status, headers });
}

/** Throws `capacity_reached`. */
async function openStream({ release }: RawReply, context: RequestContext): Promise<StreamEvents> {
  try {
    const events = context.openStream();
    return {
      onFault: (error) => events.onFault(error),
      onEnd(bytes) {
        events.onEnd(bytes);
        release().catch((error: unknown) => events.onFault(error));
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

const lookMs = 100;

/** The runtime brings the idle limit back when it sends a file, and a slow client is no idle one. */
async function untilSent({ idleLimit, signal }: RequestContext, bytes: number, events: StreamEvents): Promise<void> {
  do {
    await delay(lookMs);
    idleLimit.lift();
  } while (idleLimit.isOpen());
  events.onEnd(signal.aborted ? null : bytes);
}
