/** Streams objects as one JSON line each; a slow client slows only its own iterator. */

export class NdjsonStream<Line> {
  /** `lines` is given the signal that fires when the client has gone. */
  constructor(readonly lines: (signal: AbortSignal) => AsyncIterable<Line>) {}
}

/** Chunks that may wait in the response; past them the iterator is not asked. */
const chunksAhead = 2;

export function ndjsonResponse(stream: NdjsonStream<unknown>, onFault: (error: unknown) => void): Response {
  const reader = new AbortController();
  const iterator = stream.lines(reader.signal)[Symbol.asyncIterator]();
  const body = new ReadableStream<string>(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next();
          if (reader.signal.aborted) return; // Nobody is there to be told.
          if (done) controller.close();
          else controller.enqueue(`${JSON.stringify(value)}\n`);
        } catch (error) {
          // The headers are out: a stream that breaks off without its last line is an error by contract.
          onFault(error);
          controller.error(error);
        }
      },
      async cancel() {
        reader.abort();
        await iterator.return?.();
      },
    },
    { highWaterMark: chunksAhead },
  );
  return new Response(body, {
    headers: {
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no', // A proxy that buffers would hold back live output.
    },
  });
}
