/** Interpreters of the image with a script of ours in them: Python without anything installed, and Node. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { mintId } from '../../kit/ids.ts';
import type { Child, Spawn } from '../../platform/spawn.ts';
import type { Accounts } from '../identity/accounts.ts';
import { commandEnvironment } from '../identity/environment.ts';
import type { CodeBackend } from './backend.ts';
import { ChildInterpreter, endChild } from './child-interpreter.ts';
import type { Interpreter } from './interpreter.ts';
import type { CodeBackendName, Language } from './language.ts';
import type { InterpreterNote } from './note.ts';
import type { RunningCell, SessionRecord } from './session.ts';
import { startProcess } from './start-process.ts';

export interface InterpreterProgram {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** What it reads before the first request. */
  readonly input: Uint8Array;
}

export interface ReplBackendDeps {
  readonly name: CodeBackendName;
  readonly language: Language;
  /** Names that it may have on PATH, the best first. */
  readonly programs: readonly string[];
  /** How to get it, in one sentence. */
  readonly howToGet: string;
  /** `shell` is that of the image; null when it has none. */
  readonly program: (name: string, shell: string | null) => InterpreterProgram;
  readonly accounts: Accounts;
  readonly environment: Readonly<Record<string, string>>;
  /** Looks a program up in a PATH, now; null when it is not there. */
  readonly findProgram: (name: string, path: string) => string | null;
  readonly spawn: Spawn;
  readonly onFault: (what: string, error: unknown) => void;
}

const startWithinMs = 20_000;
/** Of what it has said: the end of a cell is in there, whatever the cell prints. */
const capBytes = 64 * 1024 * 1024;

export class ReplBackend implements CodeBackend {
  readonly name: CodeBackendName;
  readonly language: Language;

  constructor(private readonly deps: ReplBackendDeps) {
    this.name = deps.name;
    this.language = deps.language;
  }

  /** What it lacks now, in one sentence; null when it can be used. */
  missing(): string | null {
    return this.find() === null ? this.#lack : null;
  }

  /** Where it is; null when it is not on PATH. */
  find(): string | null {
    const path = this.deps.environment['PATH'] ?? '';
    const name = this.#nameIn(path);
    return name === null ? null : this.deps.findProgram(name, path);
  }

  async start(record: SessionRecord): Promise<Interpreter> {
    const account = this.deps.accounts.resolve(record.user);
    const env = commandEnvironment(this.deps.environment, account, [record.env]);
    // By its name: the account may not reach the first one on PATH that the daemon finds.
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
    const interpreter = new ChildInterpreter(id, this.name, child, 0);
    try {
      using deadline = new Deadline(startWithinMs);
      await interpreter.start(name, input, deadline.signal);
      return interpreter;
    } catch (error) {
      endChild(child).catch((fault: unknown) => this.deps.onFault(`${name} could not be ended`, fault));
      throw error;
    }
  }

  async adopt({ id }: InterpreterNote, child: Child, running: RunningCell | null): Promise<Interpreter | null> {
    if (child.end) return null;
    const interpreter = new ChildInterpreter(id, this.name, child, running?.from.offset ?? child.ends[0]);
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
    return new CoreError('unavailable', `${this.#lack}: no ${language} can run`, { hint: howToGet });
  }
}
