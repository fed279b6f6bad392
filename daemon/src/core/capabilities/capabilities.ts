/** Collects the capability report from all probes with a short timeout, and caches the report briefly. */
import { aborted, Deadline } from '../../kit/deadline.ts';
import { capabilityDomains, type CapabilityDomain, type CapabilityReport, type Standing } from './report.ts';

/** Inspects one domain, quickly and without side effects. */
export interface Probe<C extends Standing> {
  /** True when another process answers, which may die or stall: an earlier answer then says nothing about now. */
  readonly isLive?: boolean;
  look(signal: AbortSignal): C | Promise<C>;
  /** Reported when the probe gave no answer: the fields of the domain, and the status if it is not `absent`. */
  readonly unknown: Omit<C, keyof Standing> & Partial<Pick<C, 'status'>>;
}

export type Probes = { readonly [D in CapabilityDomain]: Probe<CapabilityReport[D]> };

/** A busy machine starts an interpreter in seconds. A domain that was looked at before is not waited for that long. */
const lookWithinMs = 3000;
const earlierAnswerAfterMs = 300;
const reusedForMs = 5000;

export class Capabilities {
  #latest: { readonly looks: Promise<Looks>; readonly startedMs: number } | null = null;
  readonly #answers = new Map<CapabilityDomain, Answer>();

  constructor(
    private readonly probes: Probes,
    private readonly now: () => number,
    private readonly limitMs = lookWithinMs,
  ) {}

  /** Returns a cached report younger than 5 s, unless `isFresh` is set. */
  async report(isFresh = false): Promise<CapabilityReport> {
    const latest = this.#latest;
    if (latest && !isFresh && this.now() - latest.startedMs < reusedForMs) return (await latest.looks).report;
    const looks = this.#lookAround();
    this.#latest = { looks, startedMs: this.now() };
    const { report, isWhole } = await looks;
    // The next request probes again. By then the late answer may have arrived.
    if (!isWhole && this.#latest.looks === looks) this.#latest = null;
    return report;
  }

  async #lookAround(): Promise<Looks> {
    const looks = await Promise.all(
      capabilityDomains.map(async (domain) => ({ domain, ...(await this.#lookOnce(domain)) })),
    );
    const report = Object.fromEntries(looks.map(({ domain, standing }) => [domain, standing]));
    return { report: report as unknown as CapabilityReport, isWhole: looks.every(({ isAnswer }) => isAnswer) };
  }

  /** A probe that fails or hangs affects only its own domain. */
  async #lookOnce(domain: CapabilityDomain): Promise<Look> {
    const probe: Probe<Standing> = this.probes[domain];
    const facts = JSON.stringify(probe.unknown);
    const hasEarlier = this.#earlier(domain, facts) !== null;
    using deadline = new Deadline(hasEarlier ? Math.min(earlierAnswerAfterMs, this.limitMs) : this.limitMs);
    const late = aborted(deadline.signal).then(() => this.#lateLook(domain, facts));
    try {
      return await Promise.race([this.#ask(domain, facts, deadline.signal), late]);
    } catch (error) {
      return withoutAnswer(probe, `the probe failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #ask(domain: CapabilityDomain, facts: string, signal: AbortSignal): Promise<Look> {
    const standing: Standing = await this.probes[domain].look(signal);
    this.#answers.set(domain, { facts, standing });
    return { standing, isAnswer: true };
  }

  #earlier(domain: CapabilityDomain, facts: string): Standing | null {
    const probe: Probe<Standing> = this.probes[domain];
    const earlier = this.#answers.get(domain);
    return earlier?.facts === facts && probe.isLive !== true ? earlier.standing : null;
  }

  /** Some Pythons, for example of a version manager, always answer late. The report then uses their previous answer. */
  #lateLook(domain: CapabilityDomain, facts: string): Look {
    const earlier = this.#earlier(domain, facts);
    if (earlier) return { standing: earlier, isAnswer: true };
    return withoutAnswer(this.probes[domain], `the probe gave no answer within ${this.limitMs / 1000} s`);
  }
}

interface Looks {
  readonly report: CapabilityReport;
  /** False when a probe gave no answer. */
  readonly isWhole: boolean;
}

interface Look {
  readonly standing: Standing;
  readonly isAnswer: boolean;
}

/** The last answer of a probe, however long it took. */
interface Answer {
  /** The facts that were known without probing. The answer is outdated when these facts change. */
  readonly facts: string;
  readonly standing: Standing;
}

function withoutAnswer(probe: Probe<Standing>, warning: string): Look {
  const standing: Standing = { status: 'absent', missing: [], warnings: [warning], ...probe.unknown };
  return { standing, isAnswer: false };
}
