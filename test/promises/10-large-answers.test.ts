/** Promise 10: no answer, and no number of answers at once, takes the daemon past its share of a small machine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inControlGroup } from '../harness/control-group.ts';
import { peakDuring } from '../harness/process-memory.ts';
import { StalledClients } from '../harness/stalled.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;
const stallSeconds = 1;
const smallMachine = inControlGroup(
  { memoryBytes: 256 * mebibyte },
  { env: { SVC_STREAM_KEPT_MIB: '128', SVC_TOTAL_KEPT_MIB: '1024', SVC_BODY_STALL_SECONDS: String(stallSeconds) } },
);
/** A daemon that uses every route has about 60 MiB; what is more than this in the middle of an answer is its content. */
const peakMib = 110;
/** The same where the content itself is held: the room for requests is 128 MiB. */
const peakOfFilesMib = 190;

/** Text of this many bytes without a line end: `printed` by a command, and the same `text`. */
const printed = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x`;

test(
  'PROMISE-10 PROMISE-7 V2CMD-MAX without a limit, 60 MB of output are answered whole, and so are three times 8 MB at once',
  async ({ sandbox }) => {
    const peak = await peakDuring(sandbox, async () => {
      for (const [count, bytes] of [
        [1, 60_000_000],
        [3, 8_000_000],
      ] as const) {
        const run = async () => {
          const result = await sandbox.run({ command: printed(bytes), max_output_length: 0 });
          expect(result).toMatchObject({ truncated: false, exit_code: 0, offset: bytes });
          expect((result['stdout'] as string).length).toBe(bytes);
          expect(result['output']).toBe(result['stdout'] as string);
        };
        await Promise.all(Array.from({ length: count }, run));
      }
    });
    expect(peak).toBeLessThan(peakMib);
  },
  smallMachine,
);

test(
  'PROMISE-10 V2CMD-MAX above 64 Ki characters a cut answer holds at most as many characters as asked, from both ends',
  async ({ sandbox }) => {
    const command = `printf 'é%.0s' $(seq 600000); ${printed(1_000_000)}; echo end`;
    const whole = await sandbox.run({ command, max_output_length: 1_600_004 });
    expect(whole).toMatchObject({ truncated: false, stdout: `${'é'.repeat(600_000)}${'x'.repeat(1_000_000)}end\n` });
    const { stdout, truncated } = await sandbox.run({ command, max_output_length: 1_600_003 });
    const [, head = '', left, tail = ''] =
      /^(é+)(?:x*)\n… \[(\d+) bytes left out; [^\]]+\] …\n(x+end\n)$/.exec(stdout) ?? [];
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(head) + Number(left) + tail.length).toBe(2_200_004);
  },
  smallMachine,
);

test(
  'PROMISE-10 V2CMD-LIMITBYTES V2CMD-UTF8 reads of megabytes by offset join to the output, on both surfaces',
  async ({ sandbox }) => {
    const { command_id: id, session_id: session } = await sandbox.ok('POST /v1/bash/exec', {
      command: `printf '€%.0s' $(seq 700000); ${printed(7_000_000)}`,
      max_output_length: 1,
    });
    const read = async (next: (offset: number) => Promise<Record<string, unknown>>) => {
      const texts: string[] = [];
      for (let offset = 0, reads = 0; offset < 9_100_000 && reads < 20; reads++) {
        const answer = await next(offset);
        texts.push(answer['stdout'] as string);
        offset = answer['offset'] as number;
      }
      return texts;
    };
    const v2 = await read((offset) => sandbox.ok(`GET /v2/commands/${id}?limit_bytes=1000000&offset=${offset}`));
    const v1 = await read((offset) => sandbox.ok('POST /v1/bash/output', { session_id: session, offset }));
    const whole = `${'€'.repeat(700_000)}${'x'.repeat(7_000_000)}`;
    expect([v2.length, v1.length]).toEqual([10, 2]);
    expect([v2.join('') === whole, v1.join('') === whole]).toEqual([true, true]);
  },
  smallMachine,
);

test(
  'PROMISE-10 V2CMD-GAPS a large answer names the output that is no longer kept, and holds the rest',
  async ({ sandbox }) => {
    const result = await sandbox.run({ command: printed(12_000_000), max_output_length: 0 });
    expect(result).toMatchObject({ truncated: true, offset: 12_000_000 });
    const read = await sandbox.ok(`GET /v2/commands/${result['command_id']}?limit_bytes=8000000`);
    const { to } = read['gaps'][0];
    expect(read).toMatchObject({ offset: 12_000_000, gaps: [{ stream: 'stdout', from: 0, to }] });
    const kept = 'x'.repeat(12_000_000 - to);
    expect([result['stdout'] === kept, result['output'] === kept, read['stdout'] === kept]).toEqual([true, true, true]);
    expect(kept.length).toBeGreaterThan(1_000_000);
  },
  { env: { SVC_STREAM_KEPT_MIB: '4' } },
);

/** One answer of 15 MB, with six bytes of JSON for each byte of the file; and one with two bytes per character. */
const contents = { controls: '\u0001'.repeat(15_000_000), wide: '€'.repeat(5_000_000) };

for (const [name, content] of Object.entries(contents)) {
  test(
    `PROMISE-10 PROMISE-7 eight reads at once of a file with 15 MB of ${name} are whole or 429, and end no daemon`,
    async ({ sandbox }) => {
      const path = join(sandbox.directory, 'file');
      writeFileSync(path, content);
      const statuses: number[] = [];
      const peak = await peakDuring(sandbox, async () => {
        const read = async (route: string, body?: object) => {
          const { status, body: answer, headers } = await sandbox.request(route, body);
          if (status === 200) expect(answer.data['content'] === content).toBe(true);
          else expect([status, headers.get('retry-after'), typeof answer.hint]).toEqual([429, '1', 'string']);
          statuses.push(status);
        };
        for (let n = 0; n < 4; n++) {
          void read(`GET /v2/fs/read?path=${path}`);
          void read('POST /v1/file/read', { file: path });
        }
        await until('every read has its answer', () => statuses.length === 8, 30_000);
      });
      expect(statuses).toContain(200);
      expect(peak).toBeLessThan(peakOfFilesMib);
    },
    smallMachine,
  );
}

test(
  'PROMISE-10 clients that do not read their large answers are let go, and the room is free again',
  async ({ sandbox }) => {
    const path = join(sandbox.directory, 'file');
    writeFileSync(path, contents.wide);
    const answered = () => sandbox.logLines().filter((line) => line['route'] === '/v2/fs/read');
    await using stalled = new StalledClients(sandbox.url);
    await stalled.open(6, `GET /v2/fs/read?path=${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until('every read is refused or let go', () => answered().length === 6, 30_000);
    expect(answered().filter((line) => typeof line['broken_off'] === 'string').length).toBeGreaterThan(0);
    const read = async () => (await sandbox.request(`GET /v2/fs/read?path=${path}`)).status === 200;
    await until('the room is free', read);
  },
  smallMachine,
);

test('PROMISE-7 where memory is short, the kernel kills commands before the daemon', async ({ sandbox }) => {
  const result = await sandbox.run({ command: 'cat /proc/self/oom_score_adj' });
  expect(result).toMatchObject({ stdout: '1000\n' });
});
