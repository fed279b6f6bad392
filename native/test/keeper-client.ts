/** A small independent client of init and keepers, for tests: frames, requests, records, journals. */
import { connect, type Socket } from 'node:net';
import { within as withinFairTime } from '../../test/harness/fair-clock.ts';

export const type = {
  upgrade: 5,
  upgraded: 6,
  refused: 7,
  stop: 14,
  stopping: 15,
  spawn: 16,
  stdin: 17,
  eof: 18,
  signal: 19,
  terminate: 20,
  resize: 21,
  pause: 22,
  resume: 23,
  watch: 24,
  tree: 25,
  release: 26,
  cap: 27,
  follow: 28,
  status: 32,
  spawned: 33,
  failed: 34,
  data: 35,
  exited: 36,
  closed: 37,
  stdinState: 38,
  signalled: 39,
  treeState: 40,
  output: 41,
} as const;

export const flag = {
  terminal: 1,
  stdin: 2,
  merge: 4,
  account: 8,
  block: 16,
  tied: 32,
  discard: 64,
  defer: 128,
  reuse: 256,
  member: 512,
} as const;

export const stage = {
  protocol: 1,
  claim: 2,
  directory: 3,
  pipe: 4,
  fork: 5,
  session: 6,
  tty: 7,
  descriptors: 8,
  rlimit: 9,
  oom: 10,
  groups: 11,
  gid: 12,
  uid: 13,
  cwd: 14,
  exec: 15,
} as const;

export const scope = { leader: 0, group: 1, tree: 2 } as const;

const oomLeave = -(2 ** 31);
const defaultDeadlineMs = 15_000;

export interface Request {
  directory: string;
  argv: string[];
  env?: string[];
  cwd?: string;
  flags?: number;
  uid?: number;
  gid?: number;
  groups?: number[];
  rlimits?: { resource: number; soft: number; hard: number }[];
  oomScoreAdj?: number;
  rows?: number;
  cols?: number;
  cap?: number;
  hardTimeoutMs?: number;
  graceMs?: number;
}

export interface Frame {
  type: number;
  payload: Buffer;
}

export interface Status {
  spawned: boolean;
  exited: boolean;
  closed: boolean;
  stdinOpen: boolean;
  paused: boolean;
  free: boolean;
  keeper: number;
  pid: number;
  exitCode: number;
  signal: number;
  cause: number;
  oom: number;
  end: [number, number];
  head: [number, number];
  lost: [number, number];
  stdinAccepted: number;
  stdinWritten: number;
  userUs: number;
  systemUs: number;
  maxRssKb: number;
  startedNs: bigint;
  exitedNs: bigint;
}

/** The bytes of a whole frame. */
export function frame(frameType: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(payload.length, 0);
  header.writeUInt16LE(frameType, 4);
  return Buffer.concat([header, payload]);
}

/** Little-endian fields by their size in bits. */
export function fields(...parts: [8 | 16 | 32 | 64, number | bigint][]): Buffer {
  return Buffer.concat(
    parts.map(([bits, value]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 0);
      return bytes.subarray(0, bits / 8);
    }),
  );
}

/** The payload of a SPAWN frame. */
export function encodeRequest(request: Request): Buffer {
  const groups = request.groups ?? [];
  const rlimits = request.rlimits ?? [];
  const env = request.env ?? ['PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/', 'LANG=C'];
  const strings = [request.directory, request.cwd ?? '', ...request.argv, ...env];
  return Buffer.concat([
    fields(
      [32, request.flags ?? 0],
      [32, request.uid ?? 0],
      [32, request.gid ?? 0],
      [32, request.oomScoreAdj ?? oomLeave],
    ),
    fields([16, request.rows ?? 24], [16, request.cols ?? 80], [16, groups.length], [16, rlimits.length]),
    fields([32, request.argv.length], [32, env.length], [64, request.cap ?? 1 << 24]),
    fields([32, request.hardTimeoutMs ?? 0], [32, request.graceMs ?? 1000]),
    ...groups.map((group) => fields([32, group])),
    ...rlimits.map((limit) => fields([32, limit.resource], [32, 0], [64, limit.soft], [64, limit.hard])),
    ...strings.map((string) => Buffer.from(`${string}\0`)),
  ]);
}

function readPair(bytes: Buffer, offset: number): [number, number] {
  return [Number(bytes.readBigUInt64LE(offset)), Number(bytes.readBigUInt64LE(offset + 8))];
}

