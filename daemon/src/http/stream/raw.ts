/** Answers outside the envelope: bytes, a file of the system, or a stream of pieces. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestContext } from '../route/context.ts';
import { streamBody, type StreamEvents } from './stream-body.ts';

export type RawBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The runtime itself sends the file. */
  | { readonly kind: 'file'; readonly file: Blob }
  /** The signal passed to `pieces` fires when the client has gone. */
  | { readonly kind: 'pieces'; readonly pieces: (signal: AbortSignal) => AsyncIterable<Uint8Array> };

export class RawReply {
  constructor(
    readonly body: RawBody,
    readonly headers: Readonly<Record<string, string>>,
    readonly status = 200,
    /** Releases the source of the body, after it has been sent or when it is not needed. */
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

/** Opens the stream of a reply, and releases the reply at its end. Throws `capacity_reached`. */
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

const takenLookMs = 20;
const takenWithinMs = 10_000;

/**
 * Resolves when everything so far has been sent to the client; called before a stream fails.
 * A failed stream makes the runtime reset the connection, and the system then drops unsent bytes.
 */
export async function untilTaken({ idleLimit, signal }: RequestContext): Promise<void> {
  const deadline = performance.now() + takenWithinMs;
  // Two checks, because the runtime may pass on more buffered bytes in between.
  for (let idle = 0; idle < 2 && !signal.aborted && performance.now() < deadline;) {
    await delay(takenLookMs);
    idle = idleLimit.unsentBytes() === 0 ? idle + 1 : 0;
  }
}

/** Waits until a file is sent. The idle limit is lifted meanwhile, because a slow client is not an idle one. */
async function untilSent({ idleLimit, signal }: RequestContext, bytes: number, events: StreamEvents): Promise<void> {
  await untilClosed(idleLimit, () => idleLimit.lift());
  events.onEnd(signal.aborted ? null : bytes);
}

const lookMs = 100;

/** Resolves when the answer is complete or the client has gone, which the runtime does not report. */
export async function untilClosed(idleLimit: { isOpen(): boolean }, onLook?: () => void): Promise<void> {
  do {
    await delay(lookMs);
    onLook?.();
  } while (idleLimit.isOpen());
}
