/** Asks every probe what the sandbox can do now, never waits long for one, and keeps the answer for a moment. */
import { Deadline } from '../../kit/deadline.ts';
import { capabilityDomains, type CapabilityDomain, type CapabilityReport, type Standing } from './report.ts';

/** One domain's look at the machine: quick, and without changing anything. */
export interface Probe<C extends Standing> {
  look(signal: AbortSignal): C | Promise<C>;
  /** What is told when the look gave no answer: the domain's own fields, and how it stands if that is not `absent`. */
  readonly unknown: Omit<C, keyof Standing> & Partial<Pick<C, 'status'>>;
}

export type Probes = { readonly [D in CapabilityDomain]: Probe<CapabilityReport[D]> };

const lookWithinMs = 300;
const reusedForMs = 5000;

export class Capabilities {
  #latest: { readonly looks: Promise<Looks>; readonly startedMs: number } | null = null;

  constructor(
    private readonly probes: Probes,
    private readonly now: () => number,
  ) {}

  /** An answer younger than 5 s is given again, unless a fresh one is asked for. */
  async report(isFresh = false): Promise<CapabilityReport> {
    const latest = this.#latest;
    if (latest && !isFresh && this.now() - latest.startedMs < reusedForMs) return (await latest.looks).report;
    const looks = lookAround(this.probes);
    this.#latest = { looks, startedMs: this.now() };
    const { report, isWhole } = await looks;
    // What came too late is told to the next one who asks.
    if (!isWhole && this.#latest.looks === looks) this.#latest = null;
    return report;
  }
}

interface Looks {
  readonly report: CapabilityReport;
  /** False when a probe gave no answer. */
  readonly isWhole: boolean;
}

async function lookAround(probes: Probes): Promise<Looks> {
  const looks = await Promise.all(
    capabilityDomains.map(async (domain) => ({ domain, ...(await lookOnce(probes[domain])) })),
  );
  const report = Object.fromEntries(looks.map(({ domain, standing }) => [domain, standing]));
  return { report: report as unknown as CapabilityReport, isWhole: looks.every(({ isAnswer }) => isAnswer) };
}

interface Look {
  readonly standing: Standing;
  readonly isAnswer: boolean;
}

/** A probe that fails or hangs spoils its own domain only. */
async function lookOnce(probe: Probe<Standing>): Promise<Look> {
  using deadline = new Deadline(lookWithinMs);
  const passed = new Promise<Look>((resolve) => {
    const warning = `the probe gave no answer within ${lookWithinMs} ms`;
    deadline.signal.addEventListener('abort', () => resolve(withoutAnswer(probe, warning)), { once: true });
  });
  try {
    const answer = Promise.resolve(probe.look(deadline.signal)).then((standing) => ({ standing, isAnswer: true }));
    return await Promise.race([answer, passed]);
  } catch (error) {
    return withoutAnswer(probe, `the probe failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function withoutAnswer(probe: Probe<Standing>, warning: string): Look {
  const standing: Standing = { status: 'absent', missing: [], warnings: [warning], ...probe.unknown };
  return { standing, isAnswer: false };
}