/** A status record. */
export function decodeStatus(bytes: Buffer): Status {
  if (bytes.length !== 144 || bytes.readUInt16LE(0) !== 5)
    throw new Error(`not a status record: ${bytes.toString('hex')}`);
  const flags = bytes.readUInt16LE(2);
  const has = (bit: number): boolean => (flags & bit) !== 0;
  return {
    spawned: has(1),
    exited: has(2),
    closed: has(4),
    stdinOpen: has(8),
    paused: has(16),
    free: has(32),
    keeper: bytes.readUInt32LE(4),
    pid: bytes.readUInt32LE(8),
    exitCode: bytes.readInt32LE(12),
    signal: bytes.readUInt32LE(16),
    cause: bytes.readUInt16LE(20),
    oom: bytes.readUInt16LE(22),
    end: readPair(bytes, 24),
    head: readPair(bytes, 40),
    lost: readPair(bytes, 56),
    stdinAccepted: Number(bytes.readBigUInt64LE(72)),
    stdinWritten: Number(bytes.readBigUInt64LE(80)),
    userUs: Number(bytes.readBigUInt64LE(88)),
    systemUs: Number(bytes.readBigUInt64LE(96)),
    maxRssKb: Number(bytes.readBigUInt64LE(104)),
    startedNs: bytes.readBigUInt64LE(112),
    exitedNs: bytes.readBigUInt64LE(120),
  };
}

/** A promise that rejects when its deadline in fair time passes first. */
export async function within<T>(what: string, promise: Promise<T>, deadlineMs = defaultDeadlineMs): Promise<T> {
  return withinFairTime(what, promise, deadlineMs);
}

/** One connection, with every received frame that no test has taken yet. */
export class Connection {
  readonly #frames: Frame[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #unread: Buffer = Buffer.alloc(0);
  #arrival = Promise.withResolvers<void>();
  #isEnded = false;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', () => undefined); // followed by 'close'
    socket.on('close', () => this.#end());
  }

  static async open(path: string): Promise<Connection> {
    const socket = connect(path);
    await within(
      `connection to ${path}`,
      new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('error', reject);
      }),
    );
    return new Connection(socket);
  }

  get ended(): Promise<void> {
    return within('end of the connection', this.#ended.promise);
  }

  send(frameType: number, payload?: Uint8Array): void {
    this.socket.write(frame(frameType, payload));
  }

  sendBytes(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  close(): void {
    this.socket.destroy();
  }

  /** The next frame of one of these types; frames of other types before it stay for other calls. */
  async next(...types: number[]): Promise<Frame> {
    return within(`frame of type ${types.join(' or ')}`, this.#find(types));
  }

  async status(...types: number[]): Promise<Status> {
    return decodeStatus((await this.next(...types)).payload);
  }

  /** Whether a frame of this type has arrived and was not taken. */
  has(frameType: number): boolean {
    return this.#frames.some((each) => each.type === frameType);
  }

  async #find(types: number[]): Promise<Frame> {
    for (;;) {
      const index = this.#frames.findIndex((each) => types.includes(each.type));
      const found = this.#frames[index];
      if (found) {
        this.#frames.splice(index, 1);
        return found;
      }
      if (this.#isEnded) throw new Error(`the connection ended before a frame of type ${types.join(' or ')}`);
      await this.#arrival.promise;
    }
  }

  #take(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    while (this.#unread.length >= 8 && this.#unread.length - 8 >= this.#unread.readUInt32LE(0)) {
      const end = 8 + this.#unread.readUInt32LE(0);
      this.#frames.push({ type: this.#unread.readUInt16LE(4), payload: this.#unread.subarray(8, end) });
      this.#unread = this.#unread.subarray(end);
    }
    this.#wake();
  }

  #end(): void {
    this.#isEnded = true;
    this.#ended.resolve();
    this.#wake();
  }

  #wake(): void {
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers<void>();
  }
}

export interface JournalEvent {
  event: string;
  at_ns: number;
  keeper: number;
  pid?: number;
  exit_code?: number;
  signal?: number;
  cause?: number;
  oom?: number;
  end?: [number, number];
  head?: [number, number];
  lost?: [number, number];
  stage?: number;
  errno?: number;
}

export interface JournalHeader {
  v: number;
  seq: number;
  head: [number, number];
  gaps: [[number, number][], [number, number][]];
  seq2: number;
}

export interface Journal {
  header: JournalHeader;
  events: JournalEvent[];
}

/** A journal's text, parsed. */
export function parseJournal(text: string): Journal {
  const lines = text
    .slice(1024)
    .split('\n')
    .filter((line) => line !== '');
  return {
    header: JSON.parse(text.slice(0, 1024)) as JournalHeader,
    events: lines.map((line) => JSON.parse(line) as JournalEvent),
  };
}
