/** The WebSocket client keeps its connection, whatever the length and the framing of what a server sends. */
import { createHash } from 'node:crypto';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'bun:test';
import { WebSocketClient, type LongMessage } from './web-socket.ts';

const mebibyte = 1024 * 1024;

/** A frame as a server sends it. */
function frame(opcode: number, payload: string | Buffer, isLast = true): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(10);
  header[0] = (isLast ? 0x80 : 0) | opcode;
  header[1] = 127;
  header.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([header, bytes]);
}

interface Received {
  readonly messages: string[];
  readonly skipped: (readonly [head: string, bytes: number])[];
  readonly sent: Buffer;
}

/** What a client receives when the server sends these bytes in parts of this size, and what the client sends. */
async function receive(bytes: Buffer, partBytes: number, onLong: (head: string) => LongMessage): Promise<Received> {
  const closed = Promise.withResolvers<void>();
  const sent: Buffer[] = [];
  const messages: string[] = [];
  const skipped: [string, number][] = [];
  const server = createServer((socket: Socket) => {
    socket.once('data', (request) => {
      const key = /Sec-WebSocket-Key: (\S+)/.exec(request.toString())?.[1];
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
      socket.on('data', (part: Buffer) => sent.push(part));
      for (let at = 0; at < bytes.length; at += partBytes) socket.write(bytes.subarray(at, at + partBytes));
      socket.end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const client = await WebSocketClient.open(
    { host: '127.0.0.1', port, path: '/', hostHeader: 'localhost', maxBytes: 3 * mebibyte },
    {
      onMessage: (text) => messages.push(text),
      onLong,
      onSkipped: (head, length) => skipped.push([head.slice(0, 5), length]),
      onData: () => null,
      onClose: () => closed.resolve(),
    },
    AbortSignal.timeout(5000),
  );
  await closed.promise;
  expect(client.isOpen).toBe(false);
  server.close();
  return { messages, skipped, sent: Buffer.concat(sent) };
}

test('a message above the limit is skipped, and the next one arrives', async () => {
  const long = `a:"${'x'.repeat(5 * mebibyte)}"`;
  const bytes = Buffer.concat([frame(1, 'first'), frame(1, long), frame(1, ''), frame(1, 'last')]);
  const kept = await receive(bytes, 100_000, () => 'keep');
  expect(kept.messages).toEqual(['first', '', 'last']);
  expect(kept.skipped).toEqual([['a:"xx', long.length]]);
  const short = await receive(bytes, 65_536, () => 'shorten');
  expect(short.messages.map((text) => text.length)).toEqual([5, 65_536 + 5, 0, 4]);
});

test('frames of one message are joined, and a ping between them is answered', async () => {
  const bytes = Buffer.concat([frame(1, 'one ', false), frame(9, 'ping'), frame(0, 'two ', false), frame(0, 'three')]);
  for (const partBytes of [1, 7, 1000]) {
    const { messages } = await receive(bytes, partBytes, () => 'keep');
    expect(messages).toEqual(['one two three']);
  }
});

test('a server that refuses, and what is not a server of WebSockets, are errors', async () => {
  for (const answer of ['HTTP/1.1 403 Forbidden\r\n\r\n', 'HTTP/1.1 101 Yes\r\n\r\n', 'x'.repeat(20_000), '']) {
    const server = createServer((socket) => socket.end(answer));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const observer = { onMessage() {}, onLong: () => 'keep' as const, onSkipped() {}, onData() {}, onClose() {} };
    const address = { host: '127.0.0.1', port, path: '/', hostHeader: 'localhost', maxBytes: 1000 };
    const opening = WebSocketClient.open(address, observer, AbortSignal.timeout(5000));
    const reason = await opening.then(String, String);
    expect(reason).toContain('refused the WebSocket');
    server.close();
  }
});
