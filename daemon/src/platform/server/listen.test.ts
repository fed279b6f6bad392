/** Streams and sockets over a real port: backpressure reaches the producer, and an end is reported once. */
import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { z } from 'zod';
import { createApp } from '../../http/app.ts';
import { ApiKey } from '../../http/guard/auth.ts';
import { MemoryBudget } from '../../kit/memory-budget.ts';
import { OpenStreams } from '../../http/stream/open-streams.ts';
import { bindRoutes, routesFor, type Route } from '../../http/route/route.ts';
import { SocketUpgrade } from '../../http/stream/socket.ts';
import { SseStream, type SseEvent } from '../../http/stream/sse.ts';
import { Logger } from '../../kit/logger.ts';
import type { Socket, SocketHandler } from '../../kit/types/socket.ts';
import { listen } from './listen.ts';

const megabyte = 1024 * 1024;
const route = routesFor<object>();

/** Serves some routes on a free port. */
async function serve(routes: readonly Route<object>[], apiKey: string | null = null) {
  const streams = new OpenStreams(8);
  const log: string[] = [];
  const memory = { limitBytes: 64 * megabyte, freeBytes: () => 64 * megabyte, collect: () => undefined };
  const app = createApp({
    routes: bindRoutes(routes, {}),
    apiKey: new ApiKey(apiKey),
    guard: { allowedHosts: [], corsOrigins: [], hasKey: false, ownName: 'box' },
    body: { room: new MemoryBudget(memory), stallMs: 1000 },
    streams,
    logger: new Logger('info', (line) => log.push(line)),
  });
  const listener = await listen({ hostname: '127.0.0.1', port: 0, idleSeconds: 1, socketProtocol: 'svc.v2' }, app);
  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    streams,
    log,
    [Symbol.asyncDispose]: () => listener.stop(0),
  };
}

function sseRoute(events: (signal: AbortSignal) => AsyncIterable<SseEvent>) {
  return route({
    operation: 'test.events',
    method: 'GET',
    path: '/events',
    summary: 'Events',
    events: z.unknown(),
    handle: () => new SseStream(events),
  });
}

function socketRoute(handler: SocketHandler) {
  return route({
    operation: 'test.socket',
    method: 'GET',
    path: '/socket',
    summary: 'A socket',
    socket: {},
    handle: () => new SocketUpgrade(handler),
  });
}

/** Resolves once a condition holds. The runtime reports no change, so the function polls. */
async function until(isSo: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 5000; !isSo(); await Bun.sleep(5)) {
    if (performance.now() > deadline) throw new Error('not within 5 s');
  }
}

test('events are framed, with ids and comments, and the stream ends', async () => {
  await using server = await serve([
    sseRoute(async function* () {
      yield { event: 'watch_started', data: { a: 'line\nbreak' } };
      yield { comment: 'still\nhere' };
      yield { event: 'file_change', id: 'w:1', data: null };
    }),
  ]);
  const response = await fetch(`${server.url}/events`);

  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(await response.text()).toBe(
    'event: watch_started\ndata: {"a":"line\\nbreak"}\n\n: still here\n\nid: w:1\nevent: file_change\ndata: null\n\n',
  );
  expect(server.streams.count).toBe(0);
});

test('a client that does not read stops the producer, and its disconnect ends the producer', async () => {
  let produced = 0;
  let hasEnded = false;
  await using server = await serve([
    sseRoute(async function* (signal) {
      try {
        for (; !signal.aborted && produced < 2000; produced++) yield { event: 'x', data: 'y'.repeat(megabyte) };
      } finally {
        hasEnded = true;
      }
    }),
  ]);
  const stalled = connect(server.port, '127.0.0.1');
  stalled.pause();
  stalled.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => produced > 0);
  let last = -1;
  while (last !== produced) {
    last = produced;
    await Bun.sleep(100);
  }

  expect(produced).toBeLessThan(64);
  expect(server.streams.count).toBe(1);
  stalled.destroy();
  await until(() => hasEnded && server.streams.count === 0);
});

test('PROMISE-6 an event reader and a socket that stall do not delay any other reader', async () => {
  const events = 2000;
  const burst = 'z'.repeat(megabyte);
  await using server = await serve([
    sseRoute(async function* () {
      for (let n = 0; n < events; n++) yield { event: 'x', data: 'y'.repeat(10_000) };
    }),
    socketRoute({
      open: (socket) => void socket.send(burst),
      message: (socket) => void socket.send(burst),
      close() {},
    }),
  ]);
  const key =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const asks = [
    'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n',
    `GET /socket HTTP/1.1\r\nHost: localhost\r\n${key}\r\n`,
  ];
  const stalled = asks.flatMap((ask) =>
    Array.from({ length: 4 }, () => {
      const socket = connect(server.port, '127.0.0.1').pause();
      socket.write(ask);
      return socket;
    }),
  );
  await until(() => server.streams.count === 4);

  const text = await (await fetch(`${server.url}/events`)).text();
  expect(text.length).toBe(events * `event: x\ndata: "${'y'.repeat(10_000)}"\n\n`.length);
  const client = new WebSocket(`${server.url.replace('http', 'ws')}/socket`);
  let received = 0;
  for (let n = 0; n < 20; n++) {
    received += await new Promise<number>((resolve) => {
      client.onmessage = ({ data }) => resolve((data as string).length);
      if (n > 0) client.send('more');
    });
  }
  expect(received).toBe(20 * megabyte);
  client.close();
  for (const socket of stalled) socket.destroy();
});

