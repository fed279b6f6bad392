/** Pictures of a tab or the display as they change: the newest one, whenever the caller asks for it. */
import { Backoff } from './backoff.ts';
import { BoxError, unreachable } from './result.ts';
import { queryOf, type CallOptions, type SocketLike, type Transport } from './transport.ts';
import { routes, type LiveServerFrame } from './wire.ts';

/** `away`: the connection broke, and another one is tried until the time of `retryMs` is over. */
export type LiveEvent =
  | {
      readonly type: 'picture';
      /** A JPEG. */
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** What the picture shows, in the pixels that clicks are counted in. */
      readonly screenWidth: number;
      readonly screenHeight: number;
      /** The tab that the picture shows; null for the display. */
      readonly tabId: string | null;
    }
  | { readonly type: 'away' };

const normalClosure = 1000;

/** Goes on until the caller leaves or the signal aborts. Throws a BoxError when there is nothing to show any more. */
export async function* followPictures(
  transport: Transport,
  name: 'browser.live' | 'desktop.live',
  fields: object,
  { signal, retryMs, onAway }: CallOptions,
): AsyncGenerator<LiveEvent> {
  const backoff = new Backoff(() => retryMs ?? transport.retryMs, onAway);
  const place = routes[name].replace(/^GET ([^{]*).*/, '$1') + queryOf(fields);
  for (;;) {
    const connection = new LiveConnection(transport.socket(place));
    const stop = () => connection.close();
    signal?.addEventListener('abort', stop);
    try {
      for (let event = await connection.next(); event; event = await connection.next()) {
        signal?.throwIfAborted();
        backoff.reset();
        yield event;
      }
    } finally {
      signal?.removeEventListener('abort', stop);
      connection.close();
    }
    signal?.throwIfAborted();
    // A WebSocket hides why it does not open, and HTTP tells.
    const found = await transport.call('operations.sandbox', {}, { retryMs: 0, answersAtOnce: true });
    if (!found.ok && !found.error.retryable) throw found.error;
    const lost = found.ok ? unreachable(`the connection to ${transport.address} broke`) : found.error;
    yield { type: 'away' };
    if (!(await backoff.wait(lost, 0, signal))) throw backoff.gaveUp('Ask again when the daemon is back.', lost);
  }
}

/** One connection. A picture is acknowledged when the next one is asked for. */
class LiveConnection {
  #frame: Extract<LiveServerFrame, { readonly type: 'picture' }> | null = null;
  #event: LiveEvent | null = null;
  #acknowledged = 0;
  #taken = 0;
  #arrived = 0;
  #error: BoxError | null = null;
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(private readonly socket: SocketLike) {
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }) => this.#take(data));
    for (const end of ['close', 'error'] as const) socket.addEventListener(end as 'error', () => this.#end());
  }

  /** Null at the end of the connection. Throws the error that the daemon gives for it. */
  async next(): Promise<LiveEvent | null> {
    if (this.#taken > this.#acknowledged && !this.#isOver) {
      this.#acknowledged = this.#taken;
      this.socket.send(JSON.stringify({ type: 'ack', sequence: this.#taken }));
    }
    while (this.#event === null && !this.#isOver) await new Promise<void>((resolve) => (this.#wake = resolve));
    const event = this.#event;
    this.#event = null;
    this.#taken = this.#arrived;
    if (event === null && this.#error !== null) throw this.#error;
    return event;
  }

  close(): void {
    this.#end();
    this.socket.close(normalClosure);
  }

  /** A new picture replaces one that was not taken. */
  #take(data: unknown): void {
    if (typeof data !== 'string') {
      if (this.#frame === null) return;
      const { sequence, screen, tab_id: tabId } = this.#frame;
      this.#arrived = sequence;
      const size = { screenWidth: screen.width, screenHeight: screen.height };
      this.#event = { type: 'picture', bytes: new Uint8Array(data as ArrayBuffer), ...size, tabId };
      return this.#wake();
    }
    const frame = parsed(data);
    if (frame?.type === 'picture') this.#frame = frame;
    if (frame?.type !== 'error') return;
    const { data: message, code, hint, retryable } = frame;
    this.#error = new BoxError({ message, code, hint, retryable });
  }

  #end(): void {
    this.#isOver = true;
    this.#wake();
  }
}

function parsed(text: string): LiveServerFrame | null {
  try {
    return JSON.parse(text) as LiveServerFrame;
  } catch {
    return null; // Another server answers there, and sends no pictures.
  }
}
