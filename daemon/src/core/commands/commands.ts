/** Starts commands and keeps each one readable after it has ended. Knows nothing of HTTP. */
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { mintId } from '../../kit/ids.ts';
import type { Recovered } from '../../platform/spawn.ts';
import { endTool } from '../capabilities/tool-run.ts';
import { Command, type CommandStatus } from './command.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import { feedInput, writeInput, type InputRequest, type InputResult } from './input.ts';
import { assertCanKill, endTree, killCommand, type Killed } from './kill.ts';
import type { CommandSpec, Launcher } from './launcher.ts';
import type { LogBudget } from './log-budget.ts';
import { decodeNote } from './note.ts';
import { OutputMemory } from './output-chunk.ts';
import { follow, type FollowEvent, type FollowOptions } from './output.ts';
import { readOn, type ReadRequest, type ReadResult } from './read.ts';
import { directoryRefusal, tooManyCommands } from './refusal.ts';
import { EndedCommands } from './retention.ts';
import type { Session, SessionChanges, Sessions } from './sessions.ts';
import type { UsedIds } from './used-ids.ts';

export interface CommandsDeps {
  readonly launcher: Launcher;
  readonly sessions: Sessions;
  readonly usedIds: UsedIds;
  readonly maxRunning: number;
  readonly platform: NodeJS.Platform;
  readonly budget: LogBudget;
  /** Told of what could not be written down; the records it is about are kept. */
  readonly onFault: (what: string, error: unknown) => void;
  /** Told once of every command that ended while this daemon looked on. */
  readonly onEnd: (command: Command) => void;
  readonly now: () => number;
}

export interface Started {
  readonly command: Command;
  /** True when the id had been used for the same request before: nothing was started now. */
  readonly isReplay: boolean;
}

export interface NewSession {
  readonly id: string | null;
  /** null is the workspace. */
  readonly cwd: string | null;
  readonly env: EnvironmentChanges;
  readonly user: string | null;
  /** A script that the shell of each of its commands runs first. */
  readonly startupFile?: string | null;
  readonly isTransient?: boolean;
}

export interface CommandFilter {
  readonly status: CommandStatus | null;
  readonly sessionId: string | null;
}

const trimEveryMs = 5000;
/** An end that leaves more than this behind is worth a look at all of them. */
const largeBytes = 64 * 1024;

interface Starting {
  readonly fingerprint: string | null;
  readonly sessionId: string | null;
  readonly started: Promise<Command>;
}

export class Commands implements Disposable {
  readonly #byId = new Map<string, Command>();
  readonly #starting = new Map<string, Starting>();
  readonly #ended = new EndedCommands();
  readonly #killing = new Set<Promise<unknown>>();
  /** Those that run, or did at the handover. */
  readonly #counted = new Set<Command>();
  readonly #memory = new OutputMemory();
  #trimming: ReturnType<typeof setInterval> | null = null;
  /** Aborted once another daemon is to own all of them. */
  #handover = new AbortController();

  constructor(private readonly deps: CommandsDeps) {
    this.#keepTrimming();
  }

  get running(): number {
    return this.#counted.size;
  }

  /** The ended ones that can still be read, and those that run. */
  get kept(): number {
    return this.#byId.size;
  }

