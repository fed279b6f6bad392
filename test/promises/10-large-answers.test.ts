/** Promise 10: no answer, and no number of answers at once, takes the daemon past its share of a small machine. */
import { inControlGroup } from '../harness/control-group.ts';
import { memoryOf } from '../harness/process-memory.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

const mebibyte = 1024 * 1024;
const smallMachine = inControlGroup(
  { memoryBytes: 256 * mebibyte },
  { env: { SVC_STREAM_KEPT_MIB: '128', SVC_TOTAL_KEPT_MIB: '1024' } },
);
/** A daemon that uses every route has about 60 MiB; what is more than this in the middle of an answer is its content. */
const peakMib = 110;

/** The largest anonymous memory of the daemon while `work` runs. */
async function peakDuring(sandbox: Sandbox, work: () => Promise<void>): Promise<number> {
  const daemon = sandbox.daemonPid;
  let peak = 0;
  const look = setInterval(() => (peak = Math.max(peak, memoryOf(daemon).anonymousMib)), 2);
  try {
    await work();
  } finally {
    clearInterval(look);
  }
  expect(sandbox.daemonPid).toBe(daemon);
  return peak;
}

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
