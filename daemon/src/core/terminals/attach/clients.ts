/** Shares memory and the handover state among all attached clients. */

import { Deadline } from '../../../kit/deadline.ts';
import type { Ownership } from '../../../kit/ownership.ts';

/** A client that can be asked how much output has arrived. */
export interface Confirming {
  /** Resolves when the client has confirmed everything it was sent, or when the signal aborts. */
  allConfirmed(signal: AbortSignal): Promise<void>;
}

/** How long a handover waits for clients to confirm; a client that is slower may see its last bytes twice. */
const confirmMs = 50;
/** How much is read and sent at once. */
export const pieceBytes = 128 * 1024;

export class AttachedClients {
  readonly #durable = new Set<Confirming>();
  readonly #left = new AbortController();
  #memory: Buffer | null = null;

  constructor(private readonly ownership: Ownership) {}

  /** True during a handover. Nothing is sent then, so that the saved offsets stay correct for the next daemon. */
  get isHeld(): boolean {
    return !this.ownership.isOwned;
  }

  /** A shared buffer for one piece. Its user must send the piece before any await. */
  get memory(): Buffer {
    return (this.#memory ??= Buffer.allocUnsafeSlow(pieceBytes));
  }

  /** Registers a durable client until it disconnects. */
  add(client: Confirming): Disposable {
    this.#durable.add(client);
    return { [Symbol.dispose]: () => void this.#durable.delete(client) };
  }

  /** Waits briefly for durable clients to confirm what they were sent. */
  async confirmed(): Promise<void> {
    using deadline = new Deadline(confirmMs);
    await Promise.all([...this.#durable].map((client) => client.allConfirmed(deadline.signal)));
  }

  /** Aborted when another daemon owns the terminals. Clients must then attach there. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  leave(): void {
    this.#left.abort();
  }
}
