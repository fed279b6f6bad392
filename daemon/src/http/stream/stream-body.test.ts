/** Streams over a real connection, from a producer that reuses one buffer for all pieces. */
import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { listen, type Fetch } from '../../platform/server/listen.ts';
import { streamBody } from './stream-body.ts';

const pieces = 300;
const largest = 96 * 1024;

/** Large and small pieces in turns; the content of each identifies it. */
function contentOf(index: number): Buffer {
  return Buffer.alloc(index % 7 === 0 ? 50 : largest, index % 251);
}

async function* rewritten(): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(largest);
  for (let index = 0; index < pieces; index++) {
    const length = contentOf(index).copy(buffer);
    yield buffer.subarray(0, length);
    buffer.fill('~');
  }
}

const whole = Buffer.concat(Array.from({ length: pieces }, (_, index) => contentOf(index)));

async function serve() {
  const ended: number[] = [];
  const fetch: Fetch = (_request, idleLimit) => {
    idleLimit.lift();
    const events = { onFault: (error: unknown) => expect(error).toBeNull(), onEnd: (n: number) => ended.push(n) };
    return Promise.resolve(new Response(streamBody(rewritten, events)));
  };
  const listener = await listen({ hostname: '127.0.0.1', port: 0, idleSeconds: 10, socketProtocol: 'none' }, fetch);
  return { port: listener.port, ended, [Symbol.asyncDispose]: () => listener.stop(0) };
}

test('a buffer may be reused once the next piece is requested, also with fast readers', async () => {
  await using server = await serve();
  const get = async () => Buffer.from(await (await fetch(`http://127.0.0.1:${server.port}`)).arrayBuffer());
  const bodies = await Promise.all(Array.from({ length: 8 }, get));
  expect(bodies.map((body) => body.equals(whole))).toEqual(Array(8).fill(true));
  expect(server.ended).toEqual(Array(8).fill(whole.length));
});

test('a reader that stalls halfway and resumes receives the same bytes', async () => {
  await using server = await serve();
  const stalled = connect(server.port, '127.0.0.1').pause();
  await once(stalled, 'connect');
  stalled.write('GET / HTTP/1.0\r\nHost: localhost\r\n\r\n');
  await once(stalled, 'readable'); // The socket buffers are full, and the client does not read.
  expect(Buffer.from(await (await fetch(`http://127.0.0.1:${server.port}`)).arrayBuffer()).equals(whole)).toBe(true);
  expect(server.ended).toEqual([whole.length]);

  const parts: Buffer[] = [];
  for await (const part of stalled) parts.push(part as Buffer);
  expect(Buffer.concat(parts).subarray(-whole.length).equals(whole)).toBe(true);
});
