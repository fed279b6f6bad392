/** A body piece by piece, as fast as it is taken and no faster: what is not asked for stays with the client. */
import { CoreError } from '../kit/errors.ts';
import { within, type BodyLimits } from './body.ts';

const hint = 'Send it again; nothing of it has been kept.';

/** Throws `malformed_request` when it stalls, or when the client goes before it is whole. */
export async function* bodyPieces(request: Request, { stallMs }: BodyLimits): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (!request.body) return;
  const reader = request.body.getReader();
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), stallMs, hint);
      isWhole = done;
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (!request.signal.aborted || error instanceof CoreError) throw error;
    throw new CoreError('malformed_request', 'the client has gone before its body was whole', { hint });
  } finally {
    // The answer does not wait for the rest of a body that nobody takes.
    if (!isWhole) void reader.cancel().catch(() => null);
  }
}
