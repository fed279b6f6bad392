/** Starts commands and keeps each one readable after it has ended. Knows nothing of HTTP. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { mintId } from '../../kit/ids.ts';
import type { Logger } from '../../kit/logger.ts';
import type { Child, Spawn } from '../../platform/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import { Command } from './command.ts';
import { commandEnvironment, type EnvironmentChanges } from './environment.ts';
import { decodeNote, encodeNote, type CommandNote } from './note.ts';
import { readPart, type Offsets, type StreamPart } from './output.ts';
import { resourceLimits, type CommandLimits } from './resource-limits.ts';
import { shellArguments, type FindProgram, type ShellName } from './shell.ts';

export type StdinSource = { readonly kind: 'pipe' | 'null' } | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export interface CommandSpec {
  /** The caller's own id; null mints one. */
  readonly id: string | null;
  /** Of the request: the same id with the same fingerprint answers the same command. */
  readonly fingerprint: string | null;
  readonly sessionId: string | null;
  readonly command: string;
  readonly shell: ShellName;
  readonly args: readonly string[];
  /** null is the workspace; a relative path is resolved against it. */
  readonly cwd: string | null;
  readonly user: string | null;
  readonly env: EnvironmentChanges;
  readonly hardTimeoutMs: number | null;
  readonly merge: boolean;
  readonly limits: CommandLimits;
  readonly stdin: StdinSource;
}

export interface CommandsDeps {
  readonly spawn: Spawn;
  readonly accounts: Accounts;
  readonly findProgram: FindProgram;
  /** What every command's environment starts from. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly maxRunning: number;
  /** Bytes kept of each output stream. */
  readonly logCapBytes: number;
  readonly now: () => number;
}

export interface Started {
  readonly command: Command;
  /** True when the id had been used for the same request before: nothing was started now. */
  readonly isReplay: boolean;
}

export interface ReadRequest {
  readonly offsets: Offsets;
  readonly limitBytes: number;
  /** How long to wait for something new; 0 answers at once. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface ReadResult {
  readonly stdout: StreamPart;
  readonly stderr: StreamPart;
}

/** Between SIGTERM and SIGKILL when a hard time-out ends a tree. */
const graceMs = 5000;
const keptEnded = 512;
const keptMs = 3600 * 1000;
const retireEveryMs = 60 * 1000;

interface Starting {
  readonly fingerprint: string | null;
  readonly started: Promise<Command>;
}

export class Commands implements Disposable {
  readonly #byId = new Map<string, Command>();
  readonly #starting = new Map<string, Starting>();
  #running = 0;
  readonly #retirement: ReturnType<typeof setInterval>;

  constructor(private readonly deps: CommandsDeps) {
    this.#retirement = setInterval(() => this.#retire(), retireEveryMs);
    this.#retirement.unref();
  }

  /** Takes over what an earlier daemon left; called once, before anything is served. */
  async recover(): Promise<{ running: number; ended: number }> {
    for (const { note: text, child } of await this.deps.spawn.recover()) {
      const note = decodeNote(text);
      if (note) this.#keep(new Command(note, child));
      else child.forget();
    }
    return { running: this.#running, ended: this.#byId.size - this.#running };
  }

  /** Starts a command, or answers the one that its id was used for. */
  async start(spec: CommandSpec): Promise<Started> {
    const id = spec.id ?? mintId('cmd', this.deps.now());
    const earlier = await this.#earlier(id, spec.fingerprint);
    if (earlier) return { command: earlier, isReplay: true };
    // No await from here to the set: two callers can never take the last slot, or the same id.
    if (this.#running + this.#starting.size >= this.deps.maxRunning) throw tooMany(this.deps.maxRunning);
    const started = this.#launch(id, spec);
    this.#starting.set(id, { fingerprint: spec.fingerprint, started });
    try {
      const command = await started;
      this.#keep(command);
      return { command, isReplay: false };
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Throws `command_not_found`. */
  get(id: string): Command {
    const command = this.#byId.get(id);
    if (!command) {
      throw new CoreError('command_not_found', `no command has the id ${id}`, {
        hint: 'Ended commands are kept for an hour, the newest 512 of them. POST /v2/commands starts one.',
      });
    }
    return command;
  }

  /** What lies past the offsets, at once or as soon as there is something, the command ends, or the wait is over. */
  async read(command: Command, request: ReadRequest): Promise<ReadResult> {
    using deadline = new Deadline(request.waitMs, request.signal);
    for (;;) {
      const isOver = !command.isRunning;
      const result = {
        stdout: readPart(command.child, 'stdout', request.offsets.stdout, request.limitBytes),
        stderr: readPart(command.child, 'stderr', request.offsets.stderr, request.limitBytes),
      };
      const isNews = hasNews(result.stdout, request.offsets.stdout) || hasNews(result.stderr, request.offsets.stderr);
      if (isNews || isOver || deadline.passed) return result;
      command.child.watch();
      await command.child.changed(deadline.signal);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#retirement);
  }

  async #earlier(id: string, fingerprint: string | null): Promise<Command | null> {
    const starting = this.#starting.get(id);
    const known = starting ?? this.#byId.get(id)?.note;
    if (!known) return null;
    if (known.fingerprint === fingerprint) return starting ? starting.started : (this.#byId.get(id) ?? null);
    throw new CoreError('command_id_reused', `command_id ${id} was used for another request`, {
      hint: 'Use a new command_id for a new command; repeat the same body to get the same command.',
    });
  }

  async #launch(id: string, spec: CommandSpec): Promise<Command> {
    const account = this.deps.accounts.resolve(spec.user);
    const argv = shellArguments(spec, this.deps.environment['PATH'] ?? '', this.deps.findProgram);
    for (const cwd of this.#directories(spec.cwd, account)) {
      const note = this.#note(id, spec, account, cwd);
      const child = await this.#spawn(note, spec, account, argv);
      if (spec.cwd === null && failedAt(child, 'cwd') && cwd !== '/') {
        child.forget(); // The workspace is closed to this account: its home, then the root, will do.
        continue;
      }
      const refusal = startRefusal(child, note);
      if (!refusal) return this.#feed(new Command(note, child), spec.stdin);
      child.forget();
      throw refusal;
    }
    throw new Error('the list of directories always ends in the root');
  }

  /** Where the command may start, best first; only a defaulted directory has alternatives. */
  #directories(wanted: string | null, account: Account): string[] {
    const workspace = this.deps.accounts.default().home;
    if (wanted === null) return [...new Set([workspace, account.home, '/'])];
    if (wanted === '~' || wanted.startsWith('~/')) return [account.home + wanted.slice(1)];
    return [wanted.startsWith('/') ? wanted : `${workspace}/${wanted}`];
  }

  #note(id: string, spec: CommandSpec, account: Account, cwd: string): CommandNote {
    return {
      id,
      fingerprint: spec.fingerprint,
      sessionId: spec.sessionId,
      command: spec.command,
      user: account.name,
      cwd,
      merge: spec.merge,
      createdMs: this.deps.now(),
    };
  }

  async #spawn(note: CommandNote, spec: CommandSpec, account: Account, argv: readonly string[]): Promise<Child> {
    try {
      return await this.deps.spawn.start({
        note: encodeNote(note),
        argv,
        env: commandEnvironment(this.deps.environment, account, [spec.env]),
        cwd: note.cwd,
        account: this.deps.accounts.isOwn(account) ? null : account,
        stdin: spec.stdin.kind === 'null' ? 'null' : 'pipe',
        merge: spec.merge,
        capBytes: this.deps.logCapBytes,
        hardTimeoutMs: spec.hardTimeoutMs,
        graceMs,
        limits: resourceLimits(spec.limits),
      });
    } catch (error) {
      throw systemRefusal(error);
    }
  }

  #feed(command: Command, stdin: StdinSource): Command {
    if (stdin.kind === 'bytes') {
      const { bytes } = stdin;
      void command.child.writeStdin(0, bytes).then(() => command.child.closeStdin(bytes.length));
    }
    return command;
  }

