/** The daemon's end of the channel to init on descriptor 3: the boot data, requests and succession. */
import { fstatSync, readSync, writeSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import type { Socket, SocketHandler, UnixSocketOptions } from 'bun';
import {
  bootFlag,
  bootKeepersShift,
  encodeFrame,
  frameHeaderBytes,
  FrameReader,
  initFrame,
  maxFrameBytes,
  initVersion,
  uint32s,
} from './keeper-protocol.ts';

const initDescriptor = 3;
/** The first version of init that supports upgrades and reports its version in BOOT. */
const oldestInit = 2;
const bootHeaderBytes = 16;
/**
 * Init sets options with this prefix for the runtime of the daemon (`add_runtime_options` in native/daemon.c), which has
 * read them; commands must not inherit them.
 */
const runtimeOption = 'BUN_JSC_';
const listenStages = ['ready', 'directory', 'lock', 'socket'] as const;

export interface Boot {
  /** How many times init has restarted the daemon; 0 at the first start. */
  readonly restarts: number;
  /** True while another daemon serves that this daemon is to succeed. */
  readonly isSuccessor: boolean;
  /** Of the keepers that init starts; 1 where an older init does not tell. */
  readonly keeperVersion: number;
  /** Keys that init took out of the environment and the arguments, such as `SVC_API_KEY` and `--api-key`. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Withheld from the daemon and passed to commands: `LD_PRELOAD`, `NODE_OPTIONS` and similar. */
  readonly scrubbed: ReadonlyMap<string, string>;
}

export interface ListenFailure {
  readonly stage: (typeof listenStages)[number];
  /** The symbolic name of the errno. */
  readonly errorName: string;
}

/** Requests of init to a serving daemon. */
export interface SuccessionEvents {
  /**
   * Another daemon stands by. Resolves with the ms that requests have waited, when this daemon holds nothing that the
   * other needs. The signal aborts when init calls the upgrade off; the promise then settles at once.
   */
  onHandover(calledOff: AbortSignal): Promise<number>;
  /** The other daemon serves. */
  onSucceeded(): void;
  /** The other daemon has failed and exited. Called after `onHandover` has settled. */
  onGoOn(): Promise<void>;
  /** `onHandover` has failed. Init waits in vain and then calls the upgrade off. */
  onFault(error: unknown): void;
}

/** Synchronous up to READY, because init answers at once; asynchronous from then on. */
export class Init {
  #socket: Socket<undefined> | null = null;
  /** Ends with the last frame that init has sent. */
  #obeyed: Promise<void> = Promise.resolve();
  #calledOff = new AbortController();

  private constructor(readonly boot: Boot) {}

  /** Throws an Error with one clear line when init did not start the daemon. */
  static connect(): Init {
    if (!isSocket(initDescriptor)) {
      throw new Error(
        'boxkeep start is run by its native launcher (npm start, or the boxkeep file); do not run it directly',
      );
    }
    const frame = readFrame();
    if (frame.type !== initFrame.boot) throw new Error(`init opened with frame ${frame.type}, not with BOOT`);
    for (const name of Object.keys(process.env)) {
      if (name.startsWith(runtimeOption)) delete process.env[name];
    }
    return new Init(decodeBoot(frame.payload));
  }

  /** Asks init to own the runtime directory and to accept connections in it. Null on success. */
  listen(runtimeDirectory: string): ListenFailure | null {
    writeFrame(encodeFrame(initFrame.listen, Buffer.from(runtimeDirectory)));
    const frame = readFrame();
    if (frame.type !== initFrame.listening) throw new Error(`init answered LISTEN with frame ${frame.type}`);
    const stage = listenStages[frame.payload.readUInt32LE(0)] ?? 'socket';
    if (stage === 'ready') return null;
    return { stage, errorName: getSystemErrorName(-frame.payload.readUInt32LE(4)) };
  }

  /** Reports that this daemon can serve, and blocks until the other daemon has released its resources. */
  standBy(version: string): void {
    writeFrame(encodeFrame(initFrame.standby, Buffer.from(version)));
    const frame = readFrame();
    if (frame.type !== initFrame.take) throw new Error(`init answered STANDBY with frame ${frame.type}`);
  }

  /** Reports that the daemon serves. From now on init restarts it when it dies, and may request a handover. */
  async ready(version: string, events: SuccessionEvents): Promise<void> {
    writeFrame(encodeFrame(initFrame.ready, Buffer.from(version)));
    const frames = new FrameReader((type, payload) => this.#take(type, payload, events));
    const socket: SocketHandler<undefined> = {
      // The end of the socket needs no handling: when init dies, the system ends this daemon.
      data: (_socket, bytes) => frames.push(bytes),
    };
    // The runtime also accepts a descriptor, which its types do not declare.
    const options: { fd: number; socket: SocketHandler<undefined> } = { fd: initDescriptor, socket };
    this.#socket = await Bun.connect(options as unknown as UnixSocketOptions<undefined>);
  }

  /**
   * Frames are obeyed one after another. A daemon that was stopped reads HANDOVER and GO_ON at once, and a handover that
   * runs into the return would leave requests open that no daemon owns.
   */
  #take(type: number, payload: Buffer, events: SuccessionEvents): void {
    if (type === initFrame.handover) this.#calledOff = new AbortController();
    if (type === initFrame.goOn) this.#calledOff.abort();
    const { signal } = this.#calledOff;
    this.#obeyed = this.#obeyed.then(() => this.#obey(type, payload, signal, events));
  }

  async #obey(type: number, payload: Buffer, calledOff: AbortSignal, events: SuccessionEvents): Promise<void> {
    if (type === initFrame.handover) await this.#handOver(payload, calledOff, events);
    if (type === initFrame.succeeded) events.onSucceeded();
    if (type === initFrame.goOn) await events.onGoOn();
  }

  async #handOver(payload: Buffer, calledOff: AbortSignal, events: SuccessionEvents): Promise<void> {
    try {
      const heldMs = await events.onHandover(calledOff);
      // Init takes no answer to an upgrade that it has called off: the next upgrade may be under way.
      const number = payload.length === 0 ? 0 : payload.readUInt32LE(0);
      this.#socket?.write(encodeFrame(initFrame.handed, uint32s(Math.round(heldMs), number)));
    } catch (error) {
      events.onFault(error);
    }
  }
}

