/** Starts commands and keeps finished ones readable until they are evicted. Does not depend on HTTP. */
import { constants } from 'node:os';
import { advise } from '../../kit/advice.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { mintId } from '../../kit/ids.ts';
import type { Ownership } from '../../kit/ownership.ts';
import { settled } from '../../kit/settled.ts';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import type { Recovered } from '../../platform/process/spawn.ts';
import { Command, type CommandStatus } from './command.ts';
import type { EnvironmentChanges } from '../processes/environment.ts';
import { isRefusedStart } from '../processes/launch.ts';
import { assertNoDifferences } from '../processes/same-session.ts';
import { feedInput, writeInput, type InputRequest, type InputResult } from './input.ts';
import { EarlyKills } from './early-kills.ts';
import { assertCanKill, endTree, isEnding, killCommand, type Killed } from './kill.ts';
import { KeptCommands, type KeptCommandsDeps } from './kept-commands.ts';
import type { CommandSpec, Launcher } from './launcher.ts';
import { readNote } from './note.ts';
import { OutputMemory } from './output-chunk.ts';
import { follow, type FollowEvent, type FollowOptions } from './output.ts';
import { readOn, type ReadRequest, type ReadResult } from './read.ts';
import { directoryRefusal, killedEarly, tooManyCommands, withoutTerminal } from './refusal.ts';
import type { Session, SessionChanges, Sessions, SessionSpec } from './sessions.ts';

export interface CommandsDeps extends KeptCommandsDeps {
  /** The wall clock, in ms. */
  readonly now: () => number;
  readonly ownership: Ownership;
  readonly launcher: Launcher;
  readonly sessions: Sessions;
  readonly maxRunning: number;
  readonly platform: NodeJS.Platform;
  /** Called once for each command that this daemon starts. */
  readonly onStart: (command: Command) => void;
  /** Called once for each command that ends while this daemon owns it. */
  readonly onEnd: (command: Command) => void;
}

export interface Started {
  readonly command: Command;
  /** True when an earlier, identical request used the id. This call started nothing. */
  readonly isReplay: boolean;
}

export interface NewSession extends Pick<SessionSpec, 'id' | 'env' | 'user' | 'isTransient'> {
  /** null means the workspace. */
  readonly cwd: string | null;
  /** A script that the shell of every command in the session runs first. */
  readonly startupFile?: string | null;
  /** If cwd is not a directory, the session starts in the workspace. */
  readonly isCwdOptional?: boolean;
}

export interface CommandFilter {
  readonly status: CommandStatus | null;
  readonly sessionId: string | null;
}

interface Starting {
  readonly fingerprint: string | null;
  readonly sessionId: string | null;
  readonly started: Promise<Command>;
}

export class Commands implements Disposable {
  readonly #kept: KeptCommands;
  readonly #starting = new Map<string, Starting>();
  readonly #killing = new Set<Promise<unknown>>();
  /** Commands that are running, or were running at the handover. */
  readonly #counted = new Set<Command>();
  readonly #memory = new OutputMemory();
  readonly #earlyKills: EarlyKills;

  constructor(private readonly deps: CommandsDeps) {
    this.#earlyKills = new EarlyKills(deps.now);
    this.#kept = new KeptCommands(deps);
    this.#kept.startTrimming();
  }

  get running(): number {
    return this.#counted.size;
  }

  /** The number of running commands plus finished commands that can still be read. */
  get kept(): number {
    return this.#kept.count;
  }

