/**
 * Terminals under random bytes, random clients and random deaths of the daemon. BOXKEEP_SEED has another run than that of
 * every day, TERMINAL_FUZZ_STEPS a longer one.
 */
import { beforeAll } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { many } from '../harness/counts.ts';
import { showFigures } from '../harness/figures.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { seed } from '../harness/seed.ts';
import { ensureTmux, terminalBackends } from '../harness/terminal-backends.ts';
import { fuzzTerminals } from '../harness/terminal-fuzz.ts';
import { until } from '../harness/until.ts';

const steps = Number(process.env['TERMINAL_FUZZ_STEPS'] ?? many(10_000));
/** tmux is slower, and does the same in most steps. */
const shareOf = { native: 1, tmux: 0.1 } as const;
const stepsPerDeath = 1000;
/** Shares of the steps: with crashes, for warm-up, and for comparison. */
const laps = [0.6, 0.2, 0.2] as const;
/** Memory is released some time after its use. */
const backWithinMs = 20_000;
const moreMib = 32;

beforeAll(() => {
  if (terminalBackends.includes('tmux')) ensureTmux();
});

/** Traces that sessions must not leave. Spare directories are kept, and so are names of keepers that live. */
function traces(sandbox: Sandbox): Record<string, number> {
  const kept = ['keepers/', ...sandbox.spareDirectories().map((name) => `commands/${name}`)];
  const files = readdirSync(sandbox.runtimeDirectory, { recursive: true }) as string[];
  return {
    descriptors: sandbox.descriptors().length,
    processes: sandbox.processes().length + sandbox.keepers().length,
    files: files.filter((path) => !kept.some((start) => path.startsWith(start))).length,
  };
}

function residentMib({ daemonPid }: Sandbox): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemonPid}/status`, 'utf8'))?.[1]) / 1024;
}

for (const backend of terminalBackends) {
  test(
    `TERM-10 PROMISE-1 PROMISE-10 thousands of random steps lose nothing and leak nothing (${backend})`,
    async ({ sandbox }) => {
      await sandbox.ok('POST /v2/pty/sessions', { id: 'first', env: { HOME: sandbox.directory } });
      await sandbox.ok('POST /v2/pty/sessions/first/exec', { command: 'true' });
      await sandbox.ok('DELETE /v2/pty/sessions/first');
      const before = traces(sandbox);
      const wanted = steps * shareOf[backend];
      let residentBefore = Infinity;
      for (const [n, share] of laps.entries()) {
        const deaths = n === 0 ? Math.ceil(wanted / stepsPerDeath) : 0;
        const fuzz = { seed: seed + n, steps: Math.ceil(wanted * share), backend, deaths };
        showFigures({ steps: fuzz.steps, kills: deaths });
        await fuzzTerminals(sandbox, fuzz).catch((error: unknown) => {
          throw new Error(`TERMINAL_FUZZ_STEPS=${steps}, lap ${n}: ${String(error)}`);
        });
        const isGone = () => Object.entries(traces(sandbox)).every(([name, count]) => count <= (before[name] ?? 0));
        await until('nothing is left', isGone).catch(() => expect(traces(sandbox)).toEqual(before));
        if (n === 1) residentBefore = residentMib(sandbox);
      }
      const isBack = () => residentMib(sandbox) < residentBefore + moreMib;
      await until(`memory is back at ${residentBefore} MiB`, isBack, backWithinMs);
    },
    {
      args: ['--shell-backend', backend],
      env: { SVC_STREAM_KEPT_MIB: '1024', SVC_TOTAL_KEPT_MIB: '65536' },
      expectedWarnings: ['started again by init'],
      timeoutMs: 60_000 + steps * 10,
    },
  );
}
