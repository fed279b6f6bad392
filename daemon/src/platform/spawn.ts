/** Starts commands: asks init for a keeper, hands it the request, and finds them all again after a restart. */
import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { Deadline } from '../kit/deadline.ts';
import { HandedOver } from '../kit/handed-over.ts';
import { mintId } from '../kit/ids.ts';
import { Child } from './child.ts';
import { CommandDirectory } from './command-directory.ts';
import { SpareDirectories } from './spare-directories.ts';
import { SpareKeeper } from './spare-keeper.ts';
import { encodeSpawn, spawnFlag, type ResourceLimit } from './keeper-protocol.ts';

export type { Child, ChildEnd } from './child.ts';
export type { ArrivalRun, StreamName } from './command-directory.ts';
export type { ResourceLimit } from './keeper-protocol.ts';

/** All three streams are one terminal of this size; its output is stdout. */
export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

export interface SpawnRequest {
  /** Kept beside the command, and given back by `recover`. */
  readonly note: string;
  /** Kept beside it too, for the child to be fed with; null is nothing. */
  readonly input: Uint8Array | null;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** null keeps the daemon's own account. */
  readonly account: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] } | null;
  readonly stdin: 'pipe' | 'null' | TerminalSize;
  /** Standard error into standard output, as one exact stream. */
  readonly merge: boolean;
  /** The caller waits for the end, and is told of a start only when that does not follow within 2 ms. */
  readonly isAwaited: boolean;
  readonly capBytes: number;
  readonly hardTimeoutMs: number | null;
  readonly graceMs: number;
  readonly limits: readonly ResourceLimit[];
}

export interface Recovered {
  readonly note: string;
  readonly child: Child;
}

export interface Spawn {
  /**
   * Resolves when the command runs or has ended, or with a child whose `end` is `failed`. Rejects with the system's
   * error when its directory cannot be made.
   */
  start(request: SpawnRequest): Promise<Child>;
  /** Every command that an earlier daemon left here, running or over. */
  recover(): Promise<Recovered[]>;
}

const childOomScore = 500;
const adoptedAtOnce = 64;
const startingLooks = 50;
const startingLookMs = 10;
const statusMs = 1000;

export class KeeperSpawn implements Spawn, Disposable {
  readonly #commands: string;
  /** Those that have a keeper. */
  readonly #attached = new Set<Child>();
  readonly #starting = new Set<Promise<Child>>();
  /** Commands that were over before this daemon was asked to take them, by the names of their directories. */
  readonly #foreseen = new Map<string, Recovered>();
  #isLetGo = false;
  #letGo: readonly Child[] = [];
  readonly #descriptor: number;
  readonly #spare: SpareKeeper;
  readonly #spares: SpareDirectories;

