/** The key from a file: its start, its rotation with SIGHUP, and what refuses to start. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../harness/closed-ports.ts';
import {
  expect,
  launchCommand,
  readProcess,
  programTest,
  test,
  type Sandbox,
  type SandboxOptions,
} from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const [first, second] = ['canary-key-first', 'canary-key-second'];
const fileOf = (sandbox: Sandbox) => join(sandbox.directory, 'key');
const keyHeader = (key: string) => ({ 'x-api-key': key });

function keyFile(variable: string, options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    env: (sandbox) => ({ [variable]: fileOf(sandbox) }),
    prepare: (sandbox) => writeFileSync(fileOf(sandbox), `${first}\n`),
  };
}

async function statusWith(sandbox: Sandbox, key: string): Promise<number> {
  return (await sandbox.request('GET /v2/commands', undefined, keyHeader(key))).status;
}

const logged = (sandbox: Sandbox, message: string) =>
  sandbox.logLines().filter((line) => line['message'] === message).length;

/** Sends SIGHUP to init, and resolves when the daemon has read the file. */
async function readAgain(sandbox: Sandbox, message = 'the API key was read again'): Promise<void> {
  const before = logged(sandbox, message);
  sandbox.signal('SIGHUP');
  await until(message, () => logged(sandbox, message) > before);
}

test(
  'AUTH-FILE SIGHUP reads the key file again: the new key works, the old one does not, and open streams go on',
  async ({ sandbox }) => {
    expect([await statusWith(sandbox, first), await statusWith(sandbox, 'other')]).toEqual([200, 401]);
    expect((await sandbox.request('GET /v2/commands')).status).toBe(401);
    const command = { command: 'read line; echo "got $line"', mode: 'async', command_id: 'reader' };
    await sandbox.ok('POST /v2/commands', command, keyHeader(first));
    const stream = await sandbox.fetch('GET /v2/commands/reader?stream=true', undefined, { headers: keyHeader(first) });
    const pid = sandbox.loggedPid;

    writeFileSync(fileOf(sandbox), second);
    await readAgain(sandbox);
    expect([await statusWith(sandbox, first), await statusWith(sandbox, second)]).toEqual([401, 200]);
    expect(sandbox.loggedPid).toBe(pid);
    await sandbox.ok('POST /v2/commands/reader/stdin', { input: 'word\n' }, keyHeader(second));
    expect(await stream.text()).toContain('"data":"got word\\n"');
    expect(sandbox.stdout + sandbox.stderr).not.toContain('canary-key');
  },
  keyFile('SVC_API_KEY_FILE'),
);

test(
  'AUTH-FILE at SIGHUP, a file that is missing or holds no key leaves the old key, with a warning',
  async ({ sandbox }) => {
    const path = fileOf(sandbox);
    writeFileSync(path, ' canary-key-bad');
    await readAgain(sandbox, 'the API key stays as it was');
    rmSync(path);
    await readAgain(sandbox, 'the API key stays as it was');
    const warnings = sandbox.logLines().filter((line) => line['level'] === 'warn');
    expect(warnings.map((line) => line['error'])).toEqual([
      `Error: ${path} does not hold a key: a key is printable ASCII without blanks at its ends`,
      `Error: ${path} with the API key cannot be read: ENOENT`,
    ]);
    expect(await statusWith(sandbox, first)).toBe(200);
    expect(sandbox.stdout + sandbox.stderr).not.toContain('canary-key');
  },
  keyFile('SANDBOX_API_KEY_FILE', { expectedWarnings: ['the API key stays as it was'] }),
);

test(
  'AUTH-FILE a daemon that is restarted or upgraded reads the file, and SIGHUP reaches it',
  async ({ sandbox }) => {
    writeFileSync(fileOf(sandbox), second);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await statusWith(sandbox, second)).toBe(200);

    expect((await sandbox.upgrade()).code).toBe(0);
    await sandbox.served();
    writeFileSync(fileOf(sandbox), first);
    await readAgain(sandbox);
    expect([await statusWith(sandbox, first), await statusWith(sandbox, second)]).toEqual([200, 401]);
  },
  keyFile('SVC_API_KEY_FILE', { expectedWarnings: ['started again by init'] }),
);

