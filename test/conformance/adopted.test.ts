/** The processes that a new init adopts from a killed init and ends at its own stop. */
import { existsSync } from 'node:fs';
import { run } from '../harness/code-client.ts';
import { withKernels } from '../harness/kernels.ts';
import { expect, test, type Sandbox, type SandboxOptions } from '../harness/sandbox.ts';
import { terminalBackends } from '../harness/terminal-backends.ts';
import { until } from '../harness/until.ts';

/** Kills init; the daemon dies with init, and keepers survive. */
async function relaunch(sandbox: Sandbox): Promise<void> {
  const keepers = sandbox.keepers();
  process.kill(sandbox.initPid, 'SIGKILL');
  await sandbox.exited();
  await sandbox.launch();
  for (const pid of keepers) process.kill(pid, 0); // Throws when a keeper died with its init.
}

const taken = (sandbox: Sandbox) => sandbox.processes().filter(({ command }) => /^sleep 100\d$/.test(command));

async function startEverything(sandbox: Sandbox): Promise<void> {
  await sandbox.start({ command: 'sleep 1000 & setsid sleep 1001 & sleep 1002' });
  await sandbox.start({ command: 'trap "" TERM INT HUP; sleep 1003; sleep 1003' });
  // A command whose record is deleted leaves a directory that no listing shows.
  await sandbox.run({ command: 'setsid sleep 1004 >/dev/null 2>&1 &' });
  await sandbox.ok('POST /v2/pty/sessions', { id: 'shell', env: { HOME: sandbox.directory } });
  await sandbox.ok('POST /v2/pty/sessions/shell/input', { input: 'sleep 1005\n' });
  for (const language of ['python', 'javascript']) {
    const code = language === 'python' ? 'import os; os.system("sleep 1006 &")' : 'null';
    await run(sandbox, { language, code, session_id: language });
  }
  await until('everything runs', () => taken(sandbox).length >= 7);
}

const variants: [string, SandboxOptions][] = [
  ...terminalBackends.map((backend): [string, SandboxOptions] => [
    `terminals held by ${backend}`,
    { env: { SVC_SHELL_BACKEND: backend } },
  ]),
  ['kernels', withKernels()],
];

for (const [name, options] of variants) {
  test(
    `RUN-STOP SIGTERM ends the commands, terminals and code adopted from a killed init: ${name}`,
    async ({ sandbox }) => {
      await startEverything(sandbox);
      await relaunch(sandbox);
      expect((await sandbox.ok('GET /v2/commands?status=running'))['commands']).toHaveLength(2);
      expect(await sandbox.stop()).toBe(0);
      expect(sandbox.processes()).toEqual([]);
    },
    options,
  );
}

test('RUN-STOP a second SIGTERM kills adopted processes at once', async ({ sandbox }) => {
  await sandbox.start({ command: 'trap "" TERM INT HUP; while :; do sleep 1003; done' });
  await until('the command runs', () => taken(sandbox).length === 1);
  await relaunch(sandbox);
  const beganAt = performance.now();
  const daemon = sandbox.daemonPid;
  sandbox.signal('SIGTERM');
  await until('the daemon has ended', () => !existsSync(`/proc/${daemon}`));
  sandbox.signal('SIGTERM');
  expect(await sandbox.exited()).toBe(1);
  expect(performance.now() - beganAt).toBeLessThan(2500);
  expect(sandbox.processes()).toEqual([]);
});