  /** Takes over what an earlier daemon left; called once, before anything is served. */
  recover(left: readonly Recovered[]): { running: number; ended: number } {
    this.deps.sessions.load();
    this.deps.usedIds.load();
    const recovered = left.toSorted((a, b) => (a.child.end?.atMs ?? Infinity) - (b.child.end?.atMs ?? Infinity));
    for (const { note: text, child } of recovered) {
      const note = decodeNote(text);
      if (note) this.#readopt(new Command(note, child));
      else void endTool(child); // Not a command: a tool of the daemon that died, or a note that was cut off.
    }
    return { running: this.#counted.size, ended: this.#byId.size - this.#counted.size };
  }

  /**
   * Starts, ends and forgets nothing more; what is under way is finished first. Waits for output or an end go on.
   * Everything else throws `HandedOver` from now on.
   */
  async handOver(): Promise<void> {
    this.#handover.abort();
    if (this.#trimming) clearInterval(this.#trimming);
    await Promise.allSettled([...[...this.#starting.values()].map(({ started }) => started), ...this.#killing]);
    this.deps.sessions.flush();
  }

  /** The other daemon has gone before it served. */
  takeBack(): void {
    this.#handover = new AbortController();
    this.#keepTrimming();
    for (const command of this.#counted) void this.#countUntilEnd(command);
  }

  /** Starts a command, or answers the one that its id was used for. */
  async start(spec: CommandSpec): Promise<Started> {
    this.#assertOwner();
    const id = spec.id ?? mintId('cmd', this.deps.now());
    const earlier = this.#earlier(id, spec.fingerprint);
    if (earlier) return { command: await earlier, isReplay: true };
    const session = spec.sessionId === null ? null : this.deps.sessions.get(spec.sessionId);
    if (session) this.deps.sessions.assertRoom(session, keptEnvironment(spec));
    // No await from here to the set: two callers can never take the last slot, or the same id.
    if (this.#counted.size + this.#starting.size >= this.deps.maxRunning) throw tooManyCommands(this.deps.maxRunning);
    const started = this.deps.launcher.launch(id, spec, session);
    this.#starting.set(id, { fingerprint: spec.fingerprint, sessionId: spec.sessionId, started });
    try {
      const command = await started;
      this.#keep(command);
      if (!command.isRunning) this.deps.onEnd(command);
      // What could not even be executed must not leave its environment to the commands after it.
      if (session && command.state.status !== 'failed') this.deps.sessions.use(session, changesOf(spec, command));
      void feedInput(command);
      return { command, isReplay: false };
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Starts a command in a session that is created on its first use; without an id, in one that goes when others come. */
  async startInSession(sessionId: string | null, spec: Omit<CommandSpec, 'sessionId'>): Promise<Command> {
    this.#assertOwner();
    const isTransient = sessionId === null;
    const existing = isTransient ? null : this.deps.sessions.find(sessionId);
    const session = existing ?? this.createSession({ id: sessionId, cwd: null, env: {}, user: null, isTransient });
    try {
      return (await this.start({ ...spec, sessionId: session.id })).command;
    } catch (error) {
      if (isTransient) this.deps.sessions.drop(session);
      throw error;
    }
  }

  /** Throws `command_not_found`. */
  get(id: string): Command {
    this.#assertOwner();
    const command = this.#byId.get(id);
    if (command) return command;
    throw new CoreError('command_not_found', `no command has the id ${id}`, {
      hint: 'Ended commands are kept for an hour, the newest 512 of them. POST /v2/commands starts one.',
    });
  }

  /** In the order of their start. */
  list(filter: CommandFilter = { status: null, sessionId: null }): Command[] {
    this.#assertOwner();
    return [...this.#byId.values()]
      .filter((command) => filter.status === null || command.state.status === filter.status)
      .filter((command) => filter.sessionId === null || command.note.sessionId === filter.sessionId)
      .toSorted((a, b) => a.startedMs - b.startedMs);
  }

  /** Its output from some offsets on, and what becomes of it, to the last event: see `follow` in output.ts. */
  follow(command: Command, options: FollowOptions): AsyncGenerator<FollowEvent> {
    return follow(command, this.#memory, options);
  }

  /** What lies past some offsets, or will: see `readOn` in read.ts. */
  read(command: Command, request: ReadRequest): Promise<ReadResult> {
    return readOn(command, request);
  }

  writeInput(id: string, request: InputRequest): Promise<InputResult> {
    return writeInput(this.get(id), request);
  }

  async kill(id: string, signal: NodeJS.Signals, isTree: boolean): Promise<Killed | null> {
    const command = this.get(id);
    assertCanKill(this.deps.platform, isTree);
    const killing = killCommand(command, signal, isTree, this.#handover.signal);
    this.#killing.add(killing);
    try {
      return await killing;
    } finally {
      this.#killing.delete(killing);
    }
  }

  /** Ends the whole tree of a command and forgets it; its id stays used. */
  async delete(id: string): Promise<void> {
    const command = this.get(id);
    await endTree(command);
    try {
      this.#forget([command]);
    } catch (error) {
      throw directoryRefusal(error);
    }
  }

  sessions(): Session[] {
    this.#assertOwner();
    return this.deps.sessions.list();
  }

  /** An existing id answers its session. Throws `bad_argument` for an account that cannot be. */
  createSession(spec: NewSession): Session {
    this.#assertOwner();
    const { launcher, sessions } = this.deps;
    const { startupFile = null, ...rest } = spec;
    const account = launcher.accountName(spec.user);
    const cwd = launcher.sessionPath(spec.cwd, spec.user);
    const startup = startupFile === null ? {} : { startupFile: launcher.sessionPath(startupFile, spec.user) };
    return sessions.create({ ...rest, ...startup, account, cwd }, () => this.#busySessions());
  }

  /** Those that were closed last. */
  closedSessions(): readonly Session[] {
    this.#assertOwner();
    return this.deps.sessions.closed();
  }

  /** Ends the commands of a session and forgets the session; their records stay readable. */
  async deleteSession(id: string): Promise<Session> {
    this.#assertOwner();
    const session = this.deps.sessions.get(id);
    await Promise.all(this.list({ status: null, sessionId: id }).map(endTree));
    this.deps.sessions.delete(id);
    return session;
  }

  /** The newest running command of a session. */
  currentOf(sessionId: string): Command | null {
    return this.list({ status: 'running', sessionId }).at(-1) ?? null;
  }

  /** What the logs of all commands hold, as far as is known. */
  keptBytes(): number {
    let bytes = 0;
    for (const { child } of this.#byId.values()) bytes += child.keptBytes; // Asked at every start.
    return bytes;
  }

  [Symbol.dispose](): void {
    if (this.#trimming) clearInterval(this.#trimming);
  }

  /** Those in which commands run or start. */
  #busySessions(): Set<string | null> {
    const running = [...this.#counted].map(({ note }) => note.sessionId);
    return new Set([...running, ...[...this.#starting.values()].map(({ sessionId }) => sessionId)]);
  }

  #assertOwner(): void {
    if (this.#handover.signal.aborted) throw new HandedOver();
  }

  #keepTrimming(): void {
    this.#trimming = setInterval(() => this.#trim(), trimEveryMs);
    this.#trimming.unref();
  }

  #earlier(id: string, fingerprint: string | null): Promise<Command> | Command | null {
    const starting = this.#starting.get(id);
    const command = this.#byId.get(id);
    const known = starting ?? command?.note;
    if (!known) {
      if (!this.deps.usedIds.has(id)) return null;
      throw new CoreError('command_id_reused', `command_id ${id} was used, and its record is no longer kept`, {
        hint: 'The command was started then and is not started again. Use a new command_id for a new command.',
      });
    }
    if (known.fingerprint === fingerprint) return starting?.started ?? command ?? null;
    throw new CoreError('command_id_reused', `command_id ${id} was used for another request`, {
      hint: 'Use a new command_id for a new command; repeat the same body to get the same command.',
    });
  }

  #keep(command: Command): void {
    this.#byId.set(command.id, command);
    if (command.isRunning) void this.#countUntilEnd(command);
    else this.#noteEnd(command);
  }

  async #countUntilEnd(command: Command): Promise<void> {
    const { signal } = this.#handover;
    this.#counted.add(command);
    while (command.isRunning && !signal.aborted) await command.child.changed(signal);
    if (signal.aborted) return; // The other daemon counts it, or we do again.
    this.#counted.delete(command);
    this.deps.onEnd(command);
    // A command that was deleted has ended too, and is kept no more.
    if (this.#byId.get(command.id) === command) this.#noteEnd(command);
  }

  #noteEnd(command: Command): void {
    this.#ended.add(command);
    // Behind the answer to whoever waits for this end: taking an older record away is none of its business.
    setImmediate(() => this.#retire(this.#ended.tooMany()));
    if (command.child.keptBytes > largeBytes) this.#retireByAgeAndSize();
  }

  #readopt(command: Command): void {
    this.#keep(command);
    void feedInput(command);
  }

  /** Holds everything to the budget: ended commands go first, then running ones keep a fair share each. */
  #trim(): void {
    this.#retireByAgeAndSize();
    const running = [...this.#byId.values()].filter((command) => command.child.isAttached);
    for (const { child } of running) child.refreshKept();
    if (this.keptBytes() <= this.deps.budget.totalBytes) return;
    const capBytes = this.deps.budget.fairCap(running.length);
    for (const { child } of running) if (child.keptBytes > capBytes) child.cap(capBytes);
  }

  #retireByAgeAndSize(): void {
    this.#retire(this.#ended.tooOldOrLarge(this.deps.now(), this.deps.budget.endedBytes));
  }

  #retire(commands: readonly Command[]): void {
    try {
      this.#forget(commands);
    } catch (error) {
      this.deps.onFault('ended commands could not be retired', error);
    }
  }

  /** The ids are written down before the records go, so that no id is ever free again in between. */
  #forget(commands: readonly Command[]): void {
    this.deps.usedIds.add(commands.filter(({ note }) => note.fingerprint !== null).map(({ id }) => id));
    for (const command of commands) {
      this.#byId.delete(command.id);
      this.#ended.delete(command);
      command.child.forget();
    }
  }
}

function keptEnvironment({ sessionKeeps = 'env', env }: CommandSpec): EnvironmentChanges {
  return sessionKeeps === 'env' ? env : {};
}

function changesOf(spec: CommandSpec, { note }: Command): SessionChanges {
  const isMoved = spec.sessionKeeps === 'cwd' && spec.cwd !== null;
  return { env: keptEnvironment(spec), ...(isMoved && { cwd: note.cwd }) };
}
