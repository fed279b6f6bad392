/** A program that answers each line with a line. */
import { linesOf } from './lines.ts';

export class LineProgram implements AsyncDisposable {
  readonly #process;
  readonly #lines: AsyncIterator<string>;

  constructor(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.#process = Bun.spawn([...command], { env: { ...process.env, ...environment }, stdin: 'pipe', stdout: 'pipe' });
    this.#lines = linesOf(new Response(this.#process.stdout))[Symbol.asyncIterator]();
  }

  /** Sends a value as a line of JSON, and returns that of the answer. */
  async ask(question: unknown): Promise<unknown> {
    await this.#process.stdin.write(`${JSON.stringify(question)}\n`);
    await this.#process.stdin.flush();
    const { value: line, done } = await this.#lines.next();
    if (done) throw new Error('the program has ended');
    return JSON.parse(line) as unknown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await this.#process.exited;
  }
}
