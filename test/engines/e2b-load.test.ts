/** Many streams of the protocol at once, a client that stops reading, and a large file. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isShort } from '../harness/counts.ts';
import { enveloped, messagesIn, outputOf, shell, stream } from '../harness/e2b-wire.ts';
import { urlOf, withE2b } from '../harness/e2b.ts';
import { peakDuring } from '../harness/process-memory.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;
const maxPeakMib = 150;

test(
  'E2B-LOAD each of 200 streams at once has its output and its exit code',
  async ({ sandbox }) => {
    const numbers = Array.from({ length: 200 }, (_, i) => i);
    const streams = await Promise.all(
      numbers.map((i) => stream(sandbox, 'Start', shell(`echo ${i}; sleep 1; echo ${i}; exit ${i % 100}`))),
    );
    expect(streams.map(outputOf)).toEqual(numbers.map((i) => `${i}\n${i}\n`));
    const codes = streams.map((messages) => messages.at(-2)?.[1]['event']?.end?.exitCode ?? 0);
    expect(codes).toEqual(numbers.map((i) => i % 100));
  },
  withE2b({ timeoutMs: 120_000 }),
);

test(
  'E2B-LOAD a client that stops reading keeps no command waiting, and has all of its output later',
  async ({ sandbox }) => {
    const size = 64 * mebibyte;
    const peak = await peakDuring(sandbox, async () => {
      const { body } = await fetch(`${urlOf(sandbox)}/process.Process/Start`, {
        method: 'POST',
        body: enveloped(shell(`head -c ${size} /dev/zero`)),
        keepalive: false,
        headers: { 'content-type': 'application/connect+json' },
      });
      const reader = body!.getReader();
      const pieces = [(await reader.read()).value!];
      await until('the command has ended', async () => {
        const { commands } = await sandbox.ok('GET /v2/commands');
        return (commands as { status: string }[]).every(({ status }) => status === 'completed');
      });
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) pieces.push(piece.value);
      expect(outputOf(messagesIn(Buffer.concat(pieces)))).toHaveLength(size);
    });
    expect(peak).toBeLessThan(maxPeakMib);
  },
  withE2b({ timeoutMs: 120_000 }),
);

test(
  'E2B-LOAD a file of 4 GiB goes up and down, and the daemon holds little of it',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'large');
    const url = `${urlOf(sandbox)}/files?path=${path}`;
    const [piece, count] = [Buffer.alloc(mebibyte, 'x'), isShort ? 1024 : 4096];
    const peak = await peakDuring(sandbox, async () => {
      async function* pieces() {
        for (let i = 0; i < count; i++) yield piece;
      }
      const headers = { 'content-type': 'application/octet-stream' };
      expect((await fetch(url, { method: 'POST', body: pieces(), headers, keepalive: false })).status).toBe(200);
      let received = 0;
      for await (const one of (await fetch(url, { keepalive: false })).body ?? []) received += one.length;
      expect(received).toBe(count * mebibyte);
    });
    rmSync(path);
    expect(peak).toBeLessThan(maxPeakMib);
  },
  withE2b({ timeoutMs: 300_000 }),
);
