/** Promise 3: a command starts at most once per command_id. */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
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

test('PROMISE-3 V2CMD-ID a hundred identical concurrent posts start one command', async ({ sandbox }) => {
  const { body, marks } = marking(sandbox);
  const replies = await Promise.all(Array.from({ length: 100 }, () => sandbox.run(body)));

  expect(new Set(replies.map((reply) => reply['pid'])).size).toBe(1);
  expect(replies.filter((reply) => !reply['replayed'])).toHaveLength(1);
  expect(marks()).toBe('x\n');
});

test('PROMISE-3 a retry after a dropped answer returns the same command', async ({ sandbox }) => {
  const { body, marks } = marking(sandbox);
  const gate = `${sandbox.directory}/gate`;
  body.command = `${body.command.split(';')[0]}; until [ -e ${gate} ]; do sleep 0.01; done; echo done`;
  const text = JSON.stringify(body);
  const client = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
  client.write(`POST /v2/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  await until(
    'the first request has begun',
    async () => (await sandbox.ok('GET /v2/commands'))['commands'].length === 1,
  );
  client.destroy(); // The answer cannot have arrived: the command waits for the gate.
  writeFileSync(gate, '');
  const retry = await sandbox.run(body);

  expect(retry).toMatchObject({ replayed: true, stdout: 'done\n', exit_code: 0 });
  expect(marks()).toBe('x\n');
});

test(
  'PROMISE-3 posts that race with daemon kills start one command',
  async ({ sandbox }) => {
    const { body, marks } = marking(sandbox);
    for (let round = 0; round < 5; round++) {
      const posts = Array.from({ length: 8 }, () => sandbox.request('POST /v2/commands', body).catch(() => null));
      await Bun.sleep(round); // Each time the kill hits another point of the start.
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await Promise.all([...posts, sandbox.served()]);
    }

    expect(await sandbox.run(body)).toMatchObject({ stdout: 'done\n' });
    // At this kill the command has surely run.
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await sandbox.run(body)).toMatchObject({ stdout: 'done\n', replayed: true });
    expect(marks()).toBe('x\n');
  },
  restarted,
);
