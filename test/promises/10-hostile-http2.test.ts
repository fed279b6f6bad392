/** Promise 10 on the port with HTTP/2: clients that break or strain the protocol cost the daemon little. */
import { connect } from 'node:http2';
import { portsOf, withAgentSandbox } from '../harness/agent-sandbox.ts';
import { healthDuring } from '../harness/health-watch.ts';
import {
  callFields,
  enveloped,
  fields,
  flag,
  frame,
  FrameConnection,
  frameType,
  opening,
  preface,
  shellMessage,
} from '../harness/http2-frames.ts';
import { peakDuring } from '../harness/process-memory.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const maxHealthMs = 100;
const maxPeakMib = 150;
const options = withAgentSandbox({ timeoutMs: 180_000 });

const ping = frame(frameType.ping, 0, 0, Buffer.alloc(8));
const start = frame(frameType.headers, flag.endHeaders, 1, fields(callFields('Start', 'localhost')));

interface Flood {
  readonly count: number;
  readonly piece: (at: number) => Uint8Array;
  /** What costs nothing may go on. */
  readonly isBorne?: boolean;
}

/** What a client sends after the opening, again and again. `at` counts from 0. */
const floods: Readonly<Record<string, Flood>> = {
  'calls that are reset at once': {
    count: 20_000,
    piece: (at) =>
      Buffer.concat([
        frame(frameType.headers, flag.endHeaders, at * 2 + 1, fields(callFields('Start', 'localhost'))),
        frame(frameType.reset, 0, at * 2 + 1, Buffer.from([0, 0, 0, 8])),
      ]),
  },
  pings: { count: 200_000, piece: () => ping },
  settings: { count: 200_000, piece: () => frame(frameType.settings, 0, 0) },
  'parts of one head': {
    count: 4000,
    piece: (at) =>
      at === 0
        ? frame(frameType.headers, 0, 1, fields(callFields('Start', 'localhost')))
        : frame(frameType.more, 0, 1, fields({ [`name-${at}`]: 'x'.repeat(8000) })),
  },
  'empty parts of one head': {
    count: 200_000,
    piece: (at) => (at === 0 ? frame(frameType.headers, 0, 1) : frame(frameType.more, 0, 1)),
    isBorne: true,
  },
};

for (const [title, { count, piece, isBorne = false }] of Object.entries(floods))
  test(
    `PROMISE-10 AGS-HTTP2 a flood of ${title} ${isBorne ? 'is borne' : 'ends its connection'} and delays nobody`,
    async ({ sandbox }) => {
      await answersQuickly(sandbox, async () => {
        using client = await FrameConnection.open(portsOf(sandbox).grpc);
        await client.send(opening());
        const atOnce = 100;
        for (let at = 0; at < count; at += atOnce) {
          const pieces = Array.from({ length: atOnce }, (_, i) => piece(at + i));
          if (!(await client.send(Buffer.concat(pieces)))) return;
        }
        if (!isBorne) await client.closed;
      });
    },
    options,
  );

const outputBytes = 64 * 1024 * 1024;
/** More than a client may send that gets nothing. */
const manyPings = 1000;

test(
  'PROMISE-10 AGS-HTTP2 a client that sends a ping with each piece it gets, as grpc-go may, gets all of its stream',
  async ({ sandbox }) => {
    const address = `127.0.0.1:${portsOf(sandbox).grpc}`;
    const session = connect(`http://${address}`);
    const stream = session.request(callFields('Start', address));
    stream.end(enveloped(shellMessage(`head -c ${outputBytes} /dev/zero`)));
    let [bytes, pings] = [0, 0];
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (session.ping(() => undefined)) pings++;
    }
    session.close();
    expect(bytes).toBeGreaterThan(outputBytes);
    expect(pings).toBeGreaterThan(manyPings);
  },
  options,
);

test(
  'PROMISE-10 AGS-HTTP2 a head whose fields unpack to hundreds of megabytes is refused',
  async ({ sandbox }) => {
    await answersQuickly(sandbox, async () => {
      // A field of 4000 bytes enters the table; each further byte stands for the whole of it.
      const value = Buffer.alloc(4000, 'x');
      const entry = Buffer.concat([Buffer.from([0x40, 1]), Buffer.from('a'), Buffer.from([127, 0xa1, 0x1e]), value]);
      const bomb = Buffer.concat([entry, Buffer.alloc(12_000, 0x80 + 62)]);
      for (let round = 0; round < 20; round++) {
        using client = await FrameConnection.open(portsOf(sandbox).grpc);
        await client.send(opening());
        await client.send(frame(frameType.headers, flag.endHeaders | flag.endStream, 1, bomb));
        await until('there is an answer', () => client.received.length > 0);
      }
    });
  },
  options,
);

