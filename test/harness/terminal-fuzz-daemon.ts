/** The daemon of a fuzz: it is killed now and then, and interrupted requests are repeated. */
import { Mismatch } from './terminal-fuzz-bytes.ts';
import type { JsonObject, Sandbox } from './sandbox.ts';
import { until } from './until.ts';

export class FuzzedDaemon {
  deaths = 0;
  /** The problems found. The first one ends the fuzz. */
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

  /** Sends SIGKILL. Resolves when the daemon serves again. */
  async kill(): Promise<void> {
    this.#isDying = true;
    await until('no client needs quiet', () => this.#quiet === 0, 30_000);
    this.deaths += 1;
    process.kill(this.sandbox.daemonPid, 'SIGKILL');
    this.#serving = this.sandbox.served();
    await this.#serving;
    this.#isDying = false;
  }

  /** Returns null when the daemon has died meanwhile: the work may or may not have been done. */
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

  /** Keeps the daemon alive until the work is done. */
  async quiet<T>(work: () => Promise<T>): Promise<T> {
    await until('the daemon is not about to die', () => !this.#isDying, 30_000);
    this.#quiet += 1;
    try {
      return await work();
    } finally {
      this.#quiet -= 1;
    }
  }

  /** Repeats a request until it is answered. Only for idempotent requests. */
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
