/** Shells whose start-up files hang: commands run in a shell without these files, and the answers say so. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { callTool } from '../harness/mcp-client.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { shellNames, withShellAccounts, type ShellName } from '../harness/shell-accounts.ts';
import { until } from '../harness/until.ts';
import { ShellRoutes, withPlainShell } from '../harness/v1-shell.ts';

const files: Readonly<Record<ShellName, string>> = {
  bash: '.bashrc',
  dash: '.env',
  zsh: '.zshrc',
  fish: '.config/fish/config.fish',
  ash: '.env',
};

/** Each test has its own title, so that a root without the shell can skip it. */
const titles: Readonly<Record<ShellName, string>> = {
  bash: 'TERM-13 bash whose start-up files hang starts without them',
  dash: 'TERM-13 dash whose start-up files hang starts without them',
  zsh: 'TERM-13 zsh whose start-up files hang starts without them',
  fish: 'TERM-13 fish whose start-up files hang starts without them',
  ash: 'TERM-13 ash whose start-up files hang starts without them',
};

function writeStartUp({ directory }: Sandbox, name: ShellName, text: string): string {
  const path = join(directory, name, files[name]);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const settingName = 'SVC_SHELL_STARTUP_SECONDS';
const givesUpSoon = { args: ['--shell-startup-seconds', '5'] };

const hangs = withShellAccounts({
  ...givesUpSoon,
  prepare(sandbox) {
    for (const name of shellNames) writeStartUp(sandbox, name, 'sleep 1005\n');
  },
});

for (const name of shellNames) {
  test(
    titles[name],
    async ({ sandbox }) => {
      const env = name === 'dash' || name === 'ash' ? { ENV: join(sandbox.directory, name, files[name]) } : {};
      const { id } = await sandbox.ok('POST /v2/pty/sessions', { user: `sbx-${name}`, env });
      const path = `/v2/pty/sessions/${id}`;
      const run = (command: string) => sandbox.request(`POST ${path}/exec`, { command, timeout: 20 });
      const startedMs = performance.now();
      const answers = await Promise.all(['echo 1', 'echo 2', 'echo 3'].map(run));
      expect(performance.now() - startedMs).toBeLessThan(20_000);
      expect(answers.map(({ status, body }) => [status, body.data['status'], body.data['output']])).toEqual(
        [1, 2, 3].map((n) => [200, 'completed', `${n}\n`]),
      );
      for (const { body } of answers) expect(body.hint).toContain('start-up files');
      expect(await sandbox.ok(`GET ${path}`)).toMatchObject({ startup_skipped: true, status: 'ready' });
      expect(sandbox.processes().filter(({ command }) => command === 'sleep 1005')).toEqual([]);

      // The next shell of the session does not wait for them again.
      await run('exit 3');
      const againMs = performance.now();
      expect((await run('echo again')).body.data).toMatchObject({ output: 'again\n' });
      expect(performance.now() - againMs).toBeLessThan(4500);
    },
    hangs,
  );
}

test(
  'TERM-13 V1SHELL-4 a 1.x command is answered although the start-up files hang, and the hint gives the reason',
  async ({ sandbox }) => {
    const shell = new ShellRoutes(sandbox);
    const { status, body } = await shell.answer('exec', { command: 'echo here' });
    expect([status, body.data['output']]).toEqual([200, 'here\n']);
    expect(body.hint).toContain('start-up files');
  },
  withPlainShell(
    { ...givesUpSoon, prepare: (sandbox) => void writeStartUp(sandbox, 'bash', 'while :; do :; done\n') },
    'bash',
  ),
);

test('TERM-13 start-up files that take longer than five seconds are awaited', async ({ sandbox }) => {
  const env = { HOME: join(sandbox.directory, 'bash') };
  writeStartUp(sandbox, 'bash', 'sleep 6; FROM_FILES=yes\n');
  await sandbox.ok('POST /v2/pty/sessions', { id: 'slow', env });
  const answer = await sandbox.request('POST /v2/pty/sessions/slow/exec', { command: 'echo $FROM_FILES' });
  expect(answer.body).toMatchObject({ data: { output: 'yes\n' }, hint: null });
});

test(
  'TERM-13 RUN-FLAGS a setting limits the start-up files, and each answer says when they were given up',
  async ({ sandbox }) => {
    const env = { HOME: join(sandbox.directory, 'bash') };
    writeStartUp(sandbox, 'bash', 'sleep 1005; FROM_FILES=yes\n');
    await sandbox.ok('POST /v2/pty/sessions', { id: 'mcp', env });
    const skipped = await sandbox.request('POST /v2/pty/sessions/mcp/exec', { command: 'echo "<$FROM_FILES>"' });
    expect(skipped.body).toMatchObject({ data: { output: '<>\n' }, hint: expect.stringContaining(settingName) });
    expect((await callTool(sandbox, 'sandbox_execute_bash', { cmd: 'true' })).text).toContain(settingName);
  },
  { env: { SVC_SHELL_STARTUP_SECONDS: '1' } },
);

test(
  'TERM-13 typed input is not mistaken for hanging start-up files, and slow files are awaited',
  async ({ sandbox }) => {
    const { id } = await sandbox.ok('POST /v2/pty/sessions', { user: 'sbx-bash' });
    const path = `/v2/pty/sessions/${id}`;
    const output = async () => (await sandbox.ok(`GET ${path}/screen`))['output'] as string;
    await until('the files are read', async () => (await output()).includes('read'));
    await sandbox.ok(`POST ${path}/input`, { input: 'sleep 7; echo ty""ped', press_enter: true });
    const answer = await sandbox.request(`POST ${path}/exec`, { command: 'echo $FROM_FILES', timeout: 20 });
    expect(answer.body).toMatchObject({ data: { output: 'yes\n' }, hint: null });
    expect(await output()).toContain('\ntyped\n');
    expect(await sandbox.ok(`GET ${path}`)).toMatchObject({ startup_skipped: false });
  },
  withShellAccounts({
    prepare: (sandbox) => void writeStartUp(sandbox, 'bash', 'sleep 1; FROM_FILES=yes; echo read\n'),
  }),
);

test(
  'TERM-13 RUN-RESTART a shell that replaced one without output stays the shell of its session after a daemon restart',
  async ({ sandbox }) => {
    // With several sessions, the order in which the next daemon finds their shells does not decide the test.
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const run = async (id: string, command: string) =>
      (await sandbox.ok(`POST /v2/pty/sessions/${id}/exec`, { command, timeout: 30 }))['output'];
    await Promise.all(ids.map((id) => sandbox.ok('POST /v2/pty/sessions', { id, user: 'sbx-bash' })));
    await Promise.all(ids.map((id) => run(id, 'kept=yes')));
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();

    expect(await Promise.all(ids.map((id) => run(id, 'echo $kept')))).toEqual(ids.map(() => 'yes\n'));
  },
  { ...hangs, expectedWarnings: ['started again by init'] },
);
