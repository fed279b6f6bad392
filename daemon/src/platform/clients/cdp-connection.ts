/** Client of the Chrome DevTools Protocol: finds the browser at an address, and speaks with it over one WebSocket. */
import { boundsWithin, type JsonBounds, outOfBounds } from '../../kit/text/json-bounds.ts';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import {
  CdpClosed,
  CdpRefusal,
  CdpStalled,
  CdpTooLarge,
  CdpTooLong,
  CdpUnreachable,
} from '../../protocols/cdp-errors.ts';
import { untilAborted } from '../../kit/shared-work.ts';
import { directFetch, isRefused, readBounded } from './direct-fetch.ts';
import { WebSocketClient, type LongMessage, type SocketObserver } from '../server/web-socket.ts';

export type CdpCommands = ProtocolMapping.Commands;
export type CdpMethod = keyof CdpCommands;
export type CdpParams<M extends CdpMethod> = NonNullable<CdpCommands[M]['paramsType'][0]>;
export type CdpResult<M extends CdpMethod> = CdpCommands[M]['returnType'];
export type CdpEvents = ProtocolMapping.Events;

export interface CdpEvent {
  readonly method: string;
  readonly params: unknown;
  /** Absent for an event of the browser itself. */
  readonly sessionId?: string;
}

export interface CdpVersion {
  /** For example `Chrome/156.0.8078.79`. */
  readonly product: string;
  readonly userAgent: string;
  /** The path of the WebSocket, which changes with every start of the browser. */
  readonly socketPath: string;
}

export interface CdpConnection {
  readonly isOpen: boolean;
  /** Rejects with `CdpRefusal`, `CdpTooLarge`, `CdpClosed`, or an `AbortError` when the signal fires first. */
  send(method: string, params: object, options?: CdpSendOptions): Promise<unknown>;
  /** Rejects what the session waits for, because the browser answers nothing to a session that has ended. */
  endSession(sessionId: string, reason: string): void;
  close(): void;
}

export interface CdpSendOptions {
  readonly sessionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True for an answer whose long strings are cut, such as the URL of a frame. Any other long answer is refused. */
  readonly isShortened?: boolean | undefined;
}

export interface CdpObserver {
  readonly onEvent: (event: CdpEvent) => void;
  /** Long events of other methods are not read. */
  readonly isHeard: (method: string) => boolean;
  readonly onClose: (reason: CdpClosed) => void;
}

/** Parsing a longer answer would delay every other request. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** Smaller containers keep shorter answers: an answer is held about three times while it is read. */
const answerShare = 1 / 16;
const minAnswerBytes = 4 * 1024 * 1024;
/** The list of targets holds the URLs of all tabs. It only orders the tabs, so a longer one is not read. */
const maxListBytes = 8 * 1024 * 1024;
/**
 * Chromium reads a message in time that grows with the square of its size, and serves no client meanwhile: 4 MiB took
 * 1 s, 16 MiB 15 s. The limit leaves room for a text of 8 MiB.
 */
const maxCommandBytes = 9 * 1024 * 1024;
/** A browser that is silent for this long is asked for a sign of life. */
const askAfterSeconds = 2;
const stalledAfterSeconds = 10;
/** The same while the browser reads a long command. */
const longCommandSeconds = 60;
const longCommandBytes = 1024 * 1024;

export class CdpEndpoint {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    readonly host: string,
    readonly port: number,
    /** The memory that the daemon and its neighbours may use in all. */
    private readonly memoryBytes = Infinity,
  ) {
    // Chromium serves no name but localhost, which protects it from pages that rebind their name.
    this.#headers = isAddress(host) ? {} : { Host: '127.0.0.1' };
  }

  /** The address as `host:port`. */
  get address(): string {
    return `${this.host.includes(':') ? `[${this.host}]` : this.host}:${this.port}`;
  }

  /** Throws `CdpUnreachable`. */
  async version(signal: AbortSignal): Promise<CdpVersion> {
    const found = await this.#json('/json/version', signal);
    const { Browser: product, 'User-Agent': userAgent, webSocketDebuggerUrl: url } = found as Record<string, unknown>;
    const socket = typeof url === 'string' ? URL.parse(url) : null;
    if (typeof product !== 'string' || typeof userAgent !== 'string' || socket === null) {
      throw new CdpUnreachable('what listens there is not a browser');
    }
    return { product, userAgent, socketPath: socket.pathname };
  }

  /** The ids of the targets, the most recently used first. Throws `CdpUnreachable`. */
  async recentTargets(signal: AbortSignal): Promise<readonly string[]> {
    const found = await this.#json('/json/list', signal);
    return Array.isArray(found) ? found.map(({ id }: { id?: unknown }) => String(id)) : [];
  }

  /** Throws `CdpUnreachable`. */
  async connect(socketPath: string, observer: CdpObserver, signal: AbortSignal): Promise<CdpConnection> {
    const { host, port } = this;
    const maxBytes = Math.max(minAnswerBytes, Math.min(maxAnswerBytes, Math.floor(this.memoryBytes * answerShare)));
    const connection = new SocketConnection(observer, maxBytes, boundsWithin(this.memoryBytes));
    try {
      const hostHeader = this.#headers['Host'] ?? this.address;
      const socket = await WebSocketClient.open(
        { host, port, path: socketPath, hostHeader, maxBytes },
        connection,
        signal,
      );
      connection.begin(socket);
      return connection;
    } catch (error) {
      throw new CdpUnreachable((error as Error).message);
    }
  }

  async #json(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await directFetch(`http://${this.address}${path}`, {
        headers: this.#headers,
        keepalive: false, // Requests are too rare to keep a connection open.
        signal,
      });
      const bytes = await readBounded(response.body, maxListBytes);
      return bytes ? JSON.parse(bytes.toString()) : {};
    } catch (error) {
      throw new CdpUnreachable(signal.aborted ? 'it did not answer in time' : reasonOf(error));
    }
  }
}

