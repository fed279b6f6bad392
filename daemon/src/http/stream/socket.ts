/** The WebSocket interface for routes: sessions, upgrades and the offers of a client. */
import type { Socket, SocketHandler } from '../../kit/types/socket.ts';

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
