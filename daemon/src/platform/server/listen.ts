/** Opens the HTTP port: passes Web requests to the program and WebSockets to their handlers. */
import type { Server, ServerWebSocket } from 'bun';
import { Notifier } from '../../kit/events/notifier.ts';
import type { IdleLimit } from '../../kit/types/idle-limit.ts';
import type { Socket, SocketHandler } from '../../kit/types/socket.ts';
import { SharedPort } from './shared-port.ts';
import { unsentBytes } from './unsent-bytes.ts';

/** The program's answer when it takes over the connection. */
export interface Upgrade {
  readonly handler: SocketHandler;
}

export type Fetch = (request: Request, idleLimit: IdleLimit) => Promise<Response | Upgrade>;

export interface ListenSettings {
  readonly hostname: string;
  readonly port: number;
  /** The setting that names the port, for errors. */
  readonly variable?: string;
  /** For a connection without an open request: 1 to 255. The runtime checks every 4 s. */
  readonly idleSeconds: number;
  /** The subprotocol that is selected when a client offers it. */
  readonly socketProtocol: string;
  /** Opens a server of another protocol than HTTP/1.1 on the port. */
  readonly bind?: Bind;
}

/** A server of the runtime on a port. */
export interface PortServer {
  readonly port: number;
  /** Whether requests or sockets are open. */
  isServing(): boolean;
  /** Stops listening; open connections stay. */
  release(): void;
  /** Lets each client connect again for its next request. */
  leave(): void;
  /** Closes every connection. */
  drop(): Promise<void>;
}

/** Throws the error of the system when the port cannot be opened. */
export type Bind = (settings: ListenSettings, fetch: Fetch, reusePort: boolean) => Promise<PortServer>;

export interface Listener {
  readonly port: number;
  /** Refuses new connections, waits up to `withinMs` for open requests, then drops the rest. */
  stop(withinMs: number): Promise<void>;
  /** Lets another daemon listen on the port too. A port that cannot be shared is released. Does neither once aborted. */
  share(signal: AbortSignal): Promise<void>;
  /** Ends the sharing, and listens again on a port that was released. Throws like `listen`. */
  unshare(): Promise<void>;
  /** Lets clients connect again for their next requests, which another daemon then serves. */
  leave(): void;
  /** Resolves when the last connection of this daemon has ended; new ones go to the other daemon. */
  drain(): Promise<void>;
}

/** Far above every body that a route accepts, so that the program refuses large bodies itself, in its envelope. */
const maxBodyBytes = 2 ** 40;
const maxSocketMessageBytes = 16 * 1024 * 1024;
/** The connection of a producer that ignores `bufferedBytes` is closed at this size. */
const maxSocketBufferBytes = 64 * 1024 * 1024;
const pendingLookMs = 5;
const aloneWithinMs = 3000;
const aloneLookMs = 50;
/** For a client that was about to connect: its last packet may come from far away. */
const lastArrivalMs = 1000;
const leavingLookMs = 100;
/** For a client to receive the end of what was sent to it. */
const closeWithinMs = 10_000;
const bindRetryMs = 2;
const bindWithinMs = 3000;

/** Throws an Error with one clear line when the port cannot be opened. */
export async function listen(settings: ListenSettings, fetch: Fetch): Promise<Listener> {
  return listenerOf(await bind(settings, fetch, false), settings, fetch);
}

/** Like `listen`, on a port that another daemon shares. From then on this daemon receives every new connection. */
export async function listenBeside(settings: ListenSettings, fetch: Fetch): Promise<Listener> {
  const listener = listenerOf(await bindInTime(settings, fetch, true), settings, fetch);
  SharedPort.find(listener.port)?.takeConnections();
  return listener;
}

/** Like `listen`, for a daemon after one that has died. The daemon before that one may still listen. */
export async function listenAgain(settings: ListenSettings, fetch: Fetch): Promise<Listener> {
  try {
    return await listen(settings, fetch);
  } catch {
    return await listenBeside(settings, fetch); // Reports the failure if it lasts.
  }
}

function listenerOf(first: PortServer, settings: ListenSettings, fetch: Fetch): Listener {
  const { port } = first;
  /** A server that has released the port still answers on its connections. */
  const servers = [first];
  let shared: SharedPort | null = null;
  let isReleased = false;
  return {
    port,
    stop: async (withinMs) => void (await Promise.all(servers.map((server) => stop(server, withinMs)))),
    async share(signal) {
      shared = SharedPort.find(port);
      await alone(shared, signal);
      if (signal.aborted || shared?.share(true)) return;
      isReleased = true;
      for (const server of servers) server.release();
    },
    async unshare() {
      shared?.share(false);
      if (!isReleased) return;
      servers.push(await bindInTime({ ...settings, port }, fetch, false));
      isReleased = false;
    },
    leave() {
      for (const server of servers) server.leave();
    },
    drain: () => drain(servers, shared),
  };
}