test('a HEAD has the headers of the GET, and starts nothing', async () => {
  let begun = 0;
  let cancelled = 0;
  const file = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: () => void (cancelled += 1),
  });
  await using server = await serve([
    sseRoute(async function* () {
      begun += 1;
      yield { event: 'x', data: null };
    }),
    route({
      operation: 'test.file',
      method: 'GET',
      path: '/file',
      summary: 'A file',
      raw: { contentType: 'text/plain', description: 'The file' },
      handle: () => new Response(file, { headers: { 'content-type': 'text/plain' } }),
    }),
  ]);
  const head = await fetch(`${server.url}/events`, { method: 'HEAD' });

  expect([head.status, head.headers.get('content-type'), begun]).toEqual([200, 'text/event-stream', 0]);
  expect(server.streams.count).toBe(0);
  const fileHead = await fetch(`${server.url}/file`, { method: 'HEAD' });
  expect([fileHead.status, fileHead.headers.get('content-type'), cancelled]).toEqual([200, 'text/plain', 1]);
});

test('a socket reports how many bytes the client has not taken, and when the backlog is gone', async () => {
  let socket: Socket | null = null;
  let drained = 0;
  await using server = await serve([
    socketRoute({
      open(opened) {
        socket = opened;
        for (let i = 0; i < 32; i++) opened.send('z'.repeat(megabyte));
        void opened.drained().then(() => (drained += 1));
      },
      message: (open, message) => open.send(message),
      close: () => {
        socket = null;
      },
    }),
  ]);
  const raw = connect(server.port, '127.0.0.1');
  raw.pause();
  raw.write(
    'GET /socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await until(() => socket !== null);

  expect((socket as Socket | null)?.bufferedBytes).toBeGreaterThan(megabyte);
  expect(drained).toBe(0);
  raw.resume();
  await until(() => drained === 1);
  raw.destroy();
  await until(() => socket === null);
});

test('text and bytes pass both ways, a close is reported once, and svc.v2 is the selected protocol', async () => {
  const closes: number[] = [];
  await using server = await serve([
    socketRoute({
      open: (socket) => socket.send('ready'),
      message(socket, message) {
        if (message === 'bye') socket.close(4000, 'ended');
        else socket.send(message);
      },
      close: (_socket, code) => closes.push(code),
    }),
  ]);
  const client = new WebSocket(`${server.url.replace('http', 'ws')}/socket`, ['other', 'svc.v2']);
  client.binaryType = 'arraybuffer';
  const seen: unknown[] = [];
  client.onmessage = ({ data }) => {
    seen.push(typeof data === 'string' ? data : [...new Uint8Array(data as ArrayBuffer)]);
    if (seen.length === 1) client.send(new Uint8Array([1, 0, 255]));
    if (seen.length === 2) client.send('bye');
  };
  const closed = await new Promise<CloseEvent>((resolve) => {
    client.onclose = resolve;
  });

  expect(seen).toEqual(['ready', [1, 0, 255]]);
  expect(client.protocol).toBe('svc.v2');
  expect([closed.code, closed.reason]).toEqual([4000, 'ended']);
  expect(closes).toEqual([4000]);
});

/** The events that a client sees from a socket, after it sends these messages once the socket is open. */
async function visit(url: string, messages: readonly string[] = []) {
  const client = new WebSocket(`${url.replace('http', 'ws')}/socket`);
  const seen: unknown[] = [];
  client.onmessage = ({ data }) => seen.push(data);
  client.onopen = () => messages.forEach((message) => client.send(message));
  const { code, reason } = await new Promise<CloseEvent>((resolve) => {
    client.onclose = resolve;
  });
  return { seen, code, reason };
}

test('a socket may close as it opens: sent messages arrive, and the close is reported once', async () => {
  const calls: unknown[] = [];
  await using server = await serve([
    socketRoute({
      open(socket) {
        socket.send('refused');
        socket.close(4001, 'no room');
        calls.push(socket.send('late'), socket.bufferedBytes);
        socket.close(4002, 'again');
      },
      message: (_socket, message) => calls.push(message),
      close: (_socket, code, reason) => calls.push([code, reason]),
    }),
  ]);

  expect(await visit(server.url, ['a', 'b'])).toEqual({ seen: ['refused'], code: 4001, reason: 'no room' });
  expect(calls).toEqual([[4001, 'no room'], false, 0]);
});

test('no message reaches a socket that its handler has closed', async () => {
  const messages: unknown[] = [];
  await using server = await serve([
    socketRoute({
      open() {},
      message(socket, message) {
        messages.push(message);
        socket.close(4000, 'enough');
      },
      close() {},
    }),
  ]);

  expect(await visit(server.url, ['a', 'b', 'c'])).toMatchObject({ code: 4000 });
  expect(messages).toEqual(['a']);
});

test('an error in a socket handler is logged and closes only that socket', async () => {
  const closes: number[] = [];
  for (const place of ['open', 'message', 'close']) {
    const fail = (here: string) => {
      if (here === place) throw new Error(`thrown in ${place}`);
    };
    await using server = await serve([
      socketRoute({
        open: () => fail('open'),
        message(socket) {
          fail('message');
          socket.close(4000, '');
        },
        close(_socket, code) {
          closes.push(code);
          fail('close');
        },
      }),
    ]);
    const { code } = await visit(server.url, ['a']);

    expect([place, code]).toEqual([place, place === 'close' ? 4000 : 1011]);
    await until(() => server.log.some((line) => line.includes('a bug')));
    const faults = server.log.map((line) => JSON.parse(line)).filter(({ message }) => message === 'a bug');
    expect(faults).toMatchObject([
      { level: 'error', route: '/socket', request_id: expect.any(String), stack: expect.stringContaining(place) },
    ]);
    expect((await fetch(`${server.url}/socket`)).status).toBe(426);
  }
  expect(closes).toEqual([1011, 1011, 4000]);
});

test('a key in the URL is removed, and the rest of the request stays', async () => {
  let hasGone = false;
  await using server = await serve(
    [
      route({
        operation: 'test.echo',
        method: 'POST',
        path: '/echo',
        summary: 'What came',
        query: z.looseObject({}),
        body: z.looseObject({}),
        data: z.unknown(),
        handle: (_deps, { query, body }) => ({ query, body }),
      }),
      route({
        operation: 'test.wait',
        method: 'GET',
        path: '/wait',
        summary: 'Waits for the client to go',
        data: z.unknown(),
        handle: (_deps, { context }) =>
          new Promise((resolve) => {
            context.signal.addEventListener('abort', () => {
              hasGone = true;
              resolve(null);
            });
          }),
      }),
    ],
    'secret',
  );
  const echo = async (body: string | ReadableStream<Uint8Array>) => {
    const response = await fetch(`${server.url}/echo?a=1%262&api_key=secret&api%5Fkey=secret&b=+`, {
      method: 'POST',
      body,
    });
    return ((await response.json()) as { data: unknown }).data;
  };
  const query = { a: '1&2', b: ' ' };
  const large = { text: 'x'.repeat(200_000) };
  const chunked = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of ['{"in', '":"parts"}']) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });

  expect(await echo('{"small":1}')).toEqual({ query, body: { small: 1 } });
  expect(await echo(JSON.stringify(large))).toEqual({ query, body: large });
  expect(await echo(chunked)).toEqual({ query, body: { in: 'parts' } });
  const client = new AbortController();
  const waiting = fetch(`${server.url}/wait?api_key=secret`, { signal: client.signal }).catch(() => null);
  setTimeout(() => client.abort(), 100);
  await waiting;
  await until(() => hasGone);
});

