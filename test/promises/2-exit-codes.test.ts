/** Promise 2: an exit code is never invented. */
import { inControlGroup } from '../harness/control-group.ts';
import { expect, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };

test('PROMISE-2 two hundred commands under load each return their own exit code 37', async ({ sandbox }) => {
  const busy = await Promise.all(Array.from({ length: 4 }, () => sandbox.start({ command: 'while :; do :; done' })));
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, n) => sandbox.run({ command: `echo ${n}; exit 37` })),
  );

  expect(results.map((result) => [result['exit_code'], result['stdout']])).toEqual(
    results.map((_, n) => [37, `${n}\n`]),
  );
  await Promise.all(busy.map((id) => sandbox.ok(`DELETE /v2/commands/${id}`)));
});

test('PROMISE-2 every code from 0 to 255 and every deadly signal is reported exactly', async ({ sandbox }) => {
  const codes = await Promise.all(Array.from({ length: 256 }, (_, code) => sandbox.run({ command: `exit ${code}` })));
  expect(codes.map((result) => [result['status'], result['exit_code']])).toEqual(
    codes.map((_, code) => ['completed', code]),
  );

  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGQUIT', 3],
    ['SIGABRT', 6],
    ['SIGKILL', 9],
    ['SIGSEGV', 11],
    ['SIGPIPE', 13],
    ['SIGTERM', 15],
  ] as const) {
    // Some shells ignore SIGQUIT; the program that replaces them does not.
    const command = `ulimit -c 0; while kill -${number} $$; do sleep 0.01; done & exec sleep 60`;
    expect(await sandbox.run({ command, shell: 'sh' })).toMatchObject({
      status: 'killed',
      signal,
      exit_code: 128 + number,
    });
  }
});

test(
  'PROMISE-2 an unknown exit code is null: the keeper was killed, and the daemon too',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo kept; sleep 1000' });
    await until('it has spoken', async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === 'kept\n');
    for (const pid of [...sandbox.keepers(), sandbox.daemonPid]) process.kill(pid, 'SIGKILL');
    await sandbox.served();

    expect(await sandbox.ended(id)).toMatchObject({ status: 'lost', exit_code: null, signal: null });
    expect((await sandbox.allLines(id)).at(-1)).toMatchObject({ type: 'exit', status: 'lost', exit_code: null });
  },
  restarted,
);

test(
  'PROMISE-2 a stream that is cut off has no last line',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; sleep 1000' });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const line of sandbox.lines(`/v2/commands/${id}?stream=true`)) {
        seen.push(line['type']);
        if (line['type'] === 'stdout') process.kill(sandbox.daemonPid, 'SIGKILL');
      }
    })();
    await reading.catch(() => null); // The client library decides whether the break is an error.
    await sandbox.served();

    expect(seen).toEqual(['start', 'stdout']);
  },
  restarted,
);

test(
  'V2CMD-OOM a command that the system kills for its memory is reported as such',
  async ({ sandbox }) => {
    const result = await sandbox.run({ command: 'exec tail /dev/zero', limits: {} });

    expect(result).toMatchObject({ status: 'killed', signal: 'SIGKILL', exit_code: 137, oom_killed: true });
    expect(await sandbox.run({ command: 'kill -9 $$' })).toMatchObject({ exit_code: 137, oom_killed: false });
  },
  inControlGroup({ memoryBytes: 256 * 1024 * 1024 }),
);
