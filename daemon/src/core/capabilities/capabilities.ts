/** Asks every probe what the sandbox can do now, never waits long for one, and keeps the answer for a moment. */
import { Deadline } from '../../kit/deadline.ts';
import { capabilityDomains, type CapabilityDomain, type CapabilityReport, type Standing } from './report.ts';

/** One domain's look at the machine: quick, and without changing anything. */
export interface Probe<C extends Standing> {
  look(signal: AbortSignal): C | Promise<C>;
  /** The domain's own fields when the look gave no answer. */
  readonly unknown: Omit<C, keyof Standing>;
}

export type Probes = { readonly [D in CapabilityDomain]: Probe<CapabilityReport[D]> };

const lookWithinMs = 300;
const reusedForMs = 5000;

export class Capabilities {
  #latest: { readonly report: Promise<CapabilityReport>; readonly startedMs: number } | null = null;

  constructor(
    private readonly probes: Probes,
    private readonly now: () => number,
  ) {}

  /** An answer younger than 5 s is given again, unless a fresh one is asked for. */
  report(isFresh = false): Promise<CapabilityReport> {
    const latest = this.#latest;
    if (latest && !isFresh && this.now() - latest.startedMs < reusedForMs) return latest.report;
    const report = lookAround(this.probes);
    this.#latest = { report, startedMs: this.now() };
    return report;
  }
}

async function lookAround(probes: Probes): Promise<CapabilityReport> {
  const looks = capabilityDomains.map(async (domain) => [domain, await lookOnce(probes[domain])] as const);
  return Object.fromEntries(await Promise.all(looks)) as unknown as CapabilityReport;
}

/** A probe that fails or hangs spoils its own domain only. */
async function lookOnce(probe: Probe<Standing>): Promise<Standing> {
  using deadline = new Deadline(lookWithinMs);
  const passed = new Promise<Standing>((resolve) => {
    const warning = `the probe gave no answer within ${lookWithinMs} ms`;
    deadline.signal.addEventListener('abort', () => resolve(withoutAnswer(probe, warning)), { once: true });
  });
  try {
    return await Promise.race([probe.look(deadline.signal), passed]);
  } catch (error) {
    return withoutAnswer(probe, `the probe failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function withoutAnswer(probe: Probe<Standing>, warning: string): Standing {
  return { status: 'absent', missing: [], warnings: [warning], ...probe.unknown };
}
