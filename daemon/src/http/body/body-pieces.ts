/** Reads a body piece by piece with backpressure: unread pieces stay with the client. */
import { CoreError } from '../../kit/errors.ts';
import { within, type BodyLimits } from './body.ts';
import { assertConnected } from '../stream/still-connected.ts';

const hint = 'Send it again; nothing of it has been kept.';

/** Throws `malformed_request` when the body stalls, or when the client goes before the body is complete. */
export async function* bodyPieces(request: Request, { stallMs }: BodyLimits): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (!request.body) return;
  const reader = request.body.getReader();
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), stallMs, hint);
      isWhole = done;
      if (done) {
        await assertConnected(request);
        return;
      }
      yield value;
    }
  } catch (error) {
    if (!request.signal.aborted || error instanceof CoreError) throw error;
    throw new CoreError('malformed_request', 'the client has gone before its body was whole', { hint });
  } finally {
    // The answer does not wait for the rest of an unread body.
    if (!isWhole) void reader.cancel().catch(() => null);
  }
}
