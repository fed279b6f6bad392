/** Only the processes of the command itself count as its orphans, even after pids are reused. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'bun:test';
import { orphansOf, signalOrphan } from './orphans.ts';

test('the processes of a session are orphans of the command that ran when they started, and of no other', async () => {
  const startedMs = Date.now();
  const leader = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  const pid = leader.pid ?? 0;
  try {
    const [orphan] = orphansOf({ leader: pid, startedMs, lostMs: Date.now() });
    expect(orphan).toEqual({ pid, startTicks: expect.any(Number) });
    // In both cases the pid belonged to another command: one lost before this process started, or one started later.
    expect(orphansOf({ leader: pid, startedMs: startedMs - 60_000, lostMs: startedMs - 30_000 })).toEqual([]);
    expect(orphansOf({ leader: pid, startedMs: startedMs + 30_000, lostMs: startedMs + 60_000 })).toEqual([]);
    expect(orphansOf({ leader: 0, startedMs, lostMs: Date.now() })).toEqual([]);

    expect(signalOrphan({ pid, startTicks: (orphan?.startTicks ?? 0) + 1 }, 9)).toBe('ESRCH');
    expect(leader.exitCode).toBe(null);
    const ended = once(leader, 'exit');
    expect(signalOrphan(orphan ?? { pid: 0, startTicks: 0 }, 9)).toBe(null);
    expect((await ended)[1]).toBe('SIGKILL');
  } finally {
    leader.kill('SIGKILL');
  }
});
