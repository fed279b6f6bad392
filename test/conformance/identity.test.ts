/** The accounts that commands run as, and what commands must never learn or make the daemon do. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asTestAccount, testAccount, withTestAccount } from '../harness/test-account.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

const { uid, name } = testAccount;

function openTo(sandbox: Sandbox): void {
  chmodSync(sandbox.directory, 0o777);
}

test(
  'IDENT-1 V2CMD-USER user runs the command as that account, with all its groups',
  async ({ sandbox }) => {
    const whoami = { command: 'id -u; id -g; id -G; echo $HOME $USER $LOGNAME', cwd: '/' };
    const home = sandbox.directory;

    for (const user of [name, String(uid)]) {
      const result = await sandbox.run({ ...whoami, user });
      expect(result['stdout']).toBe(`${uid}\n${uid}\n${testAccount.groups.join(' ')}\n${home} ${name} ${name}\n`);
      expect(result['user']).toBe(name);
    }
    expect((await sandbox.run({ ...whoami, user: `${uid}:7` }))['stdout']).toStartWith(
      `${uid}\n7\n7 ${uid + 1} ${uid + 2}\n`,
    );
    expect((await sandbox.run({ ...whoami, user: '4711' }))['stdout']).toBe('4711\n4711\n4711\n/ 4711 4711\n');
  },
  withTestAccount(),
);

test(
  'IDENT-2 SVC_DEFAULT_USER is the account of every command that names none',
  async ({ sandbox }) => {
    const result = await sandbox.run({ command: 'id -u; pwd' });

    expect(result['stdout']).toBe(`${uid}\n${sandbox.directory}\n`);
  },
  withTestAccount({ env: { SVC_DEFAULT_USER: name }, prepare: openTo }),
);

test(
  'V2CMD-WORKSPACE an account that cannot enter the workspace starts in its home, or at the root',
  async ({ sandbox }) => {
    expect((await sandbox.run({ command: 'pwd', user: name }))['stdout']).toMatch(/^\//);
    expect((await sandbox.run({ command: 'pwd', user: '4711' }))['exit_code']).toBe(0);
  },
  withTestAccount({ prepare: openTo }),
);

test('V2CMD-STDOUT an account can reopen its own standard output', async ({ sandbox }) => {
  const result = await sandbox.run({
    command: 'echo out > /dev/stdout; echo err > /dev/stderr',
    user: String(uid),
    cwd: '/',
  });

  expect(result).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exit_code: 0 });
});

test(
  'V2CMD-NONROOT a daemon that is not root runs commands as itself, and refuses to switch accounts with a reason',
  async ({ sandbox }) => {
    expect((await sandbox.run({ command: 'id -u' }))['stdout']).toBe(`${uid}\n`);
    expect((await sandbox.run({ command: 'id -u', user: String(uid) }))['stdout']).toBe(`${uid}\n`);
    const refused = await sandbox.request('POST /v2/commands', { command: 'id', user: 'root' });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: `the daemon runs as uid ${uid} and cannot become root` },
    });
  },
  asTestAccount(),
);

test(
  'V2CMD-CLOSED an account cannot read the logs, the notes and the sockets of the daemon',
  async ({ sandbox }) => {
    await sandbox.run({ command: 'echo secret' });
    const result = await sandbox.run({
      command: `ls ${sandbox.runtimeDirectory}; cat ${sandbox.runtimeDirectory}/commands/*/out`,
      user: String(uid),
    });

    expect(result['stdout']).toBe('');
    expect(result['stderr']).toContain('Permission denied');
  },
  { prepare: openTo },
);

test(
  'V2CMD-LOADER variables that steer a loader never run code as root, and are passed to commands',
  async ({ sandbox }) => {
    const given = await sandbox.run({ command: 'echo "$BUN_OPTIONS|$NODE_OPTIONS|$LD_PRELOAD|$(id -u)"' });

    expect(given['stdout']).toBe(
      `--preload=${sandbox.directory}/evil.mjs|--import=${sandbox.directory}/evil.mjs|${sandbox.directory}/evil.so|${uid}\n`,
    );
    // The library ran only in the commands of its account; the scripts never ran.
    const ranAs = new Set(readFileSync(join(sandbox.directory, 'ran-as'), 'utf8').trim().split('\n'));
    expect([...ranAs]).toEqual([String(uid)]);
  },
  {
    args: ['--default-user', `${uid}`],
    env: hostileVariables,
    prepare: plantHostileFiles,
  },
);

test(
  'V2CMD-HOSTILE variables in a request cannot run code as root either',
  async ({ sandbox }) => {
    const mark = { LD_PRELOAD: `${sandbox.directory}/evil.so`, BUN_OPTIONS: `--preload=${sandbox.directory}/evil.mjs` };
    const result = await sandbox.run({ command: 'id -u', user: String(uid), env: mark, cwd: sandbox.directory });

    expect(result['stdout']).toBe(`${uid}\n`);
    expect(new Set(readFileSync(join(sandbox.directory, 'ran-as'), 'utf8').trim().split('\n'))).toEqual(
      new Set([String(uid)]),
    );
  },
  { prepare: plantHostileFiles },
);

function hostileVariables({ directory }: Sandbox): Record<string, string> {
  return {
    LD_PRELOAD: join(directory, 'evil.so'),
    BUN_OPTIONS: `--preload=${join(directory, 'evil.mjs')}`,
    NODE_OPTIONS: `--import=${join(directory, 'evil.mjs')}`,
  };
}

/** A library, a script and runtime files that record the account they run as. */
function plantHostileFiles(sandbox: Sandbox): void {
  const { directory } = sandbox;
  openTo(sandbox);
  const mark = join(directory, 'ran-as');
  writeFileSync(mark, '');
  chmodSync(mark, 0o666);
  writeFileSync(
    join(directory, 'evil.c'),
    `#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void run(void) {
      FILE *f = fopen("${mark}", "a"); if (f) { fprintf(f, "%d\\n", (int)getuid()); fclose(f); } }\n`,
  );
  const built = Bun.spawnSync(['cc', '-shared', '-fPIC', '-o', join(directory, 'evil.so'), join(directory, 'evil.c')]);
  if (!built.success)
    throw new Error(`cc is needed for this test (apt-get install gcc libc6-dev): ${built.stderr.toString()}`);
  const script = `require('node:fs').appendFileSync('${mark}', 'script ' + process.getuid() + '\\n');`;
  writeFileSync(join(directory, 'evil.mjs'), script.replace("require('node:fs')", "(await import('node:fs'))"));
  writeFileSync(join(directory, 'evil.cjs'), script);
  // Files that a runtime would load from its working directory.
  writeFileSync(join(directory, 'bunfig.toml'), `preload = ["${join(directory, 'evil.cjs')}"]\n`);
  writeFileSync(join(directory, '.env'), `SVC_PORT=1\nBUN_OPTIONS=--preload=${join(directory, 'evil.cjs')}\n`);
}