  /** Adopts the commands that an earlier daemon left. Called once, before the daemon serves requests. */
  recover(left: readonly Recovered[]): { running: number; ended: number } {
    this.deps.sessions.load();
    this.deps.usedIds.load();
    const recovered = left.toSorted((a, b) => (a.child.end?.atMs ?? Infinity) - (b.child.end?.atMs ?? Infinity));
    for (const { note, child } of recovered) {
      if (isRefusedStart(child)) child.forget();
      else this.#readopt(new Command(readNote(note), child));
    }
    return { running: this.#counted.size, ended: this.#kept.count - this.#counted.size };
  }

  /**
   * Waits for the starts and kills in progress. Callers that wait for output or for an end keep waiting; every other
   * call throws `HandedOver`.
   */
  async handOver(calledOff: AbortSignal): Promise<void> {
    this.#kept.stopTrimming();
    await settled([...[...this.#starting.values()].map(({ started }) => started), ...this.#killing], calledOff);
    this.deps.sessions.flush();
  }

  /** Resumes ownership after the other daemon exited before it served requests. */
  takeBack(): void {
    this.#kept.startTrimming();
    for (const command of this.#counted) void this.#countUntilEnd(command);
  }

  /** Resumes the initial input of commands after another daemon had their keepers. */
  resumeInput(): void {
    for (const command of this.#counted) void feedInput(command);
  }

  /** Starts a command, or returns the command that an earlier, identical request started under the same id. */
  async start(spec: CommandSpec): Promise<Started> {
    this.deps.ownership.assertOwned();
    const id = spec.id ?? mintId('cmd', this.deps.now());
    const earlier = this.#earlier(id, spec.fingerprint);
    if (earlier) return { command: await earlier, isReplay: true };
    const session = spec.sessionId === null ? null : this.deps.sessions.get(spec.sessionId);
    if (session) this.deps.sessions.assertRoom(session, keptEnvironment(spec));
    // No await between this check and the set: otherwise two callers could take the last slot, or the same id.
    if (this.#counted.size + this.#starting.size >= this.deps.maxRunning) throw tooManyCommands(this.deps.maxRunning);
    const killedBy = this.#earlyKills.find(id);
    const { launcher } = this.deps;
    const started = killedBy ? launcher.recordKilled(id, spec, session, killedBy) : launcher.launch(id, spec, session);
    this.#starting.set(id, { fingerprint: spec.fingerprint, sessionId: spec.sessionId, started });
    this.#kept.noteStart();
    try {
      const command = await started;
      this.#earlyKills.delete(id);
      this.#keep(command);
      this.deps.onStart(command);
      if (!command.isRunning) this.deps.onEnd(command);
      // A command that was not executed must not leave its environment to later commands.
      if (session && !killedBy && command.state.status !== 'failed')
        this.deps.sessions.use(session, changesOf(spec, command));
      if (spec.stdin.kind === 'bytes') void feedInput(command);
      return { command, isReplay: false };
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Starts a command in a session and creates the session on first use. Without an id, the session is transient. */
  async startInSession(sessionId: string | null, spec: Omit<CommandSpec, 'sessionId'>): Promise<Command> {
    this.deps.ownership.assertOwned();
    const isTransient = sessionId === null;
    const existing = isTransient ? null : this.deps.sessions.find(sessionId);
    const spare = { id: sessionId, cwd: null, env: {}, user: null, isTransient };
    const session = existing ?? this.obtainSession(spare).session;
    try {
      return (await this.start({ ...spec, sessionId: session.id })).command;
    } catch (error) {
      if (isTransient) this.deps.sessions.drop(session);
      throw error;
    }
  }

  /** Throws `command_not_found`. */
  get(id: string): Command {
    this.deps.ownership.assertOwned();
    const command = this.#kept.find(id);
    if (command) return command;
    throw new CoreError('command_not_found', `no command has the id ${id}`, {
      hint: 'Finished commands are kept for an hour, and only the newest 512.',
      next: { operation: 'commands.start' },
    });
  }

  /** Sorted by start time. */
  list(filter: CommandFilter = { status: null, sessionId: null }): Command[] {
    this.deps.ownership.assertOwned();
    return this.#kept.all
      .filter((command) => filter.status === null || command.state.status === filter.status)
      .filter((command) => filter.sessionId === null || command.note.sessionId === filter.sessionId)
      .toSorted((a, b) => a.startedMs - b.startedMs);
  }

  /** Streams output from the given offsets, then the end of the command. See `follow` in output.ts. */
  follow(command: Command, options: FollowOptions): AsyncGenerator<FollowEvent> {
    return follow(command, this.#memory, options);
  }

  /** Returns the output past the given offsets, and waits for output if there is none. See `readOn` in read.ts. */
  read(command: Command, request: ReadRequest): Promise<ReadResult> {
    return readOn(command, request);
  }

  writeInput(id: string, request: InputRequest): Promise<InputResult> {
    return writeInput(this.get(id), request);
  }

  /** Throws `command_not_found`, `bad_argument` for a command without a terminal, `terminal_ended` after its end. */
  resize(id: string, { rows, cols }: TerminalSize): void {
    const command = this.get(id);
    if (!command.note.hasTerminal) throw withoutTerminal(id);
    if (!command.isRunning) throw new CoreError('terminal_ended', `the command ${id} has ended`);
    command.child.resize(rows, cols);
  }

  /** Of the commands that are meant, the one that runs, else the newest; null if none is kept. */
  findNewest(isMeant: (command: Command) => boolean): Command | null {
    const found = this.list().filter(isMeant);
    return found.findLast(({ isRunning }) => isRunning) ?? found.at(-1) ?? null;
  }

  /** Throws `command_not_found`, and then remembers a kill whose command may be about to arrive. */
  async kill(id: string, signal: NodeJS.Signals, isTree: boolean): Promise<Killed | null> {
    this.deps.ownership.assertOwned();
    assertCanKill(this.deps.platform, isTree);
    await this.#started(id);
    const isEarly = isEnding(signal) && !this.#kept.find(id) && !this.deps.usedIds.has(id);
    if (isEarly) {
      this.#earlyKills.add(id, signal);
      throw killedEarly(id);
    }
    const command = this.get(id);
    const killing = killCommand(command, signal, isTree, this.deps.ownership.leaving);
    this.#killing.add(killing);
    try {
      return await killing;
    } finally {
      this.#killing.delete(killing);
    }
  }

  /** Sends one signal to the process group that a command leads. Throws `command_not_found`. */
  async signalGroup(id: string, signal: NodeJS.Signals): Promise<void> {
    const { child } = this.get(id);
    await child.signal(constants.signals[signal], 'group');
    if (child.ownership.isLeft) throw new HandedOver();
  }

  /** Ends the whole process tree of a command and deletes its record. Its id stays used. */
  async delete(id: string): Promise<void> {
    await this.#started(id);
    const command = this.get(id);
    await endTree(command);
    try {
      this.#kept.forget([command]);
    } catch (error) {
      throw directoryRefusal(error);
    }
  }

  sessions(): Session[] {
    this.deps.ownership.assertOwned();
    return this.deps.sessions.list();
  }

  /** Returns the existing session if the id is in use. Throws `bad_argument` for an unknown account. */
  obtainSession(spec: NewSession): { session: Session; isNew: boolean } {
    this.deps.ownership.assertOwned();
    const { launcher, sessions } = this.deps;
    const { startupFile = null, isCwdOptional = false, ...rest } = spec;
    const account = launcher.accountName(spec.user);
    const cwd = launcher.sessionPath(spec.cwd, spec.user, isCwdOptional);
    const startup = startupFile === null ? {} : { startupFile: launcher.sessionPath(startupFile, spec.user) };
    return sessions.obtain({ ...rest, ...startup, account, cwd }, () => this.#busySessions());
  }

  /** Throws `session_exists` if the session differs from the request. */
  assertSame(session: Session, { cwd, env, user }: NewSession): void {
    const { launcher } = this.deps;
    const path = cwd === null ? null : launcher.sessionPath(cwd, user);
    const found = launcher.differences(session, { cwd: path, env, user });
    assertNoDifferences(session.id, found, { operation: 'commandSessions.close' });
  }

  /** The most recently closed sessions. */
  closedSessions(): readonly Session[] {
    this.deps.ownership.assertOwned();
    return this.deps.sessions.closed();
  }

  /** Ends the commands of a session and deletes the session. The records of its commands stay readable. */
  async deleteSession(id: string): Promise<Session> {
    this.deps.ownership.assertOwned();
    const session = this.deps.sessions.get(id);
    await this.startedIn(id);
    await Promise.all(this.list({ status: null, sessionId: id }).map(endTree));
    this.deps.sessions.delete(id);
    return session;
  }

  /** Resolves when the commands of a session that are starting have started or failed. */
  async startedIn(sessionId: string): Promise<void> {
    const starts = [...this.#starting.values()].filter((starting) => starting.sessionId === sessionId);
    await Promise.allSettled(starts.map(({ started }) => started));
  }

  /** The newest running command of a session. */
  currentOf(sessionId: string): Command | null {
    return this.list({ status: 'running', sessionId }).at(-1) ?? null;
  }

  /** Total bytes in the logs of all commands, as last reported. The logs themselves are not read. */
  keptBytes(): number {
    return this.#kept.totalBytes();
  }

  [Symbol.dispose](): void {
    this.#kept.stopTrimming();
    this.deps.sessions.flush();
  }

  /** Sessions that have running or starting commands. */
  #busySessions(): Set<string | null> {
    const running = [...this.#counted].map(({ note }) => note.sessionId);
    return new Set([...running, ...[...this.#starting.values()].map(({ sessionId }) => sessionId)]);
  }

  /** Resolves when the command has started or failed, if it is starting. */
  async #started(id: string): Promise<void> {
    await this.#starting.get(id)?.started.catch(() => null); // The caller of the start gets the error.
  }

  #earlier(id: string, fingerprint: string | null): Promise<Command> | Command | null {
    const starting = this.#starting.get(id);
    const command = this.#kept.find(id);
    const known = starting ?? command?.note;
    if (!known) {
      if (!this.deps.usedIds.has(id)) return null;
      throw new CoreError('command_id_reused', `${id} was used, and its record is no longer kept`, {
        argument: 'commandId',
        hint: 'The command was started then and is not started again.',
        advice: advise`Use a new ${'commandId'} for a new command.`,
      });
    }
    if (known.fingerprint === fingerprint) return starting?.started ?? command ?? null;
    throw new CoreError('command_id_reused', `${id} was used for another request`, {
      argument: 'commandId',
      advice: advise`Use a new ${'commandId'} for a new command; repeat the same body to get the same command.`,
    });
  }

  #keep(command: Command): void {
    this.#kept.add(command);
    if (command.isRunning) void this.#countUntilEnd(command);
    else this.#kept.noteEnd(command);
  }

  async #countUntilEnd(command: Command): Promise<void> {
    const { leaving } = this.deps.ownership;
    this.#counted.add(command);
    while (command.isRunning && !leaving.aborted) await command.child.changed(leaving);
    if (leaving.aborted) return; // Either the other daemon counts the command, or `takeBack` counts it again.
    this.#counted.delete(command);
    this.deps.onEnd(command);
    this.#kept.noteEnd(command);
  }

  #readopt(command: Command): void {
    this.#keep(command);
    void feedInput(command);
  }
}

function keptEnvironment({ sessionKeeps = 'env', env }: CommandSpec): EnvironmentChanges {
  return sessionKeeps === 'env' ? env : {};
}

function changesOf(spec: CommandSpec, { note }: Command): SessionChanges {
  const isMoved = spec.sessionKeeps === 'cwd' && spec.cwd !== null;
  return { env: keptEnvironment(spec), ...(isMoved && { cwd: note.cwd }) };
}
