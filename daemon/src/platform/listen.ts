/** Opens the HTTP port: hands Web requests to the program, and WebSockets to their handlers. */
import type { Server, ServerWebSocket } from 'bun';
import { Notifier } from '../kit/notifier.ts';

/** A WebSocket without a trace of the runtime. */
export interface ServerSocket {
  send(message: string | Uint8Array): boolean;
  readonly bufferedBytes: number;
  drained(signal?: AbortSignal): Promise<void>;
  close(code: number, reason: string): void;
}

export interface ServerSocketHandler {
  open(socket: ServerSocket): void;
  message(socket: ServerSocket, message: string | Uint8Array): void;
  close(socket: ServerSocket, code: number, reason: string): void;
}

/** What the program answers to take a connection over. */
export interface Upgrade {
  readonly handler: ServerSocketHandler;
}

/** The idle limit of a connection: what is lifted for one request stays so until it is restored. */
export interface IdleLimit {
  lift(): void;
  restore(): void;
}

export type Fetch = (request: Request, idleLimit: IdleLimit) => Promise<Response | Upgrade>;

export interface ListenSettings {
  readonly hostname: string;
  readonly port: number;
  /** Of a connection without an open request: 1 to 255. The runtime looks every 4 s. */
  readonly idleSeconds: number;
  /** The subprotocol that is selected when a client offers it. */
  readonly socketProtocol: string;
}

export interface Listener {
  readonly port: number;
  /** Refuses new connections, lets open requests end for so long, then drops what is left. */
  stop(withinMs: number): Promise<void>;
}

/** Far above every body that a route takes, so that refusing one is the program's, in its envelope. */
const maxBodyBytes = 2 ** 40;
const maxSocketMessageBytes = 16 * 1024 * 1024;
/** A producer that does not look at `bufferedBytes` is stopped here. */
const maxSocketBufferBytes = 64 * 1024 * 1024;
const pendingLookMs = 5;

/** Throws an Error with one clear line when the port cannot be had. */
export function listen(settings: ListenSettings, fetch: Fetch): Listener {
  const server = bind(settings, fetch);
  return { port: server.port ?? settings.port, stop: (withinMs) => stop(server, withinMs) };
}

/** The runtime tells of no request that ends, so that its count has to be looked at. */
async function stop(server: Server<Connection>, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  void server.stop(false);
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(pendingLookMs);
  await server.stop(true);
}

function bind({ hostname, port, idleSeconds, socketProtocol }: ListenSettings, fetch: Fetch): Server<Connection> {
  try {
    return Bun.serve<Connection>({
      hostname,
      port,
      development: false,
      reusePort: false,
      maxRequestBodySize: maxBodyBytes,
      idleTimeout: idleSeconds,
      async fetch(request, server) {
        const result = await fetch(request, {
          lift: () => server.timeout(request, 0),
          restore: () => server.timeout(request, idleSeconds),
        });
        if (result instanceof Response) return result;
        const isOffered = (request.headers.get('sec-websocket-protocol') ?? '').split(/, */).includes(socketProtocol);
        const headers = isOffered ? { 'sec-websocket-protocol': socketProtocol } : undefined;
        const data = new Connection(result.handler);
        if (server.upgrade(request, { data, ...(headers ? { headers } : {}) })) return undefined;
        return new Response('this route is a WebSocket', { status: 426, headers: { upgrade: 'websocket' } });
      },
      websocket: {
        maxPayloadLength: maxSocketMessageBytes,
        backpressureLimit: maxSocketBufferBytes,
        closeOnBackpressureLimit: true,
        idleTimeout: 0, // Handlers ping, and end what does not answer.
        open: (socket) => socket.data.open(socket),
        message: (socket, message) => socket.data.message(message),
        drain: (socket) => socket.data.drain(),
        close: (socket, code, reason) => socket.data.close(code, reason),
      },
    });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(`cannot listen on ${hostname}:${port}: ${code}`, { cause: error });
  }
}

/** One open WebSocket. */
class Connection implements ServerSocket {
  #socket: ServerWebSocket<Connection> | null = null;
  readonly #drains = new Notifier();

  constructor(private readonly handler: ServerSocketHandler) {}

  get bufferedBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  send(message: string | Uint8Array): boolean {
    // -1 is "queued", 0 is "not sent".
    return this.#socket !== null && this.#socket.send(message) !== 0;
  }

  async drained(signal?: AbortSignal): Promise<void> {
    while (this.bufferedBytes > 0 && !signal?.aborted) await this.#drains.wait(signal);
  }

  open(socket: ServerWebSocket<Connection>): void {
    this.#socket = socket;
    this.handler.open(this);
  }

  message(message: string | Buffer): void {
    if (!this.#socket) return; // It came while the socket was being closed.
    this.handler.message(this, message);
  }

  drain(): void {
    this.#drains.notify();
  }

  /** Called by the handler with two arguments, and by the runtime when the other side has gone. */
  close(code: number, reason: string): void {
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = null;
    this.#drains.notify();
    if (socket.readyState === WebSocket.OPEN) socket.close(code, reason);
    this.handler.close(this, code, reason);
  }
}