function isAddress(host: string): boolean {
  return host === 'localhost' || host.includes(':') || /^\d+(?:\.\d+){3}$/.test(host);
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'what listens there is not a browser';
  if (isRefused(error)) return 'nothing listens there';
  const { code = '' } = error as { code?: string };
  return `it cannot be reached (${code || String(error)})`;
}

interface Pending {
  readonly method: string;
  readonly sessionId: string | undefined;
  readonly isShortened: boolean;
  readonly isLong: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface CdpMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly sessionId?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: string };
}

class SocketConnection implements CdpConnection, SocketObserver {
  readonly #pending = new Map<number, Pending>();
  #socket: WebSocketClient | null = null;
  #lastId = 0;
  #silentSeconds = 0;
  #stalled: CdpStalled | null = null;
  #watch: ReturnType<typeof setInterval> | null = null;

  constructor(
    private readonly observer: CdpObserver,
    private readonly maxBytes: number,
    private readonly bounds: JsonBounds,
  ) {}

  begin(socket: WebSocketClient): void {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen ?? false;
  }

  async send(method: string, params: object, options: CdpSendOptions = {}): Promise<unknown> {
    const { sessionId, signal, isShortened = false } = options;
    if (!this.isOpen) throw new CdpClosed(`the connection has closed before ${method}`);
    signal?.throwIfAborted();
    const id = (this.#lastId += 1);
    const command = JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
    const bytes = Buffer.byteLength(command);
    if (bytes > maxCommandBytes) throw new CdpTooLarge(method, bytes, maxCommandBytes);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const isLong = bytes > longCommandBytes;
    this.#pending.set(id, { method, sessionId, isShortened, isLong, resolve, reject });
    this.#socket?.send(command);
    this.#watchSilence();
    try {
      return await (signal ? untilAborted(promise, signal) : promise);
    } finally {
      this.#take(id);
    }
  }

  endSession(sessionId: string, reason: string): void {
    for (const [id, pending] of this.#pending) {
      if (pending.sessionId === sessionId) this.#take(id)?.reject(new CdpClosed(reason));
    }
  }

  close(): void {
    this.#socket?.close();
  }

  onData(): void {
    this.#silentSeconds = 0;
  }

  onMessage(text: string): void {
    const problem = outOfBounds(text, this.bounds);
    if (problem !== null) return this.#refuse(text, problem);
    const message = JSON.parse(text) as CdpMessage;
    if (message.id === undefined) {
      const { method = '', params, sessionId } = message;
      return this.observer.onEvent({ method, params, ...(sessionId !== undefined && { sessionId }) });
    }
    const pending = this.#take(message.id);
    if (message.error) pending?.reject(new CdpRefusal(textOf(message.error)));
    else pending?.resolve(message.result);
  }

  /** An event of such a size says nothing that the daemon reads. */
  #refuse(text: string, problem: string): void {
    const pending = this.#take(answerId(text) ?? 0);
    pending?.reject(new CdpTooLong(`the answer of the browser to ${pending.method} ${problem}`));
  }

  onLong(head: string): LongMessage {
    const id = answerId(head);
    if (id !== null) return this.#pending.get(id)?.isShortened ? 'shorten' : 'keep';
    const [, method = ''] = /^\{"method":"([\w.]+)"/.exec(head) ?? [];
    if (!this.observer.isHeard(method)) return 'skip';
    return method === 'Page.screencastFrame' ? 'keep' : 'shorten';
  }

  onSkipped(head: string, bytes: number): void {
    const id = answerId(head);
    const pending = id === null ? undefined : this.#take(id);
    const limit = `and the limit is ${this.maxBytes}`;
    pending?.reject(new CdpTooLong(`${pending.method} was answered with ${bytes} characters, ${limit}`));
  }

  onClose(): void {
    this.#stopWatch();
    const reason = this.#stalled ?? new CdpClosed('the browser has closed the connection');
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
    this.observer.onClose(reason);
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#stopWatch();
    return pending;
  }

  /** A browser that the system has stopped keeps its connections open. Only its silence shows that it answers no call. */
  #watchSilence(): void {
    if (this.#watch !== null) return;
    this.#silentSeconds = 0;
    this.#watch = setInterval(() => this.#look(), 1000);
    this.#watch.unref(); // The call that waits keeps the process alive.
  }

  /** A late timer counts as one second, so that a daemon that was stopped itself blames no browser. */
  #look(): void {
    this.#silentSeconds += 1;
    if (this.#silentSeconds === askAfterSeconds)
      this.#socket?.send(JSON.stringify({ id: 0, method: 'Browser.getVersion' }));
    const isReading = [...this.#pending.values()].some(({ isLong }) => isLong);
    if (this.#silentSeconds < (isReading ? longCommandSeconds : stalledAfterSeconds)) return;
    this.#stalled = new CdpStalled(this.#silentSeconds);
    this.close();
  }

  #stopWatch(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
  }
}

/** Chromium writes the id of an answer first, and `method` first in an event. */
function answerId(head: string): number | null {
  const id = /^\{"id":(\d+)/.exec(head)?.[1];
  return id === undefined ? null : Number(id);
}

function textOf({ message, data }: { readonly message: string; readonly data?: string }): string {
  return data === undefined ? message : `${message}: ${data}`;
}