  constructor(
    runtimeDirectory: string,
    /** Told of a directory that could not be taken over. */
    private readonly onFault: (name: string, error: unknown) => void,
  ) {
    this.#commands = `${runtimeDirectory}/commands`;
    mkdirSync(this.#commands, { mode: 0o700, recursive: true });
    this.#descriptor = openSync(runtimeDirectory, 'r');
    this.#spares = new SpareDirectories(`${runtimeDirectory}/spare`);
    this.#spare = new SpareKeeper(this.#socketPath('init.sock'));
  }

  /** Has a keeper made for the first command; every later one finds the one that was made behind its predecessor. */
  prepare(): Promise<void> {
    return this.#spare.renew();
  }

  async start(request: SpawnRequest): Promise<Child> {
    if (this.#isLetGo) throw new HandedOver();
    const started = this.#start(request);
    this.#starting.add(started);
    try {
      return await started;
    } finally {
      this.#starting.delete(started);
    }
  }

  /** Leaves every keeper to another daemon, and starts nothing more. What starts at this moment still does. */
  async letGo(): Promise<void> {
    this.#isLetGo = true;
    await Promise.allSettled(this.#starting);
    this.#letGo = [...this.#attached];
    for (const child of this.#letGo) child.letGo();
    this.#spare.drop();
  }

  /** The other daemon has gone before it did anything with them. */
  async takeBack(): Promise<void> {
    await Promise.all(this.#letGo.map((child) => child.takeBack()));
    this.#letGo = [];
    this.#isLetGo = false;
    await this.#spare.renew();
  }

  async #start(request: SpawnRequest): Promise<Child> {
    const child = await this.#attempt(request);
    if (child.end?.kind !== 'failed' || child.end.stage !== 'fork') return child;
    // Processes come and go quickly where there are many; one more look costs nothing.
    child.directory.remove();
    return this.#attempt(request);
  }

  /** Reads what can change no more, so that `recover` has little left to do. */
  foresee(): void {
    for (const name of readdirSync(this.#commands)) {
      const over = this.#readOver(name);
      if (over) this.#foreseen.set(name, over);
    }
  }

  async recover(): Promise<Recovered[]> {
    const names = readdirSync(this.#commands);
    const recovered: Recovered[] = [];
    for (let at = 0; at < names.length; at += adoptedAtOnce) {
      const some = await Promise.all(names.slice(at, at + adoptedAtOnce).map((name) => this.#tryAdopt(name)));
      recovered.push(...some.filter((one) => one !== null));
    }
    return recovered;
  }

  [Symbol.dispose](): void {
    this.#spare[Symbol.dispose]();
    closeSync(this.#descriptor);
  }

  async #attempt(request: SpawnRequest): Promise<Child> {
    const name = mintId('run');
    const path = `${this.#commands}/${name}`;
    const frame = encodeSpawn(spawnFrame(request, path));
    const child = new Child(
      CommandDirectory.create(path, this.#spares, request.note, request.input),
      this.#socketPath(`commands/${name}/control`),
      this.#attached,
    );
    if (!frame) {
      child.fail('exec', constants.errno.E2BIG);
      return child;
    }
    await this.#hand(child, frame);
    return child;
  }

  /** Sends a request to a fresh keeper; resolves at its first word, or when it is clear that there will be none. */
  async #hand(child: Child, frame: Buffer): Promise<void> {
    const answered = Promise.withResolvers<void>();
    try {
      const connection = await this.#spare.take();
      connection.tell({
        onFrame: (type, payload) => {
          child.onFrame(type, payload);
          answered.resolve();
        },
        onClose: () => {
          if (child.pid === 0 && !child.end) settleUnstarted(child);
          else child.onClose();
          answered.resolve();
        },
      });
      child.adopt(connection);
      connection.send(frame);
      void this.#spare.renew();
    } catch {
      settleUnstarted(child); // Init has closed the connection at once: it could not fork.
      return;
    }
    await answered.promise;
  }

  /** Null for one whose keeper may still write. */
  #readOver(name: string): Recovered | null {
    const directory = new CommandDirectory(`${this.#commands}/${name}`);
    const journal = directory.journal();
    if (!journal?.isClosed || directory.hasKeeper()) return null;
    const note = directory.note();
    const child = new Child(directory, this.#socketPath(`commands/${name}/control`), this.#attached);
    child.settleFromJournal();
    return note === null ? null : { note, child };
  }

  /** One directory that cannot be read must not keep all others from being served. */
  async #tryAdopt(name: string): Promise<Recovered | null> {
    const foreseen = this.#foreseen.get(name);
    if (foreseen) return foreseen;
    try {
      return await this.#adopt(name);
    } catch (error) {
      this.onFault(name, error);
      return null;
    }
  }

  async #adopt(name: string): Promise<Recovered | null> {
    const directory = new CommandDirectory(`${this.#commands}/${name}`);
    const note = directory.note();
    // Without a note nothing was asked of a keeper; with a claim of ours none can start any more.
    if (!note || directory.claim()) {
      directory.remove();
      return null;
    }
    const child = new Child(directory, this.#socketPath(`commands/${name}/control`), this.#attached);
    if (await attached(child)) await told(child);
    else child.settleFromJournal(); // The keeper has gone, and the journal has the last word.
    return { note, child };
  }

  /** Through the open directory, because the path of a socket may have at most 107 bytes. */
  #socketPath(relative: string): string {
    return `/proc/self/fd/${this.#descriptor}/${relative}`;
  }
}

/** Waits for the first STATUS, but not for ever: a keeper that was stopped tells it when it goes on. */
async function told(child: Child): Promise<void> {
  using deadline = new Deadline(statusMs);
  while (child.pid === 0 && !child.end && !deadline.passed) await child.changed(deadline.signal);
}

/** False when nobody listens for the command any more. */
async function attached(child: Child): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    try {
      await child.attach();
      return true;
    } catch {
      // A keeper that has claimed the journal but told nothing yet is about to listen: it deserves a moment.
      const isStarting = child.directory.journal()?.isSilent === true;
      if (!isStarting || attempt === startingLooks) return false;
      await Bun.sleep(startingLookMs);
    }
  }
}

function spawnFrame(request: SpawnRequest, directory: string) {
  const terminal = typeof request.stdin === 'object' ? request.stdin : null;
  return {
    flags:
      spawnFlag.tied |
      (terminal ? spawnFlag.terminal : 0) |
      (request.stdin === 'pipe' ? spawnFlag.stdin : 0) |
      (request.merge ? spawnFlag.merge : 0) |
      (request.isAwaited ? spawnFlag.defer : 0) |
      (request.account ? spawnFlag.account : 0),
    uid: request.account?.uid ?? 0,
    gid: request.account?.gid ?? 0,
    groups: request.account?.groups ?? [],
    oomScoreAdj: childOomScore,
    rows: terminal?.rows ?? 0,
    cols: terminal?.cols ?? 0,
    limits: request.limits,
    capBytes: request.capBytes,
    hardTimeoutMs: request.hardTimeoutMs ?? 0,
    graceMs: request.graceMs,
    directory,
    cwd: request.cwd,
    argv: request.argv,
    env: Object.entries(request.env).map(([name, value]) => `${name}=${value}`),
  };
}

/** The connection ended before a word was said: init could not fork, or the keeper was killed. */
function settleUnstarted(child: Child): void {
  if (child.directory.claim()) child.fail('fork', constants.errno.EAGAIN);
  else child.settleFromJournal();
}
