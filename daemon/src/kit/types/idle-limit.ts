/** The limit on how long a connection may be silent. The limit and its lifting outlast a single request. */

export interface IdleLimit {
  lift(): void;
  restore(): void;
  /** False when the answer is complete or the client has gone; the runtime reports neither. */
  isOpen(): boolean;
  /** Bytes that the system still has to send on the connection. */
  unsentBytes(): number;
}
