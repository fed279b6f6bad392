/** A wall clock that jumps changes no wait, no retention and no promise. */
import { jump, withClock } from '../harness/clock.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const hour = 3600;
const jumps = [-26 * hour, 26 * hour, -400 * 24 * hour, 0.25 * hour];

/** The duration of a request on the monotonic clock, in milliseconds. */
async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const began = performance.now();
  return { result: await work, ms: performance.now() - began };
}

async function clockOf(sandbox: Sandbox): Promise<number> {
  return Number((await sandbox.run({ command: 'date +%s' }))['stdout']);
}

test(
  'V2CMD-TIMEOUT V2CMD-HARD V2CMD-WAIT waits last as long as requested, whatever jumps the clock makes',
  async ({ sandbox }) => {
    const before = await clockOf(sandbox);
    const through = await sandbox.start({ command: 'echo here; read line; exit 8' });
    await until('it waits', async () => (await sandbox.ok(`GET /v2/commands/${through}`))['offset'] === 5);
    for (const seconds of jumps) {
      const waits = [
        timed(sandbox.run({ command: 'sleep 1000', timeout: 0.5 })),
        timed(sandbox.run({ command: 'sleep 1000', hard_timeout: 0.5 })),
        timed(sandbox.ok(`GET /v2/commands/${through}?offset=5&wait=true&wait_timeout=0.5`)),
        timed(sandbox.run({ command: 'sleep 0.5; exit 5' })),
      ];
      jump(sandbox, seconds);
      expect(Math.abs((await clockOf(sandbox)) - before - seconds)).toBeLessThan(60);
      const logged = () => Date.parse(sandbox.logLines().at(-1)?.['at'] as string) / 1000;
      await until('the clock of the daemon has jumped too', () => Math.abs(logged() - before - seconds) < 60);
      const lasted = (await Promise.all(waits)).map(({ ms }) => ms);
      expect([seconds, lasted, lasted.every((ms) => ms > 450 && ms < 5000)]).toEqual([seconds, lasted, true]);
      const [soft, hard, , slept] = await Promise.all(waits);
      expect(soft?.result).toMatchObject({ status: 'running' });
      expect(hard?.result).toMatchObject({ status: 'timed_out' });
      expect(slept?.result).toMatchObject({ status: 'completed', exit_code: 5 });
      expect(slept?.result['duration_ms']).toBeGreaterThanOrEqual(450);
      await sandbox.ok(`DELETE /v2/commands/${String(soft?.result['command_id'])}`);
    }

    await sandbox.ok(`POST /v2/commands/${through}/stdin`, { input: '\n' });
    expect(await sandbox.ended(through)).toMatchObject({ status: 'completed', exit_code: 8 });
    expect((await sandbox.allLines(through)).map(({ type }) => type)).toEqual(['start', 'stdout', 'exit']);
  },
  withClock(),
);

test(
  'V2CMD-ID V2CMD-IDRESTART PROMISE-3 an id stays used across a clock jump of days, a restart and the end of its record',
  async ({ sandbox }) => {
    const body = { command: 'echo once', command_id: 'one' };
    await sandbox.run(body);
    jump(sandbox, 26 * hour);
    // By this clock the record is more than an hour old, and may be evicted; the id stays used.
    for (const restart of [false, true]) {
      if (restart) {
        process.kill(sandbox.daemonPid, 'SIGKILL');
        await sandbox.served();
      }
      const reply = await sandbox.request('POST /v2/commands', body);
      if (reply.status === 200) expect(reply.body.data).toMatchObject({ replayed: true });
      else expect(reply.status).toBe(409);
    }
    jump(sandbox, -26 * hour);
    expect((await sandbox.run({ command: 'exit 6' }))['exit_code']).toBe(6);
    const listed = (await sandbox.ok('GET /v2/commands'))['commands'] as { duration_ms: number }[];
    for (const { duration_ms: duration } of listed) expect(duration).toBeGreaterThanOrEqual(0);
  },
  withClock({ expectedWarnings: ['started again by init'] }),
);

test(
  'V2CMD-RETIRE PROMISE-1 a clock that jumps by days makes no finished command too old',
  async ({ sandbox }) => {
    const { command_id: id } = await sandbox.run({ command: 'echo kept; exit 4' });
    for (const seconds of [26 * hour, -26 * hour, 400 * 24 * hour]) {
      jump(sandbox, seconds);
      // The end of a command with so much output is when the daemon looks for what is too old.
      await sandbox.run({ command: 'head -c 200000 /dev/zero' });
      const { stdout, command } = await sandbox.ok(`GET /v2/commands/${id}`);
      expect([seconds, stdout, (command as { exit_code: number }).exit_code]).toEqual([seconds, 'kept\n', 4]);
    }
  },
  withClock(),
);
