/** Starts commands through keepers, and finds the running and ended commands again after a restart. */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { Deadline } from '../../kit/deadline.ts';
import { errnoOf, isOutOfDescriptors } from '../../kit/errno.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Ownership } from '../../kit/ownership.ts';
import { settled } from '../../kit/settled.ts';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';
import { Child } from './child.ts';
import { CommandDirectory } from './command-directory.ts';
import { prepareKeeperNames } from './keeper-names.ts';
import { SpareDirectories } from './spare-directories.ts';
import { SpareKeepers } from './spare-keepers.ts';
import { decodeNote, encodeNote, type ProcessNote, type ProcessPlane, type TaggedNote } from './process-note.ts';
import { encodeSpawn, memberVersion, reuseVersion, spawnFlag, type ResourceLimit } from './keeper-protocol.ts';

export type { Child } from './child.ts';
export type { ChildEnd } from './child-end.ts';
export type { ArrivalRun } from './command-directory.ts';
export type { ResourceLimit } from './keeper-protocol.ts';
export type { ProcessNote } from './process-note.ts';

export interface SpawnRequest {
  /** The owner of the process. No other plane recovers or ends the process. */
  readonly plane: ProcessPlane;
  /** JSON that is stored beside the process and returned by `recover`. */
  readonly note: object;
  /** Stored beside the command, to be written to its stdin. */
  readonly input?: Uint8Array | null;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** null runs the command as the daemon's own account. */
  readonly account: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] } | null;
  /** With a size, all three streams are one terminal of that size; its output is stdout. */
  readonly stdin: 'pipe' | 'null' | TerminalSize;
  /** Merges standard error into standard output, in the exact order. */
  readonly merge?: boolean;
  /** The caller waits for the end, so the keeper reports the start only when the end does not follow within 2 ms. */
  readonly isAwaited?: boolean;
  /** The command does not lead its process group, unless it has a terminal or an earlier init starts it. */
  readonly isMember?: boolean;
  /** Limit on the retained output of each stream. */
  readonly capBytes: number;
  /** At `capBytes` of output that `consume` has not released, the command waits, and no output is dropped. */
  readonly waitsForReader?: boolean;
  readonly hardTimeoutMs?: number | null;
  readonly graceMs: number;
  readonly limits?: readonly ResourceLimit[];
}

export interface Recovered {
  readonly note: ProcessNote;
  readonly child: Child;
}

export type RecoveredByPlane = Readonly<Record<ProcessPlane, readonly Recovered[]>>;

interface Found extends Recovered {
  readonly plane: ProcessPlane;
}

const childOomScore = 1000;
const adoptedAtOnce = 64;
const startingLooks = 50;
const startingLookMs = 10;
const statusMs = 1000;

export class KeeperSpawn implements Disposable {
  readonly #commands: string;
  /** The children that have a keeper. */
  readonly #attached = new Set<Child>();
  readonly #starting = new Set<Promise<Child>>();
  /** Commands that had ended before this daemon took over, by the names of their directories. */
  readonly #foreseen = new Map<string, Found>();
  /** The children whose keepers this daemon has left to another daemon. */
  #released: readonly Child[] = [];
  readonly #descriptor: number;
  readonly #keepers: SpareKeepers;
  /** The newest version that init, or one of its keepers, has reported. */
  #keeperVersion: number;
  readonly #spares: SpareDirectories;