test('the key can be offered as a subprotocol, beside svc.v2 and never alone', async () => {
  await using server = await serve(
    [socketRoute({ open: (socket) => socket.close(1000, ''), message() {}, close() {} })],
    'secret/ö',
  );
  const offer = async (protocols: string[]) => {
    const response = await fetch(`${server.url}/socket`, {
      headers: {
        upgrade: 'websocket',
        connection: 'upgrade',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-protocol': protocols.join(', '),
      },
    });
    return [response.status, response.headers.get('sec-websocket-protocol')];
  };
  const key = `svc.key.${Buffer.from('secret/ö').toString('base64url')}`;

  expect(await offer(['svc.v2', key])).toEqual([101, 'svc.v2']);
  expect(await offer([key])).toEqual([400, null]);
  expect(await offer(['svc.v2', 'svc.key.d3Jvbmc'])).toEqual([401, null]);
  expect(await offer(['svc.v2'])).toEqual([401, null]);
  expect(server.log.join('').includes('secret')).toBe(false);
});

test('a plain request to a socket route is answered with 426', async () => {
  await using server = await serve([socketRoute({ open() {}, message() {}, close() {} })]);

  expect((await fetch(`${server.url}/socket`)).status).toBe(426);
});

test('a socket may be silent for longer than the idle timeout of a connection', async () => {
  await using server = await serve([
    socketRoute({ open() {}, message: (socket, message) => socket.send(message), close() {} }),
  ]);
  const client = new WebSocket(`${server.url.replace('http', 'ws')}/socket`);
  await new Promise((resolve) => client.addEventListener('open', resolve));
  await Bun.sleep(5000);
  const answer = new Promise<string>((resolve) => {
    client.addEventListener('message', ({ data }) => resolve(String(data)));
    client.addEventListener('close', ({ code }) => resolve(`closed ${code}`));
  });
  client.send('still here');

  expect(await answer).toBe('still here');
  client.close();
});