test(
  'PROMISE-10 AGS-HTTP2 clients that never take what they ask for hold no output in memory',
  async ({ sandbox }) => {
    const clients: FrameConnection[] = [];
    using _all = { [Symbol.dispose]: () => clients.forEach((client) => client[Symbol.dispose]()) };
    await answersQuickly(sandbox, async () => {
      const body = enveloped(shellMessage('head -c 16777216 /dev/zero'));
      for (let number = 0; number < 20; number++) {
        const client = await FrameConnection.open(portsOf(sandbox).grpc);
        clients.push(client);
        await client.send(Buffer.concat([opening(0), start, frame(frameType.data, flag.endStream, 1, body)]));
      }
      await until('the commands have ended', async () => {
        const { commands } = await sandbox.ok('GET /v2/commands');
        const all = commands as { status: string }[];
        return all.length === clients.length && all.every(({ status }) => status === 'completed');
      });
    });
  },
  options,
);

test(
  'PROMISE-10 AGS-HTTP2 a client that reads one of two streams gets all of it, and need not say anything more',
  async ({ sandbox }) => {
    using client = await FrameConnection.open(portsOf(sandbox).grpc);
    const wide = Buffer.from([0x40, 0, 0, 0]);
    const body = enveloped(shellMessage(`head -c ${outputBytes} /dev/zero`));
    const call = (stream: number) => [
      frame(frameType.headers, flag.endHeaders, stream, fields(callFields('Start', 'localhost'))),
      frame(frameType.data, flag.endStream, stream, body),
    ];
    await client.send(Buffer.concat([opening(), frame(frameType.window, 0, 0, wide), ...call(1)]));
    await until('the first stream has filled its window', () => client.received.length === 65_536);
    await client.send(Buffer.concat([...call(3), frame(frameType.window, 0, 3, wide)]));
    const trailers = Buffer.from([frameType.headers, flag.endHeaders | flag.endStream, 0, 0, 0, 3]);
    await until('the second stream has ended', () => client.received.includes(trailers));
  },
  options,
);

test(
  'PROMISE-10 AGS-HTTP2 connections that stop in the middle of a word keep nobody waiting',
  async ({ sandbox }) => {
    const clients: FrameConnection[] = [];
    using _all = { [Symbol.dispose]: () => clients.forEach((client) => client[Symbol.dispose]()) };
    const beginnings = [
      Buffer.alloc(0),
      preface.subarray(0, 10),
      opening(),
      Buffer.concat([opening(), start.subarray(0, 30)]),
    ];
    await answersQuickly(sandbox, async () => {
      for (let number = 0; number < 400; number++) {
        const client = await FrameConnection.open(portsOf(sandbox).grpc);
        clients.push(client);
        await client.send(beginnings[number % beginnings.length] ?? preface);
      }
    });
  },
  options,
);

test(
  'PROMISE-10 AGS-HTTP2 what is not HTTP/2 ends its connection',
  async ({ sandbox }) => {
    for (const bytes of ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', '\0'.repeat(1000)]) {
      using client = await FrameConnection.open(portsOf(sandbox).grpc);
      await client.send(Buffer.from(bytes));
      await client.closed;
    }
  },
  options,
);

async function answersQuickly(sandbox: Sandbox, work: () => Promise<void>): Promise<void> {
  await firstCall(sandbox);
  const pid = sandbox.daemonPid;
  let healthMs = 0;
  const peak = await peakDuring(sandbox, async () => {
    healthMs = await healthDuring(sandbox, work);
  });
  expect(sandbox.daemonPid).toBe(pid);
  expect(healthMs).toBeLessThan(maxHealthMs);
  expect(peak).toBeLessThan(maxPeakMib);
}

/** The code of the calls is loaded with the first one. */
async function firstCall(sandbox: Sandbox): Promise<void> {
  using client = await FrameConnection.open(portsOf(sandbox).grpc);
  const body = frame(frameType.data, flag.endStream, 1, enveloped(new Uint8Array()));
  await client.send(Buffer.concat([opening(), start, body]));
  const trailers = Buffer.from([frameType.headers, flag.endHeaders | flag.endStream, 0, 0, 0, 1]);
  await until('the call is refused', () => client.received.includes(trailers));
}
