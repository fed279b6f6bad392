/** Streams a response body piece by piece, as fast as the client reads. */
import { CoreError } from '../../kit/errors.ts';

export interface StreamEvents {
  /** An error, not caused by the client, was thrown in the middle of the stream. */
  onFault(error: unknown): void;
  /** The last byte was handed to the runtime, or the client has gone; null when the number of bytes is unknown. */
  onEnd(bytes: number | null): void;
}

/** No piece is buffered here: the runtime copies what it could not send before it asks for the next piece. */
const piecesAhead = 0;
const encoder = new TextEncoder();

/**
 * The signal passed to `pieces` fires when the client has gone. A producer may reuse the memory of a piece once the
 * next piece is requested. The body breaks off when the client takes nothing for `stallMs`.
 */
export function streamBody(
  pieces: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>,
  events: StreamEvents,
  stallMs: number | null = null,
): ReadableStream<Uint8Array> {
  const reader = new AbortController();
  const iterator = pieces(reader.signal)[Symbol.asyncIterator]();
  let bytes = 0;
  let hasEnded = false;
  let stalled: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(stalled);
    if (!hasEnded) events.onEnd(bytes);
    hasEnded = true;
  };
  const stop = async () => {
    reader.abort();
    try {
      await iterator.return?.();
    } finally {
      end();
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stalled);
        try {
          const { done, value } = await iterator.next();
          if (reader.signal.aborted) return; // The client has gone.
          if (done) {
            end();
            controller.close();
            return;
          }
          const piece = typeof value === 'string' ? encoder.encode(value) : value;
          bytes += piece.length;
          controller.enqueue(piece);
          if (stallMs !== null) {
            stalled = setTimeout(() => {
              const error = new CoreError('unavailable', `the client has taken nothing for ${stallMs / 1000} s`);
              events.onFault(error);
              controller.error();
              void stop();
            }, stallMs);
          }
        } catch (error) {
          // The headers are already sent. By contract, a stream without its last line is an error.
          events.onFault(error);
          end();
          controller.error(); // The runtime would print an error to standard error.
        }
      },
      cancel: stop,
    },
    { highWaterMark: piecesAhead },
  );
}

/** Headers that keep caches and proxies from delaying a stream. */
export const streamHeaders = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' } as const;
