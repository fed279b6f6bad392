/** Runs cells in interpreters of the image with a script of the daemon: plain Python without packages, and Node. */
import type { JsonBounds } from '../../../kit/text/json-bounds.ts';
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { mintId } from '../../../kit/ids.ts';
import type { Child } from '../../../platform/process/spawn.ts';
import { commandEnvironment } from '../../processes/environment.ts';
import { terminateLater } from '../../processes/terminate.ts';
import type { CodeBackend } from './backend.ts';
import { ChildInterpreter } from './child-interpreter.ts';
import type { Interpreter } from './interpreter.ts';
import type { CodeBackendName, Language } from '../language.ts';
import type { InterpreterNote } from './note.ts';
import type { RunningCell, SessionRecord } from '../sessions/record.ts';
import { startProcess, type ProcessDeps } from './start-process.ts';

export interface InterpreterProgram {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** The input that the program reads before the first request. */
  readonly input: Uint8Array;
}

export interface ReplBackendDeps extends ProcessDeps {
  readonly name: CodeBackendName;
  readonly language: Language;
  /** Possible program names on PATH, best first. */
  readonly programs: readonly string[];
  /** One sentence about how to install it. */
  readonly howToGet: string;
  /** `shell` is the shell of the image; null when there is none. */
  readonly program: (name: string, shell: string | null) => InterpreterProgram;
  readonly environment: Readonly<Record<string, string>>;
  /** Looks a program up in a PATH at the time of the call; null when it does not exist. */
  readonly findProgram: (name: string, path: string) => string | null;
  /** Of one event of an interpreter. */
  readonly bounds: JsonBounds;
  readonly onFault: (what: string, error: unknown) => void;
}

const startWithinMs = 20_000;
/** Limit on the retained output. It contains the end of a cell, however much the cell prints. */
const capBytes = 64 * 1024 * 1024;

export class ReplBackend implements CodeBackend {
  readonly name: CodeBackendName;
  readonly language: Language;

  constructor(private readonly deps: ReplBackendDeps) {
    this.name = deps.name;
    this.language = deps.language;
  }

  /** One sentence about what is missing; null when the backend is usable. */
  missing(): string | null {
    return this.find() === null ? this.#lack : null;
  }

  /** The path of the interpreter; null when it is not on PATH. */
  find(): string | null {
    const path = this.deps.environment['PATH'] ?? '';
    const name = this.#nameIn(path);
    return name === null ? null : this.deps.findProgram(name, path);
  }

  async start(record: SessionRecord): Promise<Interpreter> {
    const account = this.deps.accounts.resolve(record.user);
    const env = commandEnvironment(this.deps.environment, account, [record.env]);
    // Start by name, because the account may not be able to run the first program on PATH that the daemon finds.
    const name = this.#nameIn(env['PATH'] ?? '');
    if (name === null) throw this.#refusal();
    const { argv, input } = this.deps.program(name, this.deps.findProgram('sh', this.deps.environment['PATH'] ?? ''));
    const id = mintId('interpreter');
    const child = await startProcess(this.deps, {
      note: { id, backend: this.name, language: this.language },
      ...{ account, argv, capBytes, env },
      cwd: record.cwd,
      stdin: 'pipe',
    });
    const interpreter = new ChildInterpreter(id, this.name, this.language, child, 0, this.deps.bounds);
    try {
      using deadline = new Deadline(startWithinMs);
      await interpreter.start(name, input, deadline.signal);
      return interpreter;
    } catch (error) {
      terminateLater(child, (fault) => this.deps.onFault(`${name} could not be ended`, fault));
      throw error;
    }
  }

  async adopt({ id }: InterpreterNote, child: Child, running: RunningCell | null): Promise<Interpreter | null> {
    if (child.end) return null;
    const interpreter = new ChildInterpreter(
      id,
      this.name,
      this.language,
      child,
      running?.from.offset ?? child.ends[0],
      this.deps.bounds,
    );
    await interpreter.resume(running);
    return interpreter;
  }

  #nameIn(path: string): string | null {
    return this.deps.programs.find((program) => this.deps.findProgram(program, path) !== null) ?? null;
  }

  get #lack(): string {
    return `${this.deps.programs.join(' and ')} are not on PATH`;
  }

  #refusal(): CoreError {
    const { howToGet, language } = this.deps;
    return new CoreError('unavailable', `${this.#lack}: no ${language} can run`, {
      isRetryable: false,
      hint: howToGet,
    });
  }
}
