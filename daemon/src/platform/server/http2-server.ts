/** Serves HTTP/2 without TLS on a port: Web requests, and answers that may have trailers. */
import { once, type EventEmitter } from 'node:events';
import {
  constants,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TimeSlices } from '../../kit/slices.ts';
import { TrailedResponse } from '../../kit/types/trailed-response.ts';
import { bodyOf } from './http2-body.ts';
import type { Bind, Fetch } from './listen.ts';

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** Streams of one connection that are open at the same time. */
const maxStreams = 1000;
const maxHeaderBytes = 16 * 1024;
/** How many resets, pings and settings a connection may send at once, and each second. */
const [burst, perSecond] = [400, 100];
/** A frame of data has at most this many bytes, and allows a ping more: grpc-go measures the connection this way. */
const frameBytes = 16 * 1024;
/** How often a client is asked whether it is there. The connection of a client that has not answered is closed. */
const askEveryMs = 20_000;

/** Throws the error of the system when the port cannot be opened. */
export const bindHttp2: Bind = async ({ hostname: host, port, idleSeconds }, fetch, reusePort) => {
  const sessions = new Map<Http2Session, Http2Connection>();
  let isLeaving = false;
  const server = createServer({
    settings: { enablePush: false, maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
  });
  server.on('session', (opened) => {
    const session = new Http2Connection(opened, idleSeconds * 1000);
    sessions.set(opened, session);
    opened.on('close', () => sessions.delete(opened));
    if (isLeaving) session.leave();
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const session = stream.session && sessions.get(stream.session);
    if (session) void session.serve(stream, headers, fetch);
    else stream.close(NGHTTP2_REFUSED_STREAM);
  });
  // The listening socket closes itself when it fails; only the failure to open matters, and is thrown below.
  server.on('sessionError', () => undefined);
  server.listen({ host, port, reusePort });
  await once(server, 'listening');
  const asking = setInterval(() => {
    for (const session of sessions.values()) session.ask();
  }, askEveryMs);
  asking.unref();
  return {
    port: (server.address() as AddressInfo).port,
    isServing: () => sessions.values().some(({ isServing }) => isServing),
    release: () => void server.close(),
    leave() {
      isLeaving = true;
      for (const session of sessions.values()) session.leave();
    },
    async drop() {
      clearInterval(asking);
      for (const session of sessions.values()) session.drop();
    },
  };
};

/** One connection. */
class Http2Connection {
  /** The socket itself; what the session shows of it emits nothing. */
  readonly #socket: EventEmitter;
  readonly #streams = new Set<ServerHttp2Stream>();
  #quietFromMs = performance.now();
  #isAsked = false;
  #unasked = burst;
  #countedAtMs = performance.now();

  constructor(
    private readonly session: Http2Session,
    private readonly idleMs: number,
  ) {
    this.#socket = session.socket.on('error', () => session.destroy());
    session.on('ping', () => this.#count());
    session.on('remoteSettings', () => this.#count());
    session.on('error', () => session.destroy()); // The client broke the protocol or has gone.
  }

  get isServing(): boolean {
    return this.#streams.size > 0;
  }

  /** Lets the client open its next stream on another connection. */
  leave(): void {
    if (!this.session.closed) this.session.close();
  }

  drop(): void {
    this.session.destroy();
  }

  /** Closes a connection that is idle, or whose client has not answered since the last call. */
  ask(): void {
    if (this.#isAsked || (!this.isServing && performance.now() - this.#quietFromMs > this.idleMs)) return this.drop();
    this.#isAsked = this.session.ping((error) => {
      if (!error) this.#isAsked = false;
    });
  }

  async serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, fetch: Fetch): Promise<void> {
    const gone = new AbortController();
    let isAnswered = false;
    this.#streams.add(stream);
    stream.on('error', () => undefined); // The stream closes with it.
    stream.on('close', () => {
      this.#streams.delete(stream);
      this.#quietFromMs = performance.now();
      if (!isAnswered) gone.abort(); // The runtime takes a stream that the client has reset for a finished one.
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#count();
    });
    // A stream that its client resets at once costs no more than this turn.
    await nextTurn();
    if (stream.closed) return;
    try {
      const response = await fetch(requestOf(stream, headers, gone.signal), idleLimitOf(stream));
      await answer(stream, response, (bytes) => this.#sent(bytes));
      isAnswered = true;
    } catch {
      stream.close(NGHTTP2_INTERNAL_ERROR); // Of a request that another daemon did not take; the program answers all else.
    }
  }

  /**
   * What waits behind a stream whose client takes no more is sent when the socket says that it is free: the runtime
   * queues all streams as soon as one of them has to wait, and looks again only when the client says something.
   */
  #sent(bytes: number): void {
    this.#allow(Math.ceil(bytes / frameBytes));
    this.#socket.emit('drain');
  }

  /** Counts what has no answer; a client that sends nothing else is cut off. */
  #count(): void {
    const now = performance.now();
    this.#allow(((now - this.#countedAtMs) / 1000) * perSecond);
    this.#countedAtMs = now;
    if (--this.#unasked < 0) this.session.destroy(undefined, NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #allow(more: number): void {
    this.#unasked = Math.min(burst, this.#unasked + more);
  }
}

function requestOf(stream: ServerHttp2Stream, given: IncomingHttpHeaders, signal: AbortSignal): Request {
  const { ':method': method = 'GET', ':path': path = '/', ':authority': authority = given.host ?? '' } = given;
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (!name.startsWith(':') && value !== undefined) headers.set(name, [value].flat().join(', '));
  }
  headers.set('host', authority);
  const hasBody = method !== 'GET' && method !== 'HEAD' && !stream.endAfterHeaders;
  const body = hasBody ? bodyOf(stream) : null;
  return new Request(`http://${authority}${path}`, { method, headers, signal, body });
}

