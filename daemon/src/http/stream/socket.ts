/** The WebSocket interface for routes: sessions, upgrades and the offers of a client. */
import { CoreError } from '../../kit/errors.ts';
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

const socketVersion = '13';
/** The only subprotocol that the server selects. */
export const socketProtocol = 'svc.v2';
const keyProtocol = 'svc.key.';

export function isUpgrade(headers: Headers): boolean {
  return headers.get('upgrade')?.toLowerCase() === 'websocket';
}

/**
 * Throws `upgrade_required` unless the upgrade request is complete, so that the runtime accepts it (RFC 6455, 4.2.1),
 * and `malformed_request` for a client that offers only its key: the server would have to echo it as the protocol.
 */
export function assertUpgrade({ method, headers }: Request, path: string): void {
  const isWhole =
    /^[\w+/]{22}==$/.test(headers.get('sec-websocket-key') ?? '') &&
    headers.get('sec-websocket-version')?.trim() === socketVersion;
  if (method !== 'GET' || !isUpgrade(headers) || !isWhole)
    throw new CoreError('upgrade_required', `${path} is a WebSocket`, {
      hint: 'Connect to it with a WebSocket client: ws://… or wss://….',
    });
  const { offersProtocol, keys } = offeredProtocols(headers);
  if (keys.length > 0 && !offersProtocol)
    throw new CoreError('malformed_request', 'the key was offered as the only subprotocol', {
      hint: 'Offer svc.v2 beside svc.key.<base64url>.',
    });
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
