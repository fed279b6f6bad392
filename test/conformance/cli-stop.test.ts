/** `boxkeep stop`, as a shell sees it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { client } from '../harness/cli-client.ts';
import { expect, test } from '../harness/sandbox.ts';

test('CLI-STOP stop ends the daemon with its commands and waits for that, and exits 1 when none runs', async ({
  sandbox,
}) => {
  const { version } = await sandbox.ok('GET /v2/sandbox');
  const pid = sandbox.initPid;
  await sandbox.start({ command: 'sleep 1000' });
  const place = ['--runtime-dir', sandbox.runtimeDirectory];
  expect(await client(sandbox, ['stop', ...place])).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: Buffer.from(`stopped boxkeep ${version}, pid ${pid}, of ${sandbox.runtimeDirectory}\n`),
  });
  expect(sandbox.processes()).toEqual([]);
  expect(existsSync(join(sandbox.runtimeDirectory, 'upgrade.sock'))).toBe(false);

  expect(await client(sandbox, ['stop', ...place])).toMatchObject({
    code: 1,
    stderr: `boxkeep: stop: no running boxkeep was found in ${sandbox.runtimeDirectory}; pass its --runtime-dir\n`,
  });
  await sandbox.launch();
  const json = await client(sandbox, ['stop', '--json'], { SVC_RUNTIME_DIR: sandbox.runtimeDirectory });
  expect(JSON.parse(json.stdout.toString())).toMatchObject({ version, runtime_dir: sandbox.runtimeDirectory });
});