function idleLimitOf(stream: ServerHttp2Stream) {
  return {
    // A connection with a stream is not idle.
    lift: () => undefined,
    restore: () => undefined,
    isOpen: () => !stream.closed,
    unsentBytes: () => stream.writableLength,
  };
}

type OnSent = (bytes: number) => void;

async function answer(stream: ServerHttp2Stream, response: Awaited<ReturnType<Fetch>>, onSent: OnSent): Promise<void> {
  if (!(response instanceof Response)) return stream.close(NGHTTP2_REFUSED_STREAM); // WebSockets need HTTP/1.1.
  const headers: OutgoingHttpHeaders = { ':status': response.status, ...Object.fromEntries(response.headers) };
  delete headers['connection']; // HTTP/2 has no such field.
  if (stream.destroyed) {
    await response.body?.cancel();
    return;
  }
  if (!response.body) return stream.respond({ ...headers, ...trailerOf(response) }, { endStream: true });
  const hasTrailer = response instanceof TrailedResponse;
  stream.respond(headers, { waitForTrailers: hasTrailer });
  if (hasTrailer) stream.on('wantTrailers', () => stream.sendTrailers(trailerOf(response)));
  await send(stream, response.body, onSent);
}

function trailerOf(response: Response): OutgoingHttpHeaders {
  return response instanceof TrailedResponse ? Object.fromEntries(response.trailer) : {};
}

/** Sends the pieces as fast as the client takes them, and lets other streams have their turn. */
async function send(stream: ServerHttp2Stream, body: ReadableStream<Uint8Array>, onSent: OnSent): Promise<void> {
  const reader = body.getReader();
  const slices = new TimeSlices();
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  let drained: (() => void) | null = null;
  stream.on('drain', () => drained?.());
  stream.once('close', () => void reader.cancel().catch(() => null)); // The source reports its failures itself.
  for (;;) {
    const { done, value } = await reader.read();
    if (stream.destroyed) return;
    if (done) return void stream.end();
    const { promise, resolve } = Promise.withResolvers<void>();
    drained = resolve;
    const isTaken = stream.write(value);
    onSent(value.length);
    if (!isTaken) await Promise.race([promise, closed]);
    await slices.next();
  }
}
