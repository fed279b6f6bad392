/** Sends live pictures over a WebSocket: the newest one, as fast as the client acknowledges them. */
import { z } from 'zod';
import { aborted, Deadline } from '../../kit/deadline.ts';
import { CoreError, errorCodes } from '../../kit/errors.ts';
import { Notifier } from '../../kit/events/notifier.ts';
import { Heartbeat } from '../../kit/heartbeat.ts';
import { parseFields } from '../../kit/types/fields.ts';
import type { LivePicture, PictureSource } from '../../kit/types/live-picture.ts';
import type { Socket } from '../../kit/types/socket.ts';
import type { RequestContext } from '../route/context.ts';
import type { Refuse, RouteShape } from '../route/route.ts';
import { sessionHandler, SocketUpgrade, type SocketSession } from './socket.ts';
import type { StreamEvents } from './stream-body.ts';

const pixels = z.int().min(0);
const sequence = z.int().min(1);

/** Descriptions of the frames are those of docs/protocols/live.md. */
export const LiveServerFrame = z
  .discriminatedUnion('type', [
    z
      .object({
        type: z.literal('picture'),
        sequence,
        width: pixels.describe('Of the picture, in pixels.'),
        height: pixels,
        screen: z
          .object({ width: pixels, height: pixels })
          .describe('What the picture shows, in the pixels that clicks are counted in.'),
        tab_id: z.string().nullable().describe('The tab that the picture shows; null for the desktop.'),
        bytes: z.int().min(1),
      })
      .describe('The binary frame that follows is the picture, a JPEG.'),
    z
      .object({
        type: z.literal('error'),
        data: z.string(),
        code: z.enum(errorCodes),
        retryable: z.boolean(),
        hint: z.string().nullable(),
      })
      .describe('Why no picture follows. The daemon closes the socket.'),
  ])
  .meta({ id: 'LiveServerFrame' });

export const LiveClientFrame = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('ack'), sequence }).describe('This picture and all before it have been drawn.'),
  ])
  .meta({ id: 'LiveClientFrame' });

/** Pictures on their way: while one is drawn, the next one travels. */
const maxInFlight = 2;
/** Time between two pictures, because a person sees no more and each one costs processor time. */
const minIntervalMs = 40;
const maxAckCharacters = 200;

/** Close codes and reasons. */
const closings = {
  ended: [4000, 'ended'],
  silent: [4003, 'no answer to pings'],
  stopped: [1001, 'the daemon is going'],
  failed: [1011, 'internal error'],
} as const;

export interface LiveSocketDeps {
  /** Fires when clients have to connect again: the daemon ends, or another one serves. */
  readonly ending: AbortSignal;
  /** How the surface words an error. */
  readonly refuse: Refuse | undefined;
}

/** Answers the request of a route with a socket that shows the pictures of the source. */
export function liveSocket(
  { ending, refuse = (error) => error }: LiveSocketDeps,
  { path, raw }: Pick<RouteShape, 'path' | 'raw'>,
  context: RequestContext,
  source: PictureSource,
): SocketUpgrade {
  const worded = (error: CoreError) => {
    const refusal = refuse(error, { path, raw });
    return refusal instanceof CoreError ? refusal : error;
  };
  const stream = context.openStream();
  return new SocketUpgrade(
    sessionHandler((socket) => new LiveSession(socket, source, { ending, worded, stream }), stream.onEnd),
  );
}

interface SessionDeps {
  readonly ending: AbortSignal;
  readonly worded: (error: CoreError) => CoreError;
  readonly stream: StreamEvents;
}

class LiveSession implements SocketSession {
  sentBytes = 0;
  #sequence = 0;
  #acknowledged = 0;
  readonly #acks = new Notifier();
  readonly #stop: Deadline;
  readonly #heartbeat: Heartbeat;
  #isClosed = false;

  constructor(
    private readonly socket: Socket,
    private readonly source: PictureSource,
    private readonly deps: SessionDeps,
  ) {
    this.#stop = new Deadline(null, deps.ending);
    this.#heartbeat = new Heartbeat({ ask: () => socket.ping(''), giveUp: () => this.#end('silent') });
  }

  start(): void {
    this.source((picture, signal) => this.#show(picture, signal), this.#stop.signal).then(
      () => this.#end('stopped'),
      (error: unknown) => this.#fail(error),
    );
  }

  /** A client that sends anything but acknowledgements is told so, and ended. */
  message(message: string | Uint8Array): void {
    this.#heartbeat.heard();
    const isShort = typeof message === 'string' && message.length <= maxAckCharacters;
    const ack = LiveClientFrame.safeParse(isShort ? parseFields(message) : null);
    if (!ack.success || ack.data.sequence > this.#sequence) return this.#refuse(notAnAck());
    this.#acknowledged = Math.max(this.#acknowledged, ack.data.sequence);
    this.#acks.notify();
  }

  pong(): void {
    this.#heartbeat.heard();
  }

  close(): void {
    this.#isClosed = true;
    this.#heartbeat[Symbol.dispose]();
    this.#stop[Symbol.dispose]();
  }

  async #show({ bytes, image, screen, tabId }: LivePicture, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return;
    using interval = new Deadline(minIntervalMs, signal);
    this.#sequence += 1;
    this.#send({ type: 'picture', sequence: this.#sequence, ...image, screen, tab_id: tabId, bytes: bytes.length });
    if (this.socket.send(bytes)) this.sentBytes += bytes.length;
    // A client that acknowledges what it has not read gets no more than it reads.
    await this.socket.drained(signal);
    while (this.#sequence - this.#acknowledged >= maxInFlight && !signal.aborted) await this.#acks.wait(signal);
    await aborted(interval.signal);
  }

  #fail(error: unknown): void {
    // The source has ended because the socket has, or because the daemon ends.
    if (this.#stop.passed) return this.#end('stopped');
    if (error instanceof CoreError) return this.#refuse(error);
    this.deps.stream.onFault(error);
    this.#end('failed');
  }

  #refuse(error: CoreError): void {
    const { message: data, code, isRetryable: retryable, hint } = this.deps.worded(error);
    this.#send({ type: 'error', data, code, retryable, hint });
    this.#end('ended');
  }

  #end(how: keyof typeof closings): void {
    const [code, reason] = closings[how];
    if (!this.#isClosed) this.socket.close(code, reason);
  }

  #send(frame: z.input<typeof LiveServerFrame>): void {
    this.socket.send(JSON.stringify(frame));
  }
}

function notAnAck(): CoreError {
  return new CoreError('malformed_request', 'a message is not the acknowledgement of a picture that was sent', {
    hint: 'Send {"type":"ack","sequence":1} for each picture, and nothing else.',
  });
}
