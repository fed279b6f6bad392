/** Promise 3: a command starts at most once per command_id. */
import { readFileSync } from 'node:fs';
import { exchange } from '../harness/raw-http.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const restarted = { expectedWarnings: ['started again by init'] };

function marking(sandbox: Sandbox) {
  const path = `${sandbox.directory}/marks`;
  return {
    body: { command: `echo x >> ${path}; echo done`, command_id: 'build-1' },
    marks: () => readFileSync(path, 'utf8'),
  };
}

test('PROMISE-3 V2CMD-ID a hundred identical posts at once start one command', async ({ sandbox }) => {
  const { body, marks } = marking(sandbox);
  const replies = await Promise.all(Array.from({ length: 100 }, () => sandbox.run(body)));

  expect(new Set(replies.map((reply) => reply['pid'])).size).toBe(1);
  expect(replies.filter((reply) => !reply['replayed'])).toHaveLength(1);
  expect(marks()).toBe('x\n');
});

test('PROMISE-3 a retry after a dropped answer answers the same command', async ({ sandbox }) => {
  const { body, marks } = marking(sandbox);
  const text = JSON.stringify(body);
  // The client goes before the answer can come.
  await exchange(
    sandbox.url,
    `POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    1,
  );
  await until(
    'the first request has begun',
    async () => (await sandbox.ok('GET /v2/commands'))['commands'].length === 1,
  );
  const retry = await sandbox.run(body);

  expect(retry).toMatchObject({ replayed: true, stdout: 'done\n', exit_code: 0 });
  expect(marks()).toBe('x\n');
});

test(
  'PROMISE-3 posts and kills of the daemon in a race start one command',
  async ({ sandbox }) => {
    const { body, marks } = marking(sandbox);
    for (let round = 0; round < 5; round++) {
      const posts = Array.from({ length: 8 }, () => sandbox.request('POST /v2/commands', body).catch(() => null));
      await Bun.sleep(round); // The kill meets the start at another point each time.
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await Promise.all([...posts, sandbox.served()]);
    }

    expect(await sandbox.run(body)).toMatchObject({ stdout: 'done\n' });
    // Whatever the kills have met, this one meets a command that has run.
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await sandbox.run(body)).toMatchObject({ stdout: 'done\n', replayed: true });
    expect(marks()).toBe('x\n');
  },
  restarted,
);