function decodeBoot(payload: Buffer): Boot {
  const version = payload.readUInt16LE(0);
  if (version < oldestInit || version > initVersion) {
    throw new Error(`init speaks protocol ${version}, this daemon ${oldestInit} to ${initVersion}`);
  }
  const secretCount = payload.readUInt32LE(4);
  const flags = payload.readUInt32LE(12);
  const strings = payload.subarray(bootHeaderBytes).toString('utf8').split('\0').slice(0, -1);
  return {
    restarts: payload.readUInt16LE(2),
    isSuccessor: (flags & bootFlag.successor) !== 0,
    keeperVersion: flags >>> bootKeepersShift || 1,
    secrets: toMap(strings.slice(0, secretCount)),
    scrubbed: toMap(strings.slice(secretCount)),
  };
}

function toMap(assignments: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    assignments.map((assignment) => {
      const equals = assignment.indexOf('=');
      return [assignment.slice(0, equals), assignment.slice(equals + 1)];
    }),
  );
}

function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket();
  } catch {
    return false; // EBADF: the descriptor is not open.
  }
}

function readFrame(): { type: number; payload: Buffer } {
  const header = readExactly(frameHeaderBytes);
  const length = header.readUInt32LE(0);
  // BOOT carries a part of the environment, which the kernel limits to some megabytes.
  if (length > 64 * maxFrameBytes) throw new Error(`init sent a frame of ${length} bytes`);
  return { type: header.readUInt16LE(4), payload: readExactly(length) };
}

function readExactly(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length;) {
    const count = readSync(initDescriptor, bytes, at, length - at, null);
    if (count === 0) throw new Error('init closed its channel');
    at += count;
  }
  return bytes;
}

function writeFrame(frame: Buffer): void {
  for (let at = 0; at < frame.length;) at += writeSync(initDescriptor, frame, at);
}
