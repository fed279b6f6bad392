/** Client of the Chrome DevTools Protocol: finds the browser at an address, and speaks with it over one WebSocket. */
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { CdpClosed, CdpRefusal, CdpTooLarge, CdpUnreachable } from '../kit/cdp-errors.ts';
import { directFetch, isRefused } from './direct-fetch.ts';

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
}

export interface CdpObserver {
  readonly onEvent: (event: CdpEvent) => void;
  readonly onClose: () => void;
}

/** An answer of more characters is not parsed, because parsing it would delay every other request. */
const maxAnswerCharacters = 64 * 1024 * 1024;
/**
 * Chromium reads a message in time that grows with the square of its size, and serves no client meanwhile: 4 MiB took
 * 1 s, 16 MiB 15 s. The limit leaves room for a text of 8 MiB.
 */
const maxCommandBytes = 9 * 1024 * 1024;

export class CdpEndpoint {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    readonly host: string,
    readonly port: number,
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
    const socket = new WebSocket(`ws://${this.address}${socketPath}`, { headers: this.#headers });
    const connection = new SocketConnection(socket, observer);
    await opened(socket, signal);
    return connection;
  }

  async #json(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await directFetch(`http://${this.address}${path}`, {
        headers: this.#headers,
        keepalive: false, // Requests are too rare to keep a connection open.
        signal,
      });
      return (await response.json()) ?? {};
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

function opened(socket: WebSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      signal.removeEventListener('abort', giveUp);
      socket.close();
      reject(new CdpUnreachable(reason));
    };
    const giveUp = () => fail('it did not open its WebSocket in time');
    socket.addEventListener('open', () => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    });
    socket.addEventListener('close', () => fail('it refused the WebSocket'));
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
  });
}

interface Pending {
  readonly method: string;
  readonly sessionId: string | undefined;
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

class SocketConnection implements CdpConnection {
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(
    private readonly socket: WebSocket,
    private readonly observer: CdpObserver,
  ) {
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => this.#end());
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(method: string, params: object, { sessionId, signal }: CdpSendOptions = {}): Promise<unknown> {
    if (!this.isOpen) return Promise.reject(new CdpClosed(`the connection has closed before ${method}`));
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    const id = (this.#lastId += 1);
    const command = JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
    const bytes = Buffer.byteLength(command);
    if (bytes > maxCommandBytes) return Promise.reject(new CdpTooLarge(method, bytes, maxCommandBytes));
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#pending.delete(id);
        reject(abortReason(signal));
      };
      const settle = () => signal?.removeEventListener('abort', abort);
      this.#pending.set(id, {
        ...{ method, sessionId },
        resolve: (result) => (settle(), resolve(result)),
        reject: (error) => (settle(), reject(error)),
      });
      signal?.addEventListener('abort', abort, { once: true });
      this.socket.send(command);
    });
  }

  endSession(sessionId: string, reason: string): void {
    for (const [id, pending] of this.#pending) {
      if (pending.sessionId !== sessionId) continue;
      this.#pending.delete(id);
      pending.reject(new CdpClosed(reason));
    }
  }

  close(): void {
    this.socket.close();
  }

  #receive(text: string): void {
    if (text.length > maxAnswerCharacters) return this.#refuseLong(text);
    const message = JSON.parse(text) as CdpMessage;
    if (message.id === undefined) {
      const { method = '', params, sessionId } = message;
      return this.observer.onEvent({ method, params, ...(sessionId !== undefined && { sessionId }) });
    }
    const pending = this.#take(message.id);
    if (message.error) pending?.reject(new CdpRefusal(textOf(message.error)));
    else pending?.resolve(message.result);
  }

  /** Chromium writes the id of an answer first, and `method` first in an event. */
  #refuseLong(text: string): void {
    const id = /^\{"id":(\d+)/.exec(text.slice(0, 40))?.[1];
    const limit = `${maxAnswerCharacters / 1024 / 1024} Mi`;
    const pending = id === undefined ? undefined : this.#take(Number(id));
    pending?.reject(
      new CdpRefusal(`${pending.method} was answered with ${text.length} characters, more than ${limit}`),
    );
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #end(): void {
    for (const { method, reject } of this.#pending.values()) {
      reject(new CdpClosed(`the connection has closed before the answer to ${method}`));
    }
    this.#pending.clear();
    this.observer.onClose();
  }
}

function textOf({ message, data }: { readonly message: string; readonly data?: string }): string {
  return data === undefined ? message : `${message}: ${data}`;
}

function abortReason(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new DOMException('The wait is over', 'AbortError');
}
