/** Promise 7: the daemon survives its users, answers meanwhile, and reports correctly how they affected each other. */
import { readdirSync, readFileSync } from 'node:fs';
import { confined, homeOf } from '../harness/confined.ts';
import { limitProcesses } from '../harness/control-group.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;

const threadNames = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8'));

/** The limit of one health check: without memory the system reads the program from the disk again and again. */
const answerMs = 15_000;

/** Checks the health of the daemon continuously until it is stopped; the result counts the checks. */
function watchHealth(sandbox: Sandbox) {
  const daemon = sandbox.daemonPid;
  let isOver = false;
  const polling = (async () => {
    let looks = 0;
    for (; !isOver; looks++) {
      const answer = await fetch(`${sandbox.url}/health`, { keepalive: false, signal: AbortSignal.timeout(answerMs) });
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
    return looks;
  })();
  polling.catch(() => null); // Reported when the watch ends.
  return async () => {
    isOver = true;
    expect(await polling).toBeGreaterThan(0);
    expect(sandbox.daemonPid).toBe(daemon); // The daemon was not restarted either.
  };
}

/** Commands that should end as they would alone. */
async function bystanders(sandbox: Sandbox): Promise<() => Promise<void>> {
  const codes = [0, 1, 7, 37];
  const ids = await Promise.all(codes.map((code) => sandbox.start({ command: `read line; exit ${code}` })));
  return async () => {
    for (const [n, id] of ids.entries()) {
      await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: '\n' });
      expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: codes[n], oom_killed: false });
    }
  };
}

async function servesAsBefore(sandbox: Sandbox): Promise<void> {
  const result = await sandbox.run({ command: 'id -un; exit 3', cwd: homeOf(sandbox) });
  expect(result).toMatchObject({ status: 'completed', exit_code: 3, stdout: 'sbx-tester\n' });
}

async function started(sandbox: Sandbox, id: string): Promise<void> {
  await until(`${id} has spoken`, async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] !== '');
}

test(
  'PROMISE-7 a memory hog is killed and reported as such, and no other process is killed',
  async ({ sandbox }) => {
    const endBystanders = await bystanders(sandbox);
    const endWatch = watchHealth(sandbox);
    const hog = await sandbox.run({ command: 'exec tail /dev/zero' });
    expect(hog).toMatchObject({ status: 'killed', signal: 'SIGKILL', exit_code: 137, oom_killed: true });

    // Each is smaller than the daemon: a killer that judges by size alone would kill the daemon.
    const small = 'for n in $(seq 60); do head -c 8000000 /dev/zero | tail -n 1 | sleep 3 & done; wait; exit 4';
    expect(await sandbox.run({ command: small })).toMatchObject({ status: 'completed', exit_code: 4 });
    await endWatch();
    await endBystanders();
    await servesAsBefore(sandbox);
  },
  confined({ memoryBytes: 320 * mebibyte }),
);

test(
  'PROMISE-7 a fork bomb takes every free process, and the daemon answers until the bomb is ended',
  async ({ sandbox }) => {
    const endBystanders = await bystanders(sandbox);
    const endWatch = watchHealth(sandbox);
    const ofBomb = () => sandbox.processes().filter(({ command }) => command.includes('echo lit'));
    const bomb = await sandbox.start({ command: 'echo lit; b() { b | b & b; }; b 2>/dev/null', shell: 'bash' });
    await until('there is no process left', async () => {
      const reply = await sandbox.request('POST /v2/commands', { command: 'true', timeout: 1 });
      // A command that gets a slot runs; every answer reports its true state.
      if (reply.status === 200)
        expect(['completed', 'running', 'failed', 'killed']).toContain(reply.body.data['status']);
      else expect(reply.status).toBe(429);
      return reply.status === 429;
    });

    expect(ofBomb().length).toBeGreaterThan(10);
    // A busy machine may need a second round, which kill reports.
    await until(
      'it is put out',
      async () => {
        const { status } = await sandbox.request(`DELETE /v2/commands/${bomb}`);
        if (status !== 200) expect(status).toBe(503);
        return status === 200;
      },
      30_000,
    );
    expect(ofBomb()).toEqual([]);
    await endWatch();
    await endBystanders();
    await servesAsBefore(sandbox);
  },
  confined({ processes: 200 }),
);