test(
  'AUTH-FILE a daemon that dies goes on with its key when the file has gone, and commands go on too',
  async ({ sandbox }) => {
    const path = fileOf(sandbox);
    writeFileSync(path, second);
    await readAgain(sandbox);
    const headers = { 'x-api-key': second };
    const { command_id: id } = await sandbox.ok('POST /v2/commands', { command: 'cat', mode: 'async' }, headers);
    for (const spoil of [() => rmSync(path), () => writeFileSync(path, '')]) {
      spoil();
      process.kill(sandbox.daemonPid, 'SIGKILL');
      await sandbox.served();
      expect([await statusWith(sandbox, second), await statusWith(sandbox, first)]).toEqual([200, 401]);
      const { command } = await sandbox.ok(`GET /v2/commands/${String(id)}`, undefined, headers);
      expect(command).toMatchObject({ status: 'running' });
    }
    const note = join(sandbox.runtimeDirectory, 'key-digest');
    expect([readFileSync(note, 'utf8'), statSync(note).mode & 0o777]).toEqual([
      `${createHash('sha256').update(second).digest('hex')}\n`,
      0o600,
    ]);
    writeFileSync(path, first);
    await readAgain(sandbox);
    expect(await statusWith(sandbox, first)).toBe(200);
  },
  keyFile('SVC_API_KEY_FILE', { expectedWarnings: ['started again by init', 'the API key stays as it was'] }),
);

test(
  'AUTH-FILE a SIGHUP during the start does not end the daemon',
  async ({ sandbox }) => {
    await sandbox.stop();
    const launched = sandbox.launch();
    let isServing = false;
    void launched.then(() => (isServing = true));
    await until('the daemon serves', () => {
      // Init is ready for signals once it has its title.
      if (readProcess(String(sandbox.initPid), 'cmdline').startsWith('boxkeep: init')) sandbox.signal('SIGHUP');
      return isServing;
    });
    await launched;
    expect(await statusWith(sandbox, first)).toBe(200);
  },
  keyFile('SVC_API_KEY_FILE'),
);

test('AUTH-FILE without a key file, SIGHUP ends the daemon', async ({ sandbox }) => {
  sandbox.signal('SIGHUP');
  expect(await sandbox.exited()).toBe(0);
});

programTest('AUTH-FILE a file that cannot be read or holds no key, and two sources of the key, stop the start', () => {
  const path = join(import.meta.dirname, 'key-file.test.ts');
  for (const [args, env, message] of [
    [['--api-key-file', path], {}, `${path} does not hold a key: a key is printable ASCII without blanks at its ends`],
    [[], { SVC_API_KEY_FILE: '/dev/zero' }, '/dev/zero with the API key cannot be read: it is not a file'],
    [
      [],
      { SVC_API_KEY_FILE: process.execPath },
      `${process.execPath} with the API key cannot be read: it has more than 8192 bytes`,
    ],
    [[], { SVC_API_KEY_FILE: '/none/key' }, '/none/key with the API key cannot be read: ENOENT'],
    [[], { SANDBOX_API_KEY_FILE: 'key' }, 'SANDBOX_API_KEY_FILE: "key" is not valid: must be an absolute path'],
    [
      ['--api-key-file=/none/key'],
      { SANDBOX_API_KEY: 'canary' },
      'SVC_API_KEY and SVC_API_KEY_FILE are both set; leave one of them out',
    ],
  ] as const) {
    const { exitCode, stderr } = Bun.spawnSync([...launchCommand(), 'start', ...args], {
      env: programEnvironment(env),
    });
    expect([exitCode, stderr.toString()]).toEqual([2, `boxkeep: ${message}\n`]);
  }
});