  #keep(command: Command): void {
    this.#byId.set(command.id, command);
    if (command.isRunning) void this.#countUntilEnd(command);
    if (this.#byId.size - this.#running > keptEnded) this.#retire();
  }

  async #countUntilEnd(command: Command): Promise<void> {
    this.#running += 1;
    while (command.isRunning) await command.child.changed();
    this.#running -= 1;
  }

  /** Forgets ended commands that are too old or too many, the oldest end first. */
  #retire(): void {
    const ended = [...this.#byId.values()]
      .filter((command) => !command.isRunning)
      .toSorted((a, b) => (b.state.endedMs ?? 0) - (a.state.endedMs ?? 0));
    const oldest = this.deps.now() - keptMs;
    ended.forEach((command, index) => {
      if (index < keptEnded && (command.state.endedMs ?? 0) >= oldest) return;
      this.#byId.delete(command.id);
      command.child.forget();
    });
  }
}

function hasNews(part: StreamPart, offset: number): boolean {
  return part.next > offset || part.gaps.length > 0;
}

function failedAt(child: Child, stage: string): boolean {
  return child.end?.kind === 'failed' && child.end.stage === stage;
}

function tooMany(limit: number): CoreError {
  return new CoreError('capacity_reached', `${limit} commands are running, which is the most`, {
    hint: 'Wait for one to end, kill one, or raise SVC_MAX_COMMANDS.',
  });
}

/** The failures of a start that are the request's or the machine's; an exec failure is the command's own result. */
function startRefusal(child: Child, note: CommandNote): CoreError | null {
  if (child.end?.kind !== 'failed') return null;
  const { stage, errnoName, message } = child.end;
  const facts = { stage, errno: child.end.errno, errno_name: errnoName };
  if (stage === 'exec') return null;
  if (errnoName === 'ENOSPC' || errnoName === 'EDQUOT') return diskFull(facts);
  if (stage === 'cwd') {
    const hint = 'Create it first, or give another cwd.';
    return new CoreError('bad_argument', `cwd ${note.cwd}: ${message}`, { hint, facts });
  }
  if (stage === 'groups' || stage === 'gid' || stage === 'uid') {
    const hint = 'Leave user out, or start the daemon as root with the capabilities to switch accounts.';
    return new CoreError('bad_argument', `cannot become ${note.user}: ${message}`, { hint, facts });
  }
  if (stage === 'rlimit') {
    const hint = 'Only root may raise a limit above its hard value.';
    return new CoreError('bad_argument', `limits cannot be set: ${message}`, { hint, facts });
  }
  if (stage === 'fork' || errnoName === 'EMFILE' || errnoName === 'ENFILE') {
    const hint = 'Wait for commands to end, or raise the limit on processes.';
    return new CoreError('capacity_reached', `no process or descriptor to be had (${stage}): ${message}`, {
      hint,
      facts,
    });
  }
  return new CoreError('unavailable', `the command could not be started (${stage}): ${message}`, { facts });
}

/** What the directory of a command could not be made for. */
function systemRefusal(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull({ errno_name: code });
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new CoreError('capacity_reached', 'the daemon has no descriptor left', { hint: 'Try again in a moment.' });
  }
  return error;
}

function diskFull(facts: Readonly<Record<string, unknown>>): CoreError {
  const hint = 'Free space where the runtime directory is, or start with another --runtime-dir.';
  return new CoreError('no_space_left', 'no space left for the output of a command', { hint, facts });
}
