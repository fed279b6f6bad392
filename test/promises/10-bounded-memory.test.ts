/** Promise 10: memory is bounded by a published budget, because every request has a cap. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryOf } from '../harness/process-memory.ts';
import { StalledClients } from '../harness/stalled.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;

function rssMib(sandbox: Sandbox): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.daemonPid}/status`, 'utf8'))?.[1]) / 1024;
}

test(
  'PROMISE-10 commands, sessions and streams above their limits are 429, and the others keep working',
  async ({ sandbox }) => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => sandbox.start({ command: 'echo here; sleep 1000' })));
    for (const id of ['a', 'b']) await sandbox.ok('POST /v2/commands/sessions', { id });
    const open = ids.slice(0, 3).map((id) => sandbox.lines(`/v2/commands/${id}?stream=true`));
    for (const lines of open) await lines.next();

    const refusals = [
      await sandbox.request('POST /v2/commands', { command: 'true' }),
      await sandbox.request('POST /v2/commands/sessions', { id: 'c' }),
      await sandbox.request(`GET /v2/commands/${ids[0]}?stream=true`),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([429, 429, 429]);
    for (const { headers, body } of refusals) {
      expect(headers.get('retry-after')).toBe('1');
      expect(body.hint).toBeString();
    }
    expect((await sandbox.request('GET /health')).status).toBe(200);
    for (const lines of open) await lines.return(undefined);
  },
  { env: { SVC_MAX_COMMANDS: '4', SVC_MAX_COMMAND_SESSIONS: '2', SVC_MAX_STREAMS: '3' } },
);

test('PROMISE-10 V2CMD-RETIRE the newest 512 ended commands are kept, older ones are 404', async ({ sandbox }) => {
  const ids: string[] = [];
  for (let batch = 0; batch < 33; batch++) {
    const started = await Promise.all(Array.from({ length: 16 }, () => sandbox.run({ command: 'true', shell: 'sh' })));
    ids.push(...started.map((result) => result['command_id'] as string));
  }
  const kept = (await sandbox.ok('GET /v2/commands'))['commands'] as unknown[];

  expect(kept.length).toBeLessThanOrEqual(512);
  expect((await sandbox.request(`GET /v2/commands/${ids[0]}`)).status).toBe(404);
  expect((await sandbox.request(`GET /v2/commands/${ids.at(-1)}`)).status).toBe(200);
});

test(
  'PROMISE-10 V2CMD-RETAIN output is bounded in total: the oldest commands are evicted',
  async ({ sandbox }) => {
    const run = () => sandbox.run({ command: 'head -c 1000000 /dev/zero', max_output_length: 1 });
    const first = await run();
    for (let number = 0; number < 12; number++) await run();
    const stored = Number((await Bun.$`du -s --block-size=1 ${sandbox.runtimeDirectory}`.text()).split('\t')[0]);

    expect(stored).toBeLessThan(8 * mebibyte);
    await until(
      'the oldest is gone',
      async () => (await sandbox.request(`GET /v2/commands/${first['command_id']}`)).status === 404,
    );
  },
  { env: { SVC_STREAM_KEPT_MIB: '1', SVC_TOTAL_KEPT_MIB: '8' } },
);

test(
  'PROMISE-10 V2CMD-RETAIN running commands that together keep too much keep a fair share each',
  async ({ sandbox }) => {
    const ids = await Promise.all(
      Array.from({ length: 12 }, () =>
        sandbox.start({ command: 'head -c 4000000 /dev/zero; echo done >&2; read line' }),
      ),
    );
    for (const id of ids)
      await until('it has printed', async () => {
        return (await sandbox.ok(`GET /v2/commands/${id}?limit_bytes=1`))['stderr'] === 'd';
      });
    const stored = async () =>
      Number((await Bun.$`du -s --block-size=1 ${sandbox.runtimeDirectory}`.text()).split('\t')[0]);
    await until('the budget holds', async () => (await stored()) < 16 * mebibyte, 15_000);

    const kept = await Promise.all(
      ids.map(async (id) => {
        const { gaps, command } = await sandbox.ok(`GET /v2/commands/${id}?limit_bytes=1`);
        expect(command).toMatchObject({ status: 'running' });
        // The one that printed last may be whole, because the others have been cut before.
        const [gap = { stream: 'stdout', from: 0, to: 0 }] = gaps as { stream: string; from: number; to: number }[];
        expect(gap).toEqual({ stream: 'stdout', from: 0, to: expect.any(Number) });
        return 4_000_000 - gap.to;
      }),
    );
    // A log that reaches its cap keeps three quarters of it.
    expect(Math.min(...kept)).toBeGreaterThanOrEqual(0.75 * mebibyte);
    expect(Math.min(...kept)).toBeLessThan(mebibyte);
  },
  { env: { SVC_STREAM_KEPT_MIB: '4', SVC_TOTAL_KEPT_MIB: '16' } },
);

test(
  'PROMISE-10 V2CMD-SLOW 256 MiB pass a reader, and one that never reads, without filling the memory of the daemon',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'head -c 268435456 /dev/zero | tr "\\0" "x"' });
    const stalled = await sandbox.fetch(`GET /v2/commands/${id}?stream=true`);
    const before = rssMib(sandbox);
    let bytes = 0;
    for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true`)) {
      if (line['type'] === 'stdout') bytes += (line['next'] as number) - (line['offset'] as number);
    }

    expect(bytes).toBe(256 * mebibyte);
    expect(rssMib(sandbox) - before).toBeLessThan(96);
    await stalled.body?.cancel();
  },
  // More than the default retention when the runtime directory is in memory.
  { env: { SVC_STREAM_KEPT_MIB: '512', SVC_TOTAL_KEPT_MIB: '8192' } },
);

test('PROMISE-10 V2CMD-TEXT long scripts, long code and large bodies free their memory with their requests', async ({
  sandbox,
}) => {
  const large = (mib: number) => 'x'.repeat(mib * mebibyte);
  const path = join(sandbox.directory, 'large');
  const run = (code: string, id: string) =>
    sandbox.ok('POST /v2/code/execute', { language: 'python', code, session_id: id });
  await sandbox.run({ command: 'true' });
  await sandbox.ok('POST /v2/fs/write', { path, content: 'small' });
  await run('1', 'a');
  const before = memoryOf(sandbox.daemonPid).anonymousMib;

  for (let n = 0; n < 16; n++) {
    const { stdout, command } = await sandbox.run({ command: `echo ${n} #${large(4)}` });
    expect(stdout).toBe(`${n}\n`);
    expect(command).toBe(`echo ${n} #${large(1)}`.slice(0, 16 * 1024) + '…');
  }
  for (const id of ['a', 'b', 'c']) {
    const code = `1 #${large(8)}`;
    expect((await run(code, id))['code']).toBe(code);
    const { last_execution: last } = await sandbox.ok(`GET /v2/code/sessions/${id}`);
    expect(last.code).toBe(code.slice(0, 16 * 1024) + '…');
  }
  await sandbox.ok('POST /v2/fs/write', { path, content: large(28) });
  await until('the memory is back', () => memoryOf(sandbox.daemonPid).anonymousMib - before < 24, 30_000);
});

test('PROMISE-10 a thousand commands leave descriptors and memory unchanged', async ({ sandbox }) => {
  const batch = async () => {
    for (let n = 0; n < 10; n++)
      await Promise.all(Array.from({ length: 50 }, () => sandbox.run({ command: 'true', shell: 'sh' })));
  };
  await batch();
  const descriptors = sandbox.descriptors().length;
  const before = rssMib(sandbox);
  await batch();

  await until('the descriptors are back', () => sandbox.descriptors().length <= descriptors);
  expect(rssMib(sandbox) - before).toBeLessThan(24);
});

test('PROMISE-10 unfinished bodies share one budget, and above it a large one is 429', async ({ sandbox }) => {
  const before = rssMib(sandbox);
  await using stalled = new StalledClients(sandbox.url);
  const head = 'POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: 33000000\r\n\r\n';
  await stalled.open(20, head + 'x'.repeat(30_000_000));
  const refused = () => sandbox.logLines().filter((line) => line['status'] === 429).length;
  await until('four have the room, and the others are refused', () => refused() === 16);

  expect(await sandbox.run({ command: 'exit 3' })).toMatchObject({ exit_code: 3 });
  expect(rssMib(sandbox) - before).toBeLessThan(384);
  await stalled[Symbol.asyncDispose]();
  const large = { command: 'true', stdin: { data: 'x'.repeat(30_000_000) } };
  await until('the room is free', async () => (await sandbox.request('POST /v2/commands', large)).status === 200);
});

test('PROMISE-10 stdin data that commands never read is kept on disk', async ({ sandbox }) => {
  const before = rssMib(sandbox);
  const stdin = { data: 'x'.repeat(8 * mebibyte) };
  for (let n = 0; n < 80; n++) await sandbox.start({ command: 'sleep 1000', stdin });

  expect(rssMib(sandbox) - before).toBeLessThan(384);
});

test('PROMISE-10 an answer is bounded whatever the request, and the next one resumes where it ended', async ({
  sandbox,
}) => {
  const bytes = 40_000_000;
  const { command_id: id } = await sandbox.run({ command: `head -c ${bytes} /dev/zero`, max_output_length: 1 });
  const before = rssMib(sandbox);
  let offset = 0;
  for (let answers = 0; offset < bytes && answers < 20; answers++) {
    const read = await sandbox.ok(`GET /v2/commands/${id}?limit_bytes=67108864&offset=${offset}`);
    expect(read['offset'] - offset).toBe((read['stdout'] as string).length);
    expect(read['offset'] - offset).toBeLessThanOrEqual(8 * mebibyte);
    offset = read['offset'];
  }

  expect(offset).toBe(bytes);
  expect(rssMib(sandbox) - before).toBeLessThan(384);
});

test('PROMISE-10 four writes of 30 MiB leave the memory of the daemon unchanged', async ({ sandbox }) => {
  const before = rssMib(sandbox);
  const content = 'x'.repeat(30 * mebibyte);
  const write = (n: number) => sandbox.ok('POST /v2/fs/write', { path: `${sandbox.directory}/${n}`, content });
  await Promise.all([0, 1, 2, 3].map(write));

  // Code that ran for the first time stays in memory, with its program pages: 25 to 40 MiB.
  await until('the memory is given back', () => rssMib(sandbox) - before < 64);
});