test(
  'PROMISE-7 a daemon that was idle serves while no process and no thread can be started',
  async ({ sandbox }) => {
    const daemon = sandbox.daemonPid;
    // The runtime would end idle threads of its compiler and collector, and abort when it cannot start them again.
    const names = threadNames(daemon).join('');
    expect(names).toContain('HTTP Client');
    expect(names).not.toMatch(/JIT|Heap|Collector/);
    limitProcesses(sandbox, 1);
    // So many requests get the code of their routes compiled.
    for (let n = 0; n < 300; n++) {
      await sandbox.ok('GET /v2/commands');
      await sandbox.ok('GET /v2/fs/list?path=/');
      await sandbox.ok('GET /v2/sandbox');
    }
    expect(sandbox.daemonPid).toBe(daemon);
    limitProcesses(sandbox, 100);
    await servesAsBefore(sandbox);
  },
  confined({ processes: 100 }),
);

test(
  'PROMISE-7 a full disk refuses only new commands; running ones continue, and can free space',
  async ({ sandbox }) => {
    const home = homeOf(sandbox);
    const shell = await sandbox.start({ command: 'echo ready; while read line; do eval "$line"; done', cwd: home });
    const talking = await sandbox.start({ command: 'read line; seq 1 3000000; exit 9' });
    await started(sandbox, shell);
    const endWatch = watchHealth(sandbox);
    const filled = await sandbox.run({ command: 'cat /dev/zero > filler', cwd: home });
    // The error message has no room either: it is counted as lost output.
    expect(filled).toMatchObject({
      status: 'completed',
      exit_code: 1,
      truncated: true,
      stderr_offset: expect.any(Number),
    });

    const refused = await sandbox.request('POST /v2/commands', { command: 'true' });
    expect(refused).toMatchObject({ status: 507, body: { message: 'no space left for the output of a command' } });
    await sandbox.ok(`POST /v2/commands/${talking}/stdin`, { input: '\n' });
    expect(await sandbox.ended(talking)).toMatchObject({ status: 'completed', exit_code: 9 });

    await sandbox.ok(`POST /v2/commands/${shell}/stdin`, { input: 'rm filler; exit 5\n' });
    expect(await sandbox.ended(shell)).toMatchObject({ status: 'completed', exit_code: 5 });
    await endWatch();
    await servesAsBefore(sandbox);
  },
  confined({ diskMib: 8 }),
);

test(
  'PROMISE-7 kill -9 -1 by the default account ends its own commands, each reported as killed, and spares the daemon',
  async ({ sandbox }) => {
    const victims = await Promise.all([
      sandbox.start({ command: 'echo here; sleep 1000' }),
      sandbox.start({ command: 'echo here; trap "" TERM INT HUP; while :; do sleep 1000; done' }),
    ]);
    const others = await sandbox.start({ command: 'read line; exit 11', user: 'root' });
    for (const id of victims) await started(sandbox, id);
    const endWatch = watchHealth(sandbox);
    const killer = await sandbox.run({ command: 'kill -9 -1; exit 12', shell: 'bash' });

    // Linux spares the sender itself.
    expect(killer).toMatchObject({ status: 'completed', exit_code: 12 });
    for (const id of victims) {
      expect(await sandbox.ended(id)).toMatchObject({ status: 'killed', signal: 'SIGKILL', exit_code: 137 });
      expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe('here\n');
    }
    await sandbox.ok(`POST /v2/commands/${others}/stdin`, { input: '\n' });
    expect(await sandbox.ended(others)).toMatchObject({ status: 'completed', exit_code: 11 });
    await endWatch();
    await servesAsBefore(sandbox);
  },
  confined(),
);

const asPid1 = asTestAccount({ expectedWarnings: ['started again by init'] });

test(
  'PROMISE-7 after kill -9 -1 by the daemon’s own account the daemon is back at once, and invents no exit code',
  async ({ sandbox }) => {
    const id = await sandbox.start({ command: 'echo here; read line', cwd: '/' });
    await started(sandbox, id);
    // No answer arrived.
    await sandbox.request('POST /v2/commands', { command: 'kill -9 -1', cwd: '/' }).catch(() => null);
    await sandbox.served();

    expect(await sandbox.ended(id)).toMatchObject({ status: 'lost', exit_code: null, oom_killed: null });
    expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe('here\n');
    expect(await sandbox.run({ command: 'echo again', cwd: '/' })).toMatchObject({ stdout: 'again\n', exit_code: 0 });
  },
  {
    ...asPid1,
    launcher: ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child', ...(asPid1.launcher ?? [])],
  },
);
