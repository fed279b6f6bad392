/** A response that is written piece by piece: asked for as the client reads, ended when it goes. */

export interface StreamEvents {
  /** Something that is no failure of the client was thrown in the middle. */
  onFault(error: unknown): void;
  /** The last byte was handed over, or the client has gone; null is a number that nobody knows. */
  onEnd(bytes: number | null): void;
}

/** Nothing waits in the response: what the runtime could not send it has copied before it asks again. */
const piecesAhead = 0;
const encoder = new TextEncoder();

/**
 * `pieces` is given the signal that fires when the client has gone. The memory of a piece may be used again once the
 * next one is asked for.
 */
export function streamBody(
  pieces: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>,
  events: StreamEvents,
): ReadableStream<Uint8Array> {
  const reader = new AbortController();
  const iterator = pieces(reader.signal)[Symbol.asyncIterator]();
  let bytes = 0;
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) events.onEnd(bytes);
    hasEnded = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next();
          if (reader.signal.aborted) return; // Nobody is there to be told.
          if (done) {
            end();
            controller.close();
            return;
          }
          const piece = typeof value === 'string' ? encoder.encode(value) : value;
          bytes += piece.length;
          controller.enqueue(piece);
        } catch (error) {
          // The headers are out: a stream that breaks off without its last line is an error by contract.
          events.onFault(error);
          end();
          controller.error(error);
        }
      },
      async cancel() {
        reader.abort();
        try {
          await iterator.return?.();
        } finally {
          end();
        }
      },
    },
    { highWaterMark: piecesAhead },
  );
}

/** What keeps a stream live through caches and proxies. */
export const streamHeaders = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' } as const;
