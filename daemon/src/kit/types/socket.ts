/** The interface of a WebSocket: small, independent of the runtime, with exact counts of unread bytes. */

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