/** The other daemon may still hold the port: one that cannot be shared is released before it is taken. */
async function bindInTime(settings: ListenSettings, fetch: Fetch, reusePort: boolean): Promise<PortServer> {
  const deadline = performance.now() + bindWithinMs;
  for (;;) {
    try {
      return await bind(settings, fetch, reusePort);
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await Bun.sleep(bindRetryMs);
  }
}

/** Waits for an earlier daemon to leave: the filter of a new daemon assumes exactly two listeners. */
async function alone(shared: SharedPort | null, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + aloneWithinMs;
  const isEarly = () => !signal.aborted && performance.now() < deadline;
  while (shared && shared.listeners() > 1 && isEarly()) await Bun.sleep(aloneLookMs);
}

/** Remaining connections belong to clients that have not sent a request since. Each is closed with its next answer. */
async function drain(servers: readonly PortServer[], shared: SharedPort | null): Promise<void> {
  await Bun.sleep(lastArrivalMs);
  while (shared && shared.waiting() > 0) await Bun.sleep(pendingLookMs);
  shared?.close();
  const isBusy = () => servers.some((server) => server.isServing()) || (shared?.connections() ?? 0) > 0;
  while (isBusy()) await Bun.sleep(leavingLookMs);
}

/** The runtime does not report the end of a request, so this function polls the count. */
async function stop(server: PortServer, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  server.release();
  while (server.isServing() && performance.now() < deadline) await Bun.sleep(pendingLookMs);
  await server.drop();
}

async function bind(settings: ListenSettings, fetch: Fetch, reusePort: boolean): Promise<PortServer> {
  try {
    return await (settings.bind ?? bindHttp)(settings, fetch, reusePort);
  } catch (error) {
    const { hostname, port, variable } = settings;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const name = variable === undefined ? '' : ` (${variable})`;
    const meaning = code === 'EADDRINUSE' ? ', another program has this port' : '';
    throw new Error(`cannot listen on ${hostname}:${port}${name}: ${code}${meaning}`, { cause: error });
  }
}

async function bindHttp(settings: ListenSettings, fetch: Fetch, reusePort: boolean): Promise<PortServer> {
  const server = serve(settings, fetch, reusePort);
  return {
    port: server.port ?? settings.port,
    isServing: () => server.pendingRequests + server.pendingWebSockets > 0,
    release: () => void server.stop(false),
    leave: () => undefined, // Each answer that is forwarded closes its connection.
    drop: () => server.stop(true),
  };
}

function serve(settings: ListenSettings, fetch: Fetch, reusePort: boolean): Server<Connection> {
  const { hostname, port, idleSeconds, socketProtocol } = settings;
  return Bun.serve<Connection>({
    hostname,
    port,
    development: false,
    reusePort,
    maxRequestBodySize: maxBodyBytes,
    idleTimeout: idleSeconds,
    async fetch(request, server) {
      const result = await fetch(request, {
        lift: () => server.timeout(request, 0),
        restore: () => server.timeout(request, idleSeconds),
        isOpen: () => server.requestIP(request) !== null,
        unsentBytes: () => unsentBytes(server.port ?? port, server.requestIP(request)?.port ?? 0),
      });
      if (result instanceof Response) return result;
      const isOffered = (request.headers.get('sec-websocket-protocol') ?? '').split(/, */).includes(socketProtocol);
      // Without this header the runtime selects the first protocol that the client offers; an empty value selects
      // none.
      const headers = { 'sec-websocket-protocol': isOffered ? socketProtocol : '' };
      const data = new Connection(result.handler);
      if (server.upgrade(request, { data, headers })) return undefined;
      result.handler.refused?.();
      return new Response('this route is a WebSocket', { status: 426, headers: { upgrade: 'websocket' } });
    },
    websocket: {
      maxPayloadLength: maxSocketMessageBytes,
      backpressureLimit: maxSocketBufferBytes,
      closeOnBackpressureLimit: true,
      idleTimeout: 0, // Handlers send pings and close connections that do not answer.
      open: (socket) => socket.data.open(socket),
      message: (socket, message) => socket.data.message(message),
      pong: (socket, payload) => socket.data.pong(payload.toString()),
      drain: (socket) => socket.data.drain(),
      close: (socket, code, reason) => socket.data.close(code, reason),
    },
  });
}

/** One open WebSocket. */
class Connection implements Socket {
  #socket: ServerWebSocket<Connection> | null = null;
  readonly #drains = new Notifier();
  #ending: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly handler: SocketHandler) {}

  get bufferedBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  send(message: string | Uint8Array): boolean {
    // -1 means queued, 0 means not sent.
    return this.#socket !== null && this.#socket.send(message) !== 0;
  }

  async drained(signal?: AbortSignal): Promise<void> {
    while (this.bufferedBytes > 0 && !signal?.aborted) await this.#drains.wait(signal);
  }

  ping(text: string): void {
    this.#socket?.ping(text);
  }

  open(socket: ServerWebSocket<Connection>): void {
    this.#socket = socket;
    this.handler.open(this);
  }

  message(message: string | Buffer): void {
    if (!this.#socket) return; // The message arrived while the socket was being closed.
    this.handler.message(this, message);
  }

  pong(text: string): void {
    if (this.#socket) this.handler.pong?.(this, text);
  }

  drain(): void {
    this.#drains.notify();
  }

  /** Called by the handler, and by the runtime when the peer has gone. */
  close(code: number, reason: string): void {
    const socket = this.#socket;
    clearTimeout(this.#ending);
    if (!socket) return;
    this.#socket = null;
    this.#drains.notify();
    if (socket.readyState === WebSocket.OPEN) this.#end(socket, code, reason);
    this.handler.close(this, code, reason);
  }

  /** A client that stops reading would otherwise hold the connection forever. */
  #end(socket: ServerWebSocket<Connection>, code: number, reason: string): void {
    socket.close(code, reason);
    this.#ending = setTimeout(() => socket.terminate(), closeWithinMs);
    this.#ending.unref();
  }
}
