/** A machine that is suspended and resumed, as a snapshot of a microVM is: everything stops, and the clock moves. */
import { readFileSync } from 'node:fs';
import { jump, withClock } from '../harness/clock.ts';
import { within } from '../harness/fair-clock.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

/** Longer than the timeouts of idle requests and of every heartbeat. */
const suspendedMs = 60_000;
const hour = 3600;
const counted = Array.from({ length: 300 }, (_, index) => `${index + 1}\n`).join('');

/** init, the daemon, the keepers and the commands: what a hypervisor stops at once. */
function everyProcess(sandbox: Sandbox): number[] {
  const pids = [...sandbox.processes().map(({ pid }) => pid), ...sandbox.keepers(), ...sandbox.spareKeepers()];
  return [...new Set([sandbox.initPid, ...pids])];
}

/** A process that has ended, or that its stopped parent has not reaped, does not run either. */
function isRunning(pid: number): boolean {
  try {
    return !/^ [TZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, ''));
  } catch {
    return false; // The process ended meanwhile.
  }
}

function send(signal: 'SIGSTOP' | 'SIGCONT', pid: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // The process ended meanwhile.
  }
}

/** Calls `meanwhile` once no process runs any more, and resumes them after it. */
async function suspend(sandbox: Sandbox, meanwhile: () => Promise<void>): Promise<void> {
  const stopped = new Set<number>();
  // A command may start another process before it stops itself.
  const hasStopped = () => {
    const running = everyProcess(sandbox).filter(isRunning);
    for (const pid of running) {
      stopped.add(pid);
      send('SIGSTOP', pid);
    }
    return running.length === 0;
  };
  try {
    await until('every process has stopped', hasStopped);
    await meanwhile();
  } finally {
    for (const pid of stopped) send('SIGCONT', pid);
  }
}

test(
  'OPS-RESTORE after a suspension of a minute the daemon answers, and commands, streams, terminals and ids are intact',
  async ({ sandbox }) => {
    const daemon = sandbox.daemonPid;
    const command = 'for i in $(seq 300); do echo $i; sleep 0.02; done; exit 7';
    const id = await sandbox.start({ command, command_id: 'across' });
    const limited = await sandbox.start({ command: 'sleep 1000', hard_timeout: 30 });
    await sandbox.ok('POST /v2/pty/sessions', { id: 'work' });
    const followed = sandbox.allLines(id);
    await until('the command prints', async () => Number((await sandbox.ok(`GET /v2/commands/${id}`))['offset']) > 0);

    let waiting: Promise<unknown> = Promise.resolve();
    await suspend(sandbox, async () => {
      waiting = sandbox.ok('GET /health');
      await Bun.sleep(suspendedMs); // The time itself is the event.
    });
    await within('a request that was sent meanwhile is answered', waiting, 5000);
    expect(sandbox.daemonPid).toBe(daemon);

    const lines = await followed;
    const printed = lines.filter(({ type }) => type === 'stdout').map(({ data }) => data as string);
    expect(printed.join('')).toBe(counted);
    expect(lines.at(-1)).toMatchObject({ type: 'exit', status: 'completed', exit_code: 7 });
    // The suspension counts: the limit of this command passed meanwhile.
    expect(await sandbox.ended(limited)).toMatchObject({ status: 'timed_out' });
    const again = await sandbox.run({ command, command_id: 'across' });
    expect(again).toMatchObject({ replayed: true, exit_code: 7 });
    expect(await sandbox.ok('POST /v2/pty/sessions/work/exec', { command: 'echo $((6 * 7))' })).toMatchObject({
      exit_code: 0,
    });
    await sandbox.ok('DELETE /v2/pty/sessions/work');
  },
  { timeoutMs: 180_000 },
);

for (const [title, seconds] of [
  ['days ahead', 76 * hour],
  ['a day back', -26 * hour],
] as const) {
  test(
    `OPS-RESTORE a snapshot that wakes up with its clock ${title} loses no command, no output and no id`,
    async ({ sandbox }) => {
      const id = await sandbox.start({ command: 'echo before; read line; echo "$line"; exit 4', command_id: 'one' });
      await until('it waits', async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === 'before\n');
      await suspend(sandbox, async () => await Promise.resolve(jump(sandbox, seconds)));
      await sandbox.ok(`POST /v2/commands/${id}/stdin`, { input: 'after\n' });
      expect(await sandbox.ended(id)).toMatchObject({ status: 'completed', exit_code: 4 });
      expect((await sandbox.ok(`GET /v2/commands/${id}`))['stdout']).toBe('before\nafter\n');
      const reply = await sandbox.request('POST /v2/commands', { command: 'echo twice', command_id: 'one' });
      if (reply.status === 200) expect(reply.body.data).toMatchObject({ replayed: true });
      else expect(reply.status).toBe(409);
      expect((await sandbox.run({ command: 'sleep 0.2; exit 3' }))['exit_code']).toBe(3);
    },
    withClock(),
  );
}
