/** Streams over a real connection whose producer has one buffer for all of its pieces. */
import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { listen, type Fetch } from '../platform/listen.ts';
import { streamBody } from './stream-body.ts';

const pieces = 300;
const largest = 96 * 1024;

/** Large and small ones in turns; what is in one says which it is. */
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

function serve() {
  const ended: number[] = [];
  const fetch: Fetch = (_request, idleLimit) => {
    idleLimit.lift();
    const events = { onFault: (error: unknown) => expect(error).toBeNull(), onEnd: (n: number) => ended.push(n) };
    return Promise.resolve(new Response(streamBody(rewritten, events)));
  };
  const listener = listen({ hostname: '127.0.0.1', port: 0, idleSeconds: 10, socketProtocol: 'none' }, fetch);
  return { port: listener.port, ended, [Symbol.asyncDispose]: () => listener.stop(0) };
}

test('a piece may be written over once the next one is asked for, however fast its readers are', async () => {
  await using server = serve();
  const get = async () => Buffer.from(await (await fetch(`http://127.0.0.1:${server.port}`)).arrayBuffer());
  const bodies = await Promise.all(Array.from({ length: 8 }, get));
  expect(bodies.map((body) => body.equals(whole))).toEqual(Array(8).fill(true));
  expect(server.ended).toEqual(Array(8).fill(whole.length));
});

test('a reader that stalls in the middle and then goes on is sent the same', async () => {
  await using server = serve();
  const stalled = connect(server.port, '127.0.0.1').pause();
  await once(stalled, 'connect');
  stalled.write('GET / HTTP/1.0\r\nHost: localhost\r\n\r\n');
  await once(stalled, 'readable'); // What the sockets hold is there, and nobody takes it.
  expect(Buffer.from(await (await fetch(`http://127.0.0.1:${server.port}`)).arrayBuffer()).equals(whole)).toBe(true);
  expect(server.ended).toEqual([whole.length]);

  const parts: Buffer[] = [];
  for await (const part of stalled) parts.push(part as Buffer);
  expect(Buffer.concat(parts).subarray(-whole.length).equals(whole)).toBe(true);
});
