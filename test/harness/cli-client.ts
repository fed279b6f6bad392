/** Runs the program under test as a client, as a shell does: with streams, signals and an exit code. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { clientCommand, type Sandbox } from './sandbox.ts';
import { until } from './until.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** One run of the program as a client. Its standard input is empty unless a test writes to it. */
export class Client {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #stdout: Buffer[] = [];
  readonly #ended: Promise<unknown>;
  stdoutBytes = 0;
  stderr = '';

  constructor(sandbox: Sandbox, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const [program = '', ...before] = clientCommand();
    this.process = spawn(program, [...before, ...args], {
      // With this mark, the harness also looks for clients that are left behind, as it does for commands.
      env: { PATH: process.env['PATH'], TMPDIR: join(sandbox.directory, 'tmp'), BOXKEEP_TEST_ID: sandbox.id, ...env },
    });
    this.process.stdin.on('error', () => null); // The command may close its input without reading.
    this.process.stdout.on('data', (bytes: Buffer) => {
      this.#stdout.push(bytes);
      this.stdoutBytes += bytes.length;
    });
    this.process.stderr.on('data', (bytes: Buffer) => {
      this.stderr += bytes.toString();
    });
    this.#ended = once(this.process, 'close');
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  get stdout(): Buffer {
    return Buffer.concat(this.#stdout);
  }

  async says(text: string): Promise<void> {
    await until(`the client says ${text}`, () => this.stdout.includes(text));
  }

  async ended(): Promise<Ended> {
    await this.#ended;
    return { code: this.process.exitCode, stdout: this.stdout, stderr: this.stderr };
  }
}

export function client(
  sandbox: Sandbox,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const started = new Client(sandbox, args, env);
  started.process.stdin.end();
  return started.ended();
}
