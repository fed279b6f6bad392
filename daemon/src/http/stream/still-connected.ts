/** Refuses a request whose connection broke before any work started for it. */
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';

/** Client libraries and browsers send at least one of these. A request that is typed or piped into `nc` has none. */
const libraryHeaders = ['user-agent', 'accept', 'accept-encoding', 'origin'];
/** Time in which `nc -N`, or a script that shuts its side down, does so after the request. */
const handWrittenMs = 50;

/**
 * The runtime closes a connection when data follows a request: the end of the client's side, a second request, or a
 * trailer (docs/decisions/0011-http-edges.md). The runtime reports the close only after it has delivered the request,
 * so this function waits: one turn of the event loop for what came in the same packet, and longer for a request that
 * no library has written, because only such clients shut their side down. Throws `malformed_request`.
 */
export async function assertConnected({ signal, headers }: Request): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  if (!signal.aborted && isHandWritten(headers)) await abortOrTime(signal, handWrittenMs);
  if (!signal.aborted) return;
  throw new CoreError('malformed_request', 'the connection broke before the request was started', {
    hint: 'Nothing was started: send the request again, alone on its connection, and keep your side open.',
  });
}

function isHandWritten(headers: Headers): boolean {
  // node:http sends only Host and Connection: keep-alive.
  return !libraryHeaders.some((name) => headers.has(name)) && !/keep-alive/i.test(headers.get('connection') ?? '');
}

async function abortOrTime(signal: AbortSignal, withinMs: number): Promise<void> {
  using limit = new Deadline(withinMs, signal);
  await new Promise((resolve) => limit.signal.addEventListener('abort', resolve, { once: true }));
}
