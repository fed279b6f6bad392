/** `boxkeep watch`, as a shell sees it. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client, Client } from '../harness/cli-client.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

test('CLI-WATCH watch prints a line for each change until Ctrl-C', async ({ sandbox }) => {
  const root = join(sandbox.directory, 'watched');
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  const start = async (...flags: string[]) => {
    const run = new Client(sandbox, ['watch', sandbox.url, root, ...flags]);
    const count = (await sandbox.ok('GET /v2/watch')).length;
    await until('the watcher is there', async () => (await sandbox.ok('GET /v2/watch')).length > count);
    return run;
  };
  const plain = await start();
  const json = await start('--json', '--include', '*.txt', '--exclude', '');
  const flat = await start('--no-recursive');
  mkdirSync(join(root, 'src'));
  await plain.says('create  src\n');
  writeFileSync(join(root, 'src/a'), '1');
  writeFileSync(join(root, 'node_modules/b.txt'), '1');
  await plain.says('create  src/a\n');
  renameSync(join(root, 'src/a'), join(root, 'src/c'));
  await plain.says('rename  src/a -> src/c\n');
  await json.says('node_modules/b.txt"');
  for (const run of [plain, json, flat]) run.process.kill('SIGINT');

  expect(await plain.ended()).toMatchObject({ code: 130, stderr: 'boxkeep: watch: received SIGINT\n' });
  const lines = (await json.ended()).stdout.toString().trimEnd().split('\n');
  const changes = lines.map((line) => JSON.parse(line) as JsonObject);
  expect(new Set(changes.map((change) => change['relative_path']))).toEqual(new Set(['node_modules/b.txt']));
  expect((await flat.ended()).stdout.toString()).not.toContain('src/');
  expect(await sandbox.ok('GET /v2/watch')).toHaveLength(0);
});

test(
  'CLI-WATCH watch goes on over the death of the daemon, says the loss, and ends with 1 when the path is gone',
  async ({ sandbox }) => {
    const root = join(sandbox.directory, 'watched');
    mkdirSync(root);
    const run = new Client(sandbox, ['watch', sandbox.url, root]);
    await until('the watcher is there', async () => (await sandbox.ok('GET /v2/watch')).length > 0);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await until('the loss is said', () => run.stderr.includes('changes may have been missed here'));
    writeFileSync(join(root, 'later'), '1');
    await run.says('create  later\n');
    rmSync(root, { recursive: true });
    expect((await run.ended()).code).toBe(1);
    const absent = await client(sandbox, ['watch', sandbox.url, root]);
    expect(absent).toMatchObject({ code: 125, stderr: expect.stringContaining('No such file or directory') });
  },
  { expectedWarnings: ['started again by init'] },
);
