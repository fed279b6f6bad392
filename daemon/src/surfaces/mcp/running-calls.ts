/** Finds the running call that a `notifications/cancelled` of a 2025 client means. */
import type { RequestId } from './protocol.ts';

/** Identifies a call without sessions: the request id and the identity that the client sends. */
export interface CallKey {
  readonly id: RequestId;
  readonly client: string;
}

/** Equal for all clients of one library, and so no proof. */
export function clientOf(headers: Headers): string {
  return headers.get('user-agent') ?? '';
}

export class RunningCalls {
  readonly #calls = new Set<CallKey & { readonly controller: AbortController }>();

  /** Counts a call as running until the caller disposes of the result. The signal fires when the call is cancelled. */
  begin({ id, client }: CallKey): Disposable & { readonly signal: AbortSignal } {
    const call = { id, client, controller: new AbortController() };
    this.#calls.add(call);
    return {
      signal: call.controller.signal,
      [Symbol.dispose]: () => void this.#calls.delete(call),
    };
  }

  /**
   * Clients count their requests from the same number, and nothing else tells two equal clients apart. So a
   * cancellation that could mean two calls has no effect, which the protocol permits.
   */
  cancel({ id, client }: CallKey): void {
    const meant = [...this.#calls].filter((call) => call.id === id && call.client === client);
    if (meant.length === 1) meant[0]?.controller.abort();
  }
}
