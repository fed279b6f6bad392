/** `boxkeep stop`, as a shell sees it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { client } from '../harness/cli-client.ts';
import { expect, test } from '../harness/sandbox.ts';

test('CLI-STOP stop ends the daemon with its commands and waits for that, and exits 1 when none runs', async ({
  sandbox,
}) => {
  const { version } = await sandbox.ok('GET /v2/sandbox');
  await sandbox.start({ command: 'sleep 1000' });
  const place = ['--runtime-dir', sandbox.runtimeDirectory];
  const { code, stdout, stderr } = await client(sandbox, ['stop', ...place]);
  expect([code, stderr]).toEqual([0, '']);
  // As init sees its pid, which is 1 in a namespace of its own.
  const [, pid] = /^stopped boxkeep (?:\S+), pid (\d+), of .*$/m.exec(stdout.toString()) ?? [];
  const line = `stopped boxkeep ${version}, pid ${pid}, of ${sandbox.runtimeDirectory}\n`;
  expect([stdout.toString(), Number(pid) > 0]).toEqual([line, true]);
  expect(sandbox.processes()).toEqual([]);
  expect(existsSync(join(sandbox.runtimeDirectory, 'upgrade.sock'))).toBe(false);
  expect(await sandbox.exited()).toBe(0);

  expect(await client(sandbox, ['stop', ...place])).toMatchObject({
    code: 1,
    stderr: `boxkeep: stop: no running boxkeep was found in ${sandbox.runtimeDirectory}; pass the --port or --runtime-dir of its start\n`,
  });
  await sandbox.launch();
  const json = await client(sandbox, ['stop', '--json'], { SVC_RUNTIME_DIR: sandbox.runtimeDirectory });
  expect(JSON.parse(json.stdout.toString())).toMatchObject({ version, runtime_dir: sandbox.runtimeDirectory });
  expect(await sandbox.exited()).toBe(0);
});
