/** The daemon under a fuzz: it is killed now and then, and what somebody asked of it meanwhile is asked again. */
import { Mismatch } from './terminal-fuzz-bytes.ts';
import type { JsonObject, Sandbox } from './sandbox.ts';
import { until } from './until.ts';

export class FuzzedDaemon {
  deaths = 0;
  /** What was found; the first one ends everything. */
  readonly problems: string[] = [];
  #serving: Promise<void> = Promise.resolve();
  #isDying = false;
  #quiet = 0;

  constructor(readonly sandbox: Sandbox) {}

  get url(): string {
    return this.sandbox.url;
  }

  note(problem: unknown): void {
    this.problems.push(problem instanceof Error ? (problem.stack ?? problem.message) : String(problem));
  }

  /** kill -9; resolves when it serves again. */
  async kill(): Promise<void> {
    this.#isDying = true;
    await until('nobody needs quiet', () => this.#quiet === 0, 30_000);
    this.deaths += 1;
    process.kill(this.sandbox.daemonPid, 'SIGKILL');
    this.#serving = this.sandbox.served();
    await this.#serving;
    this.#isDying = false;
  }

  /** Answers null when the daemon has died meanwhile: whether it was done, nobody knows. */
  async through<T>(work: () => Promise<T>): Promise<T | null> {
    await this.#serving;
    const { deaths } = this;
    try {
      return await work();
    } catch (error) {
      if (error instanceof Mismatch || this.deaths === deaths) throw error;
      await this.#serving;
      return null;
    }
  }

  /** The daemon lives until it is done. */
  async quiet<T>(work: () => Promise<T>): Promise<T> {
    await until('the daemon is not about to die', () => !this.#isDying, 30_000);
    this.#quiet += 1;
    try {
      return await work();
    } finally {
      this.#quiet -= 1;
    }
  }

  /** Until it is answered; only for what may be asked twice. */
  async ask(route: string, status: number, body?: unknown): Promise<JsonObject> {
    for (;;) {
      const reply = await this.through(() => this.sandbox.request(route, body));
      if (reply === null) continue;
      if (reply.status !== status) {
        throw new Mismatch(`${route} ${JSON.stringify(body)}: ${reply.status} ${JSON.stringify(reply.body)}`);
      }
      return status < 300 ? reply.body.data : { message: reply.body.message, hint: reply.body.hint };
    }
  }
}
