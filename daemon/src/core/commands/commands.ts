/** Starts commands and keeps each one readable after it has ended. Knows nothing of HTTP. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { mintId } from '../../kit/ids.ts';
import type { Recovered } from '../../platform/spawn.ts';
import { endTool } from '../capabilities/tool-run.ts';
import { Command, type CommandStatus } from './command.ts';
import type { EnvironmentChanges } from '../identity/environment.ts';
import { feedInput, writeInput, type InputRequest, type InputResult } from './input.ts';
import { assertCanKill, killCommand, type Killed } from './kill.ts';
import { graceMs, type CommandSpec, type Launcher } from './launcher.ts';
import type { LogBudget } from './log-budget.ts';
import { decodeNote } from './note.ts';
import { OutputMemory } from './output-chunk.ts';
import { follow, readPart, type FollowEvent, type FollowOptions, type Offsets, type StreamPart } from './output.ts';
import { readLogs, directoryRefusal, tooManyCommands } from './refusal.ts';
import { EndedCommands } from './retention.ts';
import type { Session, Sessions } from './sessions.ts';
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

export interface CommandFilter {
  readonly status: CommandStatus | null;
  readonly sessionId: string | null;
}

const trimEveryMs = 5000;
/** Of each stream, whatever a caller asks for: an answer is in memory whole, and may be six times as long in JSON. */
const mostAnswerBytes = 8 * 1024 * 1024;
/** An end that leaves more than this behind is worth a look at all of them. */
const largeBytes = 64 * 1024;
/** Beyond the grace: what the kernel may need to take a killed process away. */
const endWithinMs = graceMs + 2000;

interface Starting {
  readonly fingerprint: string | null;
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
    if (session) this.deps.sessions.assertRoom(session, spec.env);
    // No await from here to the set: two callers can never take the last slot, or the same id.
    if (this.#counted.size + this.#starting.size >= this.deps.maxRunning) throw tooManyCommands(this.deps.maxRunning);
    const started = this.deps.launcher.launch(id, spec, session);
    this.#starting.set(id, { fingerprint: spec.fingerprint, started });
    try {
      const command = await started;
      this.#keep(command);
      if (!command.isRunning) this.deps.onEnd(command);
      // What could not even be executed must not leave its environment to the commands after it.
      if (session && command.state.status !== 'failed') this.deps.sessions.use(session, spec.env);
      void feedInput(command);
      return { command, isReplay: false };
    } finally {
      this.#starting.delete(id);
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

  /** What lies past the offsets, at once or as soon as there is something, the command ends, or the wait is over. */
  async read(command: Command, request: ReadRequest): Promise<ReadResult> {
    using deadline = new Deadline(request.waitMs, request.signal);
    readLogs(command.id, () => command.child.refresh());
    const [out, err] = command.child.ends;
    // An offset past the end is the end as it is now: what comes after it is news.
    const offsets = { stdout: Math.min(request.offsets.stdout, out), stderr: Math.min(request.offsets.stderr, err) };
    const limitBytes = Math.min(request.limitBytes, mostAnswerBytes);
    for (;;) {
      const isOver = !command.isRunning;
      const known = command.child.ends;
      const result = readLogs(command.id, () => ({
        stdout: readPart(command.child, 'stdout', offsets.stdout, limitBytes),
        stderr: readPart(command.child, 'stderr', offsets.stderr, limitBytes),
      }));
      const isNews = hasNews(result.stdout, offsets.stdout) || hasNews(result.stderr, offsets.stderr);
      if (isNews || isOver || deadline.passed) return result;
      // Reading looks at the logs: what came to stdout while stderr was read is known now, and nobody would tell of it.
      if (hasGrown(known, command.child.ends)) continue;
      command.child.watch();
      await command.child.changed(deadline.signal);
    }
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
    const account = launcher.accountName(spec.user);
    return sessions.create({ ...spec, account, cwd: launcher.sessionDirectory(spec.cwd, spec.user) });
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

function hasGrown(before: readonly [number, number], now: readonly [number, number]): boolean {
  return now[0] > before[0] || now[1] > before[1];
}

function hasNews(part: StreamPart, offset: number): boolean {
  return part.next > offset || part.gaps.length > 0;
}

/** TERM, the grace, KILL to everything that a command has started; resolves when its keeper has left. */
async function endTree({ id, child }: Command): Promise<void> {
  if (child.isLetGo) throw new HandedOver();
  if (!child.isAttached) return;
  child.terminate(graceMs);
  using deadline = new Deadline(endWithinMs);
  while (child.isAttached && !deadline.passed) await child.changed(deadline.signal);
  if (child.isLetGo) throw new HandedOver();
  if (!child.isAttached) return;
  throw new CoreError('unavailable', `the keeper of ${id} does not answer, and the command may live on`, {
    hint: `Look at the keeper of process ${child.pid}: something has stopped it.`,
  });
}