  constructor(
    runtimeDirectory: string,
    private readonly ownership: Ownership,
    /** Called for a directory that could not be taken over. */
    private readonly onFault: (name: string, error: unknown) => void,
    keeperVersion = 1,
  ) {
    this.#keeperVersion = keeperVersion;
    this.#commands = `${runtimeDirectory}/commands`;
    mkdirSync(this.#commands, { mode: 0o700, recursive: true });
    prepareKeeperNames(`${runtimeDirectory}/keepers`);
    this.#descriptor = openSync(runtimeDirectory, 'r');
    rmSync(`${runtimeDirectory}/spare`, { recursive: true, force: true }); // Of earlier versions.
    this.#spares = new SpareDirectories(this.#commands);
    this.#keepers = new SpareKeepers(this.#socketPath('init.sock'));
  }

  /** Requests a keeper for the first command. Later commands find one that is idle or was started ahead. */
  prepare(): Promise<void> {
    return this.#keepers.renew();
  }

  /**
   * Resolves when the command runs or has ended, or with a child whose `end` is `failed`.
   * Rejects with the system's error when the command directory cannot be created.
   */
  async start(request: SpawnRequest): Promise<Child> {
    // Operations that are in progress when an upgrade begins may still start processes.
    if (this.ownership.isLeft) throw new HandedOver();
    const started = this.#start(request);
    this.#starting.add(started);
    try {
      return await started;
    } finally {
      this.#starting.delete(started);
    }
  }

  /** Stores the record of a process that was killed before its start. Rejects as `start` does. */
  async recordKilled(plane: ProcessPlane, note: object, signal: number): Promise<Child> {
    const directory = await CommandDirectory.create(this.#spares, encodeNote(plane, note), null);
    directory.writeKilled(signal);
    const child = this.#child(basename(directory.path), directory);
    child.settleFromJournal();
    return child;
  }

  /**
   * Leaves every keeper to another daemon and starts nothing more. Starts that are in progress are completed first. Keeps
   * everything if the upgrade is called off meanwhile.
   */
  async release(calledOff: AbortSignal): Promise<void> {
    while (this.#starting.size > 0 && !calledOff.aborted) await settled(this.#starting, calledOff);
    if (calledOff.aborted) return;
    this.ownership.finishLeaving();
    this.#released = [...this.#attached];
    for (const child of this.#released) child.release();
    this.#keepers.drop();
  }

  /** Attaches again, after the other daemon went away without using the keepers. */
  async reattach(): Promise<void> {
    this.ownership.startReturning();
    using deadline = new Deadline(statusMs);
    await Promise.all(this.#released.map((child) => child.reattach(deadline.signal)));
    this.#released = [];
    await this.#keepers.renew();
  }

  async #start(request: SpawnRequest): Promise<Child> {
    const child = await this.#attempt(request);
    if (child.end?.kind !== 'failed' || child.end.stage !== 'fork') return child;
    // Where many processes run, one may end at any moment, so a second attempt is worthwhile. An idle keeper may also
    // have exited while the request was on its way.
    child.directory.remove();
    return this.#attempt(request, true);
  }

  /** Reads commands that can no longer change, so that `recover` has little left to do. */
  foresee(): void {
    for (const name of readdirSync(this.#commands)) {
      const over = this.#readOver(name);
      if (over) this.#foreseen.set(name, over);
    }
  }

  /** Every process that an earlier daemon left here, running or ended. */
  async recover(): Promise<RecoveredByPlane> {
    const names = readdirSync(this.#commands);
    const recovered: Found[] = [];
    for (let at = 0; at < names.length; at += adoptedAtOnce) {
      // One for all of them, because each deadline has a timer and a signal of its own.
      using deadline = new Deadline(statusMs);
      const some = await Promise.all(names.slice(at, at + adoptedAtOnce).map((name) => this.#tryAdopt(name, deadline)));
      recovered.push(...some.filter((one) => one !== null));
    }
    const of = (plane: ProcessPlane) => recovered.filter((one) => one.plane === plane);
    return { commands: of('commands'), terminals: of('terminals'), code: of('code'), tools: of('tools') };
  }

  [Symbol.dispose](): void {
    this.#keepers[Symbol.dispose]();
    closeSync(this.#descriptor);
  }

  async #attempt(request: SpawnRequest, isFresh = false): Promise<Child> {
    const note = encodeNote(request.plane, request.note);
    const created = CommandDirectory.create(this.#spares, note, request.input ?? null);
    const directory = await created.catch((error: unknown) => {
      this.#keepers.makeRoom();
      throw error;
    });
    const child = this.#child(basename(directory.path), directory);
    const frame = encodeSpawn(spawnFrame(request, directory.path, this.#keeperVersion));
    if (!frame) {
      child.fail('exec', constants.errno.E2BIG);
      return child;
    }
    await this.#hand(child, frame, isFresh);
    return child;
  }

  /** Sends a request to a keeper. Resolves at the keeper's first frame, or when none will come. */
  async #hand(child: Child, frame: Buffer, isFresh: boolean): Promise<void> {
    const answered = Promise.withResolvers<void>();
    try {
      const connection = await this.#keepers.take(isFresh);
      connection.tell({
        onFrame: (type, payload) => {
          child.onFrame(type, payload);
          this.#keeperVersion = Math.max(this.#keeperVersion, child.keeperVersion);
          answered.resolve();
        },
        onClose: () => {
          if (child.pid === 0 && !child.end) settleUnstarted(child);
          else child.onClose();
          answered.resolve();
        },
      });
      child.adopt(connection, () => this.#keepers.add(connection));
      connection.send(frame);
      void this.#keepers.renew();
    } catch {
      this.#keepers.makeRoom();
      settleUnstarted(child); // Init closed the connection at once because it could not fork.
      return;
    }
    await answered.promise;
  }

  /** Null for a command whose keeper may still write. */
  #readOver(name: string): Found | null {
    const directory = new CommandDirectory(`${this.#commands}/${name}`);
    const journal = directory.journal();
    if (!journal?.isClosed || directory.hasKeeper()) return null;
    const { plane, note } = noteOf(directory) ?? { plane: null };
    if (plane === null) return null;
    const child = this.#child(name, directory);
    child.settleFromJournal();
    return { plane, note, child };
  }

  /** Recovers one directory. A directory that cannot be read must not keep the others from being served. */
  async #tryAdopt(name: string, deadline: Deadline): Promise<Found | null> {
    const foreseen = this.#foreseen.get(name);
    if (foreseen) return foreseen;
    try {
      return await this.#adopt(name, deadline);
    } catch (error) {
      this.onFault(name, error);
      return null;
    }
  }

  async #adopt(name: string, deadline: Deadline): Promise<Found | null> {
    const directory = new CommandDirectory(`${this.#commands}/${name}`);
    const tagged = noteOf(directory);
    if (tagged?.plane === null) throw new Error('it belongs to a plane of another version');
    // Without a note, no keeper received a request. With this daemon's claim in the journal, no keeper can start any
    // more.
    if (!tagged || directory.claim()) {
      directory.remove();
      return null;
    }
    const { plane, note } = tagged;
    const child = this.#child(name, directory);
    if (await attached(child)) await reported(child, deadline);
    else child.settleFromJournal(); // The keeper has gone, so the journal is authoritative.
    if (!hasNextCommand(child)) return { plane, note, child };
    child.release();
    const ended = this.#child(name, directory);
    ended.settleFromJournal();
    return { plane, note, child: ended };
  }

  #child(name: string, directory: CommandDirectory): Child {
    return new Child(directory, this.#socketPath(`commands/${name}/control`), this.#attached, this.ownership);
  }

  /** Goes through the open directory, because a socket path may have at most 107 bytes. */
  #socketPath(relative: string): string {
    return `/proc/self/fd/${this.#descriptor}/${relative}`;
  }
}

function noteOf(directory: CommandDirectory): TaggedNote | null {
  const text = directory.note();
  return text === null ? null : decodeNote(text);
}

/** Waits a limited time for the first STATUS: a stopped keeper sends it only after it is continued. */
async function reported(child: Child, deadline: Deadline): Promise<void> {
  while (child.pid === 0 && !child.end && !deadline.passed) await child.changed(deadline.signal);
}

/** The command ended while the daemon connected, and its keeper answered for the next one. */
function hasNextCommand({ directory, pid }: Child): boolean {
  return pid !== 0 && !directory.hasKeeper() && directory.journal()?.pid !== pid;
}

/** False when no keeper listens for the command any more. Throws when no descriptor is left to find out. */
async function attached(child: Child): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    try {
      await child.attach();
      return true;
    } catch (error) {
      if (isOutOfDescriptors(errnoOf(error))) throw error;
      // A keeper that has claimed the journal but written no event is about to listen, so the daemon retries.
      const isStarting = child.directory.journal()?.isSilent === true;
      if (!isStarting || attempt === startingLooks) return false;
      await Bun.sleep(startingLookMs);
    }
  }
}

/** The keeper counts with 32 bits, which are seven weeks. Protocols of others have no such limit. */
const maxHardTimeoutMs = 2 ** 32 - 1;

function spawnFrame(request: SpawnRequest, directory: string, keeperVersion: number) {
  const terminal = typeof request.stdin === 'object' ? request.stdin : null;
  return {
    flags:
      spawnFlag.tied |
      (terminal ? spawnFlag.terminal : 0) |
      (request.stdin === 'pipe' ? spawnFlag.stdin : 0) |
      (request.merge ? spawnFlag.merge : 0) |
      (request.waitsForReader ? spawnFlag.block : 0) |
      (request.isAwaited ? spawnFlag.defer : 0) |
      (keeperVersion >= reuseVersion ? spawnFlag.reuse : 0) |
      (request.isMember && keeperVersion >= memberVersion ? spawnFlag.member : 0) |
      (request.account ? spawnFlag.account : 0),
    uid: request.account?.uid ?? 0,
    gid: request.account?.gid ?? 0,
    groups: request.account?.groups ?? [],
    oomScoreAdj: childOomScore,
    rows: terminal?.rows ?? 0,
    cols: terminal?.cols ?? 0,
    limits: request.limits ?? [],
    capBytes: request.capBytes,
    hardTimeoutMs: Math.min(maxHardTimeoutMs, request.hardTimeoutMs ?? 0),
    graceMs: request.graceMs,
    directory,
    cwd: request.cwd,
    argv: request.argv,
    env: assignments(request.env),
  };
}

/** The entries of environments that commands share. */
const knownAssignments = new WeakMap<SpawnRequest['env'], readonly string[]>();

function assignments(env: SpawnRequest['env']): readonly string[] {
  return knownAssignments.getOrInsertComputed(env, () =>
    Object.entries(env).map(([name, value]) => `${name}=${value}`),
  );
}

/** Handles a connection that ended before any frame: init could not fork, or the keeper was killed. */
function settleUnstarted(child: Child): void {
  if (child.directory.claim()) child.fail('fork', constants.errno.EAGAIN);
  else child.settleFromJournal();
}
