/** The WebSocket interface for routes: small, independent of the runtime, with exact counts of unread bytes. */

export interface Socket {
  /** False when the socket has closed and the message was not sent. */
  send(message: string | Uint8Array): boolean;
  /** Bytes that the client has not received yet. */
  readonly bufferedBytes: number;
  /** Resolves when the client has received everything, the socket closes, or the signal aborts. */
  drained(signal?: AbortSignal): Promise<void>;
  /** Sends a ping of at most 125 bytes. The client echoes it after it has received all earlier messages. */
  ping(text: string): void;
  /** Closes the socket. A client that does not answer the close in time is disconnected. */
  close(code: number, reason: string): void;
}

/** The callbacks of a socket. An exception in one is a bug: it is logged, and the socket closes with 1011. */
export interface SocketHandler {
  /** May close the socket; `close` is then called before this returns. */
  open(socket: Socket): void;
  /** A byte message is valid only during this call. */
  message(socket: Socket, message: string | Uint8Array): void;
  /** The client answered a ping. */
  pong?(socket: Socket, text: string): void;
  /** Called once, no matter which side closed the socket. */
  close(socket: Socket, code: number, reason: string): void;
  /** Called instead of all others when no socket was opened. */
  refused?(): void;
}

/** What begins when a socket opens. */
export interface SocketSession {
  readonly sentBytes: number;
  start(): void;
  message(message: string | Uint8Array): void;
  pong(text: string): void;
  /** `isBroken` means that the connection ended without a close. */
  close(isBroken: boolean): void;
}

/** `onEnd` is called once with the number of sent bytes, also when no socket was opened. */
export function sessionHandler(
  sessionOf: (socket: Socket) => SocketSession,
  onEnd: (sentBytes: number) => void,
): SocketHandler {
  let session: SocketSession | null = null;
  return {
    open(socket) {
      session = sessionOf(socket);
      session.start();
    },
    message: (_socket, message) => session?.message(message),
    pong: (_socket, text) => session?.pong(text),
    close(_socket, code) {
      session?.close(code === abnormalClosure);
      onEnd(session?.sentBytes ?? 0);
    },
    refused: () => onEnd(0),
  };
}

/** A route's answer that turns the connection into a WebSocket. Errors are answered before that, as HTTP. */
export class SocketUpgrade {
  constructor(readonly handler: SocketHandler) {}
}

/** Catches errors and reports them to `onFault`; an error that reached the runtime would end the daemon. */
export function guardHandler(handler: SocketHandler, onFault: (error: unknown) => void): SocketHandler {
  const guard = (socket: Socket, call: () => void) => {
    try {
      call();
    } catch (error) {
      onFault(error);
      socket.close(internalError, 'internal error');
    }
  };
  return {
    open: (socket) => guard(socket, () => handler.open(socket)),
    message: (socket, message) => guard(socket, () => handler.message(socket, message)),
    pong: (socket, text) => guard(socket, () => handler.pong?.(socket, text)),
    close: (socket, code, reason) => guard(socket, () => handler.close(socket, code, reason)),
    refused() {
      try {
        handler.refused?.();
      } catch (error) {
        onFault(error);
      }
    },
  };
}

/** RFC 6455, 7.4.1. */
const [internalError, abnormalClosure] = [1011, 1006];

/** The only subprotocol that the server selects. */
export const socketProtocol = 'svc.v2';
const keyProtocol = 'svc.key.';

export function isUpgrade(headers: Headers): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket';
}

/** Whether the upgrade request is complete, so that the runtime accepts it (RFC 6455, 4.2.1). */
export function isWholeUpgrade({ method, headers }: Request): boolean {
  const key = headers.get('sec-websocket-key') ?? '';
  return method === 'GET' && isUpgrade(headers) && /^[\w+/]{22}==$/.test(key);
}

/** The client's offers: `svc.v2`, and `svc.key.<base64url>` from a client that cannot set headers. */
export function offeredProtocols(headers: Headers): {
  readonly offersProtocol: boolean;
  readonly keys: readonly string[];
} {
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((protocol) => protocol.trim());
  return {
    offersProtocol: offered.includes(socketProtocol),
    keys: offered
      .filter((protocol) => protocol.startsWith(keyProtocol))
      .map((protocol) => Buffer.from(protocol.slice(keyProtocol.length), 'base64url').toString('utf8')),
  };
}
