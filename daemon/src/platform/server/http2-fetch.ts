/** Sends a request to a server of this machine over HTTP/2 without TLS, and returns its answer with the trailers. */
import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { TrailedResponse } from '../../kit/types/trailed-response.ts';
import { bodyOf } from './http2-body.ts';
import type { Ask } from './handover-gate.ts';

/** On a connection of its own. */
export const http2Fetch: Ask = async (address, { method, headers, body, signal }) => {
  const { origin, pathname, search } = new URL(address);
  const session = connect(origin);
  const given = new Headers(headers);
  const authority = given.get('host') ?? '';
  given.delete('host');
  const stream = session.request({
    ...{ ':method': method, ':path': `${pathname}${search}`, ':authority': authority },
    ...Object.fromEntries(given),
  });
  session.on('error', (error) => stream.destroy(error));
  stream.on('close', () => session.close());
  signal.addEventListener('abort', () => stream.destroy(), { once: true });
  const trailer = new Headers();
  stream.on('trailers', (fields) => copy(fields, trailer));
  const answered = once(stream, 'response', { signal });
  if (body instanceof ReadableStream) for await (const piece of body) stream.write(piece);
  else if (body !== null) stream.write(Buffer.from(body as Uint8Array));
  stream.end();
  const [fields] = (await answered) as [IncomingHttpHeaders];
  const answer = { status: Number(fields[':status']), headers: copy(fields, new Headers()) };
  // What has no body has the fields of its trailers among its headers.
  if (fields['grpc-status'] !== undefined) return new TrailedResponse(null, answer, trailer);
  return new TrailedResponse(bodyOf(stream), answer, trailer);
};

function copy(fields: IncomingHttpHeaders, into: Headers): Headers {
  for (const [name, value] of Object.entries(fields)) {
    if (!name.startsWith(':') && value !== undefined) into.set(name, [value].flat().join(', '));
  }
  return into;
}
