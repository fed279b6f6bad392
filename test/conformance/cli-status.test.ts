/** `boxkeep status`, as a shell sees it. */
import { client } from '../harness/cli-client.ts';
import { expect, test } from '../harness/sandbox.ts';

test('CLI-STATUS status shows what runs there on one screen, and the description with --json', async ({ sandbox }) => {
  await sandbox.start({ command: 'sleep 1000' });
  const info = await sandbox.ok('GET /v2/sandbox');
  const shown = await client(sandbox, ['status', sandbox.url]);
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  const rows = shown.stdout.toString().trimEnd().split('\n');
  expect(rows.length).toBeLessThan(24);
  const row = (name: string) => rows.find((line) => line.startsWith(`${name} `))?.replace(/^\S+ +/, '');
  expect([row('address'), row('workspace'), row('commands')]).toEqual([
    sandbox.url,
    info['workspace_dir'],
    '1 running',
  ]);
  expect([row('version'), row('exec')]).toEqual([info['version'], 'ready']);
  expect(row('up')).toMatch(/^\d+s, pid \d+$/);
  expect(row('browser')).toStartWith('absent; ');

  const { stdout } = await client(sandbox, ['status', sandbox.url, '--json']);
  // Other programs of this machine open and close ports meanwhile.
  expect(JSON.parse(stdout.toString())).toEqual({ ...info, ports: expect.any(Array) });
});

test('CLI-STATUS status says both versions where the daemon has another one', async ({ sandbox }) => {
  const { version } = await sandbox.ok('GET /v2/sandbox');
  const info = { ...(await sandbox.ok('GET /v2/sandbox')), version: '1.9.0' };
  const envelope = { success: true, message: '', hint: null };
  const other = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: ({ url }) => Response.json({ ...envelope, data: url.endsWith('/v2/sandbox') ? info : { commands: [] } }),
  });
  const { stdout } = await client(sandbox, ['status', `127.0.0.1:${other.port}`]);
  await other.stop(true);
  expect(stdout.toString()).toMatch(new RegExp(`^version +1\\.9\\.0, and this program is ${version}$`, 'm'));
});
