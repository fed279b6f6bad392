/** Fuzzes terminals: random steps in several sessions at once, with a daemon that is killed now and then. */
import { within } from './fair-clock.ts';
import { takeCommand, takePlain } from './terminal-fuzz-actions.ts';
import { numbers } from './terminal-fuzz-bytes.ts';
import { FuzzedDaemon } from './terminal-fuzz-daemon.ts';
import { compareScreen } from './terminal-fuzz-screen.ts';
import { FuzzedSession } from './terminal-fuzz-session.ts';
import { FuzzedShell } from './terminal-fuzz-shell.ts';
import { commandSteps, plainSteps } from './terminal-fuzz-steps.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

export interface Fuzz {
  readonly seed: number;
  readonly steps: number;
  readonly backend: 'native' | 'tmux';
  readonly deaths: number;
}

const plainSessions = 4;
const shells = 2;
/** The share of steps that run in shells, where a step takes longer. */
const commandShare = 0.05;
/** After this many steps a session is closed and a new one takes its place. */
const stepsOfSession = 600;
/** Multiplies the seed, so that each lane gets a distinct seed. */
const lanes = 100;
const reportedSteps = 12;
const nextStepWithinMs = 60_000;
const stepWithinMs = 45_000;

/** A sequence of steps, in one session at a time. */
interface Lane {
  readonly number: number;
  readonly steps: number;
  readonly fuzz: Fuzz;
  readonly taken: { count: number };
}

/** Throws the first problem with the steps that led to it. */
export async function fuzzTerminals(sandbox: Sandbox, fuzz: Fuzz): Promise<void> {
  const daemon = new FuzzedDaemon(sandbox);
  const commands = Math.ceil((fuzz.steps * commandShare) / shells);
  const plain = Math.ceil((fuzz.steps - commands * shells) / plainSessions);
  const taken = { count: 0 };
  const noted = (work: Promise<void>) => work.catch((error: unknown) => daemon.note(error));
  await Promise.all([
    ...Array.from({ length: plainSessions }, (_, number) =>
      noted(plainLane(daemon, { number, steps: plain, fuzz, taken })),
    ),
    ...Array.from({ length: shells }, (_, n) =>
      noted(shellLane(daemon, { number: plainSessions + n, steps: commands, fuzz, taken })),
    ),
    noted(dieNowAndThen(daemon, fuzz, taken)),
  ]);
  if (daemon.problems.length > 0) throw new Error(daemon.problems.join('\n'));
}

async function plainLane(daemon: FuzzedDaemon, lane: Lane): Promise<void> {
  const { backend, seed } = lane.fuzz;
  const start = (n: number) => FuzzedSession.start(daemon, `fuzz-${lane.number}-${n}`, backend);
  const finish = async () => {
    await session.settle();
    await compareScreen(daemon, session, seed);
    await session.close();
  };
  let session = await start(0);
  await takeAll(daemon, lane, plainSteps(backend, lane.steps, seed * lanes + lane.number), async (step, n) => {
    if (n % stepsOfSession === stepsOfSession - 1) {
      await finish();
      session = await start(n);
    }
    await takePlain(daemon, session, step);
  });
  if (daemon.problems.length === 0) await finish();
}

async function shellLane(daemon: FuzzedDaemon, lane: Lane): Promise<void> {
  const shell = await FuzzedShell.start(daemon, `shell-${lane.number}`);
  const steps = commandSteps(lane.steps, lane.fuzz.seed * lanes + lane.number);
  await takeAll(daemon, lane, steps, (step) => takeCommand(daemon, shell, step));
  if (daemon.problems.length > 0) return;
  await shell.settle();
  await shell.close();
}

/** A problem in one lane ends the others. */
async function takeAll<Step>(
  daemon: FuzzedDaemon,
  { number, taken }: Lane,
  steps: readonly Step[],
  take: (step: Step, n: number) => Promise<void>,
): Promise<void> {
  for (const [n, step] of steps.entries()) {
    if (daemon.problems.length > 0) return;
    try {
      await within(`step ${n}`, take(step, n), stepWithinMs);
    } catch (error) {
      const before = steps.slice(Math.max(0, n - reportedSteps), n + 1).map((one) => JSON.stringify(one));
      const what = error instanceof Error ? error.stack : String(error);
      throw new Error(`lane ${number}, step ${n}: ${what}\n${before.join('\n')}`, { cause: error });
    }
    taken.count += 1;
  }
}

/** Kills the daemon at points of the run that the seed determines. */
async function dieNowAndThen(daemon: FuzzedDaemon, { seed, steps, deaths }: Fuzz, taken: { count: number }) {
  const next = numbers(seed);
  const places = Array.from({ length: deaths }, () => steps * 0.02 + (next() % (steps * 0.9)));
  for (const place of places.toSorted((a, b) => a - b)) {
    const isDue = () => taken.count >= place || daemon.problems.length > 0;
    await until('it is time to die', isDue, nextStepWithinMs * deaths);
    if (daemon.problems.length > 0) return;
    await daemon.kill();
  }
}
