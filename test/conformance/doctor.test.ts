/** `sandboxd doctor` says what a daemon would miss on this machine, and changes nothing. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, launchCommand, test } from '../harness/sandbox.ts';

interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly advice: string | null;
}

const everyCheck = [
  ...['settings', 'key', 'default user', 'runtime directory', 'port'],
  ...['proc', 'accounts', 'shell', 'tmux', 'rg', 'python3', 'node', 'ffmpeg', 'ipykernel'],
];

function doctor(args: readonly string[], env: Record<string, string> = {}) {
  const run = Bun.spawnSync([...launchCommand(), 'doctor', ...args], {
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: process.env['TMPDIR'] ?? '/tmp', ...env },
  });
  expect(run.stderr.toString()).toBe('');
  return { exitCode: run.exitCode, output: run.stdout.toString() };
}

function findings(args: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, output } = doctor(['--json', ...args], env);
  const list = (JSON.parse(output) as { findings: Finding[] }).findings;
  return { exitCode, list, of: (check: string) => list.find((finding) => finding.check === check) };
}

test('OPS-DOCTOR RUN-VERBS doctor looks at everything, as JSON and for people, and exits 0', async ({ sandbox }) => {
  const directory = join(sandbox.directory, 'other');
  const args = ['--runtime-dir', directory, '--port', '0'];
  const { exitCode, list } = findings(args);

  expect(exitCode).toBe(0);
  expect(list.map(({ check }) => check)).toEqual(everyCheck);
  for (const { check, status, message, advice } of list) {
    expect([check, status === 'ok', message !== '']).toEqual([check, advice === null, true]);
  }
  const { output } = doctor(args);
  for (const check of everyCheck) expect(output).toMatch(new RegExp(`^(ok  |warn|fail)  ${check}: `, 'm'));
  expect(existsSync(directory)).toBe(false);
});

test('OPS-DOCTOR doctor knows a daemon that runs, and a port that is taken by another', async ({ sandbox }) => {
  const { port } = new URL(sandbox.url);

  const own = findings(['--runtime-dir', sandbox.runtimeDirectory, '--port', port]);
  expect([own.exitCode, own.of('port')]).toEqual([
    0,
    {
      check: 'port',
      status: 'ok',
      message: `${port} is served by a daemon that runs here, and its init answers`,
      advice: null,
    },
  ]);
  const other = findings(['--runtime-dir', join(sandbox.directory, 'other'), '--port', port]);
  expect([other.exitCode, other.of('port')]).toEqual([
    1,
    {
      check: 'port',
      status: 'fail',
      message: `${port} cannot be had: EADDRINUSE`,
      advice: 'Stop what listens there, or choose another --port.',
    },
  ]);
  expect((await sandbox.request('GET /health')).status).toBe(200);
});

test('OPS-DOCTOR what would stop a daemon fails, with what to do', async ({ sandbox }) => {
  const open = join(sandbox.directory, 'open');
  mkdirSync(open);
  chmodSync(open, 0o755);
  const cases: [string[], Record<string, string>, string, string, string][] = [
    [
      ['--port', 'many'],
      {},
      'settings',
      '--port: "many" is not valid: must be a whole number',
      'Correct it; the daemon does not start with it.',
    ],
    [
      ['--port', '0', '--runtime-dir', open],
      {},
      'runtime directory',
      `${open}: ${open} is open to others (chmod 700 it)`,
      'Give a directory of the daemon’s own with --runtime-dir.',
    ],
    [
      ['--port', '0', '--default-user', 'nobody-here'],
      {},
      'default user',
      'nobody-here does not exist',
      'Create the account, or set another SVC_DEFAULT_USER.',
    ],
  ];
  for (const [args, env, check, message, advice] of cases) {
    const { exitCode, of } = findings(args, env);
    expect([args, exitCode, of(check)]).toEqual([args, 1, { check, status: 'fail', message, advice }]);
  }
});

test('OPS-DOCTOR what would only surprise is a warning', async ({ sandbox }) => {
  const args = ['--port', '0', '--runtime-dir', join(sandbox.directory, 'other')];

  const open = findings([...args, '--host', '0.0.0.0'], { TICKET_TTL_SECONDS: '30' });
  expect(open.exitCode).toBe(0);
  expect(open.of('key')).toMatchObject({ status: 'warn', message: 'no key is set, and the daemon listens on 0.0.0.0' });
  expect(open.list.filter(({ check }) => check === 'settings')[1]).toMatchObject({
    status: 'warn',
    advice: 'Take the variable away.',
  });
  const keyed = findings([...args, '--host', '0.0.0.0'], { SVC_API_KEY: 'canary-key-19c4' });
  expect(keyed.of('key')).toMatchObject({ status: 'ok' });
  expect(JSON.stringify(keyed.list)).not.toContain('canary-key-19c4');
  const bare = findings(args, { PATH: sandbox.directory });
  expect(bare.exitCode).toBe(0);
  expect(bare.list.filter(({ status }) => status === 'warn').map(({ check }) => check)).toEqual([
    ...['shell', 'tmux', 'rg', 'python3', 'node', 'ffmpeg', 'ipykernel'],
  ]);
});
