/** Refuses a request whose connection broke before any work started for it. */
import { CoreError } from '../kit/errors.ts';

/**
 * The runtime closes a connection when data follows a request in the same packet: the end of the client's side, a
 * second request, or a trailer (docs/decisions/0011-http-edges.md). The runtime reports the close only after it has
 * delivered the request, so this function waits one turn of the event loop. Throws `malformed_request`.
 */
export async function assertConnected({ signal }: Request): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  if (!signal.aborted) return;
  throw new CoreError('malformed_request', 'the connection broke before the request was started', {
    hint: 'Nothing was started: send the request again, alone on its connection, and keep your side open.',
  });
}
