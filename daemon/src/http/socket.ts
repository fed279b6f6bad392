/** A WebSocket as routes see it: small, neutral to the runtime, and honest about what the client has not read. */

export interface Socket {
  /** False when the socket has closed, and nothing was sent. */
  send(message: string | Uint8Array): boolean;
  /** Bytes that the client has not taken yet. */
  readonly bufferedBytes: number;
  /** Resolves when the client has taken everything, when the socket closes, or when the signal aborts. */
  drained(signal?: AbortSignal): Promise<void>;
  close(code: number, reason: string): void;
}

/** What one of them throws is a bug: it is logged, and the socket is closed with 1011. */
export interface SocketHandler {
  /** May close the socket; `close` is then called before this returns. */
  open(socket: Socket): void;
  message(socket: Socket, message: string | Uint8Array): void;
  /** Called once, whoever closed it. */
  close(socket: Socket, code: number, reason: string): void;
}

/** What a route answers to take the connection over. Errors are answered before, as HTTP. */
export class SocketUpgrade {
  constructor(readonly handler: SocketHandler) {}
}

/** An error that reached the runtime would end the daemon, so that each is told to `onFault` here. */
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
    close: (socket, code, reason) => guard(socket, () => handler.close(socket, code, reason)),
  };
}

/** RFC 6455, 7.4.1. */
const internalError = 1011;

/** The one subprotocol that is ever selected. */
export const socketProtocol = 'svc.v2';
const keyProtocol = 'svc.key.';

export function isUpgrade(headers: Headers): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket';
}

/** What a client offers: `svc.v2`, and the key as `svc.key.<base64url>` where it cannot set headers. */
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
