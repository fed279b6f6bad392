/** The words in answers about commands: message, hint and start directory. */
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rootKind } from '../harness/root.ts';
import { expect, test } from '../harness/sandbox.ts';
import { withPlainAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

test('V2CMD-LARGE a command of more than 128 KiB runs in a shell, as any account, and leaves no file', async ({
  sandbox,
}) => {
  const scripts = () => readdirSync(join(sandbox.directory, 'tmp'), { recursive: true }).length;
  const before = scripts();
  chmodSync(sandbox.directory, 0o711);
  chmodSync(join(sandbox.directory, 'tmp'), 0o711);
  const command = `value='${'é'.repeat(500_000)}'; printf '%s ' "$0" $# "\${#value}"; id -u; read -r line; echo "$line"; exit 7`;
  for (const shell of ['bash', 'sh']) {
    for (const [user, uid] of [
      ['root', 0],
      ['54321', 54321],
    ] as const) {
      const stdin = { data: 'typed\n' };
      const short = await sandbox.run({ command: 'printf %s "$0"', shell });
      const result = await sandbox.run({ command, shell, user, cwd: '/', stdin, env: { LC_ALL: 'C.UTF-8' } });
      // A bare root has no locale files: bash counts bytes there.
      const isCounted = shell === 'bash' && rootKind !== 'musl';
      const length = isCounted ? 500_000 : expect.any(Number);
      const [name, count, size, account] = (result['stdout'] as string).split(/\s/);
      expect([name, count, Number(size), account]).toEqual([short['stdout'], '0', length, String(uid)]);
      expect(result).toMatchObject({ status: 'completed', exit_code: 7, stdout: expect.stringMatching(/typed\n$/) });
    }
  }
  expect((await sandbox.request('POST /v1/bash/exec', { command })).body.data).toMatchObject({ exit_code: 7 });
  await until('the scripts are removed', () => scripts() <= before + 1); // The directory of the scripts stays.
});

test('V2CMD-HINT the call in the hint waits for the next output', async ({ sandbox }) => {
  const command = 'echo out; echo err >&2; sleep 1000';
  const started = await sandbox.request('POST /v2/commands', { command, timeout: 1 });
  expect(started.body.data).toMatchObject({ status: 'running', stdout: 'out\n', stderr: 'err\n' });
  const [call = ''] = started.body.hint?.split(' reads on') ?? [];
  expect(await sandbox.ok(`${call}&wait_timeout=0.3`)).toMatchObject({ stdout: '', stderr: '' });
  await sandbox.ok(`POST /v2/commands/${started.body.data['command_id']}/kill`, {});

  const v1 = await sandbox.request('POST /v1/bash/exec', { session_id: 's', command, timeout: 1 });
  const [, fields = ''] = /with (.*) reads on/.exec(v1.body.hint ?? '') ?? [];
  const body = JSON.parse(`{"session_id": "s", "wait_timeout": 0.3, ${fields}}`) as Record<string, unknown>;
  expect(await sandbox.ok('POST /v1/bash/output', body)).toMatchObject({ stdout: '', stderr: '' });
  await sandbox.ok('POST /v1/bash/kill', { session_id: 's' });
});

test('V2CMD-HINT a command or a module that is missing is named with its installer', async ({ sandbox }) => {
  const hintOf = async (command: string) => (await sandbox.request('POST /v2/commands', { command })).body.hint;
  expect(await hintOf('no-such-program --x')).toContain('apt-get install no-such-program');
  expect(await hintOf(`echo "ModuleNotFoundError: No module named 'yaml'" >&2; exit 1`)).toContain(
    'pip install pyyaml',
  );
  expect(await hintOf(`echo "Error: Cannot find module 'left-pad'" >&2; exit 1`)).toContain('npm install left-pad');
  expect(await hintOf('false')).toBeNull();
});

test('V2CMD-ID a repeated command_id returns the command and the time of its first start', async ({ sandbox }) => {
  const body = { command: 'exit 3', command_id: 'again' };
  const first = await sandbox.request('POST /v2/commands', body);
  expect(first.body.message).toBe('Command completed with exit code 3');
  const again = await sandbox.request('POST /v2/commands', body);
  const startedAt = first.body.data['started_at'] as string;
  expect(again.body.message).toBe(`Command completed with exit code 3; an earlier request started it at ${startedAt}`);
});

test('V2CMD-CWD the hint for a directory that the account may not enter names the account', async ({ sandbox }) => {
  const closed = join(sandbox.directory, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  const refused = await sandbox.request('POST /v2/commands', { command: 'true', user: '54321', cwd: closed });
  expect(refused).toMatchObject({
    status: 400,
    body: {
      message: `cwd ${closed}: permission denied`,
      hint: 'Give the account 54321 access to the directory, or pass another directory.',
    },
  });
});

test(
  'V2CMD-CWD TERM-1 with a default account, commands and terminals of another account start in the workspace',
  async ({ sandbox }) => {
    const command = await sandbox.run({ command: 'pwd', user: 'root' });
    const terminal = await sandbox.ok('POST /v2/pty/sessions', { user: 'root', env: { HOME: sandbox.directory } });
    const { workspace_dir: workspace } = await sandbox.ok('GET /v2/sandbox');
    expect([command['cwd'], terminal['working_dir']]).toEqual([workspace, workspace]);
  },
  withPlainAccount(),
);
