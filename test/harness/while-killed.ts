/** Work beside a daemon that is killed. */
import type { Sandbox } from './sandbox.ts';

/** init gives up on a daemon that dies again and again within its first second. */
const shortestMs = 1100;

/** Does the work while the daemon is killed again and again. Returns what the work returns, and the kills. */
export async function whileKilled<T>(
  sandbox: Sandbox,
  work: () => Promise<T>,
  everyMs = shortestMs,
): Promise<readonly [T, number]> {
  let isDone = false;
  let kills = 0;
  const ending = Promise.withResolvers<void>();
  const killer = async (): Promise<void> => {
    for (;;) {
      await Promise.race([Bun.sleep(everyMs), ending.promise]); // The pause is what is asked for.
      if (isDone) return;
      process.kill(sandbox.daemonPid, 'SIGKILL');
      kills++;
      await sandbox.served();
    }
  };
  const killing = killer();
  try {
    return [await work(), kills] as const;
  } finally {
    isDone = true;
    ending.resolve();
    await killing;
  }
}
