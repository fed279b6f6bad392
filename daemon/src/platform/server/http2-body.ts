/** Reads what the other side of an HTTP/2 stream sends. */
import type { Http2Stream } from 'node:http2';

/** Reads from the stream only while the program reads the body, so that a client waits when the program is slow. */
export function bodyOf(stream: Http2Stream): ReadableStream<Uint8Array> {
  const pieces = stream.iterator({ destroyOnReturn: false });
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array);
      },
    },
    { highWaterMark: 0 },
  );
}
