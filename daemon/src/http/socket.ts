/** A WebSocket as routes see it: small, neutral to the runtime, and honest about what the client has not read. */

export interface Socket {
  /** False when the socket has closed, and nothing was sent. */
  send(message: string | Uint8Array): boolean;
  /** Bytes that the client has not taken yet. */
  readonly bufferedBytes: number;
  /** Resolves when the client has taken everything, when the socket closes, or when the signal aborts. */
  drained(signal?: AbortSignal): Promise<void>;
  /** Every client answers it by itself, behind all that it was sent before, with the same text: at most 125 bytes. */
  ping(text: string): void;
  /** A client that does not take it within a while is cut off. */
  close(code: number, reason: string): void;
}

/** What one of them throws is a bug: it is logged, and the socket is closed with 1011. */
export interface SocketHandler {
  /** May close the socket; `close` is then called before this returns. */
  open(socket: Socket): void;
  /** The bytes hold for this call. */
  message(socket: Socket, message: string | Uint8Array): void;
  /** A ping was answered. */
  pong?(socket: Socket, text: string): void;
  /** Called once, whoever closed it. */
  close(socket: Socket, code: number, reason: string): void;
  /** Called in place of all others when there came to be no socket. */
  refused?(): void;
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
const internalError = 1011;

/** The one subprotocol that is ever selected. */
export const socketProtocol = 'svc.v2';
const keyProtocol = 'svc.key.';

export function isUpgrade(headers: Headers): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket';
}

/** Complete, so that the runtime can take it over (RFC 6455, 4.2.1). */
export function isWholeUpgrade({ method, headers }: Request): boolean {
  const key = headers.get('sec-websocket-key') ?? '';
  return method === 'GET' && isUpgrade(headers) && /^[\w+/]{22}==$/.test(key);
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
