/** Encodes and decodes the frames between the daemon, init and the keepers (docs/protocols/keeper.md). */
import { endianness } from 'node:os';
import { encodePath } from '../../kit/text/path-text.ts';
import type { Owner } from '../../kit/types/owner.ts';
import type { TerminalSize } from '../../kit/types/terminal-size.ts';

/** The version of init and of the frames between init and the daemon. */
export const initVersion = 3;
/** The version of the keepers. */
export const protocolVersion = 5;

export const initFrame = {
  boot: 1,
  listen: 2,
  listening: 3,
  ready: 4,
  upgrade: 5,
  upgraded: 6,
  refused: 7,
  standby: 8,
  handover: 9,
  handed: 10,
  take: 11,
  succeeded: 12,
  goOn: 13,
  stop: 14,
  stopping: 15,
} as const;

export const bootFlag = { successor: 1 } as const;
/** Above the flags of BOOT is the version of init's keepers; init before version 5 of the keepers has 0 there. */
export const bootKeepersShift = 16;

export const toKeeper = {
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
} as const;

export const fromKeeper = {
  status: 32,
  spawned: 33,
  failed: 34,
  data: 35,
  exited: 36,
  closed: 37,
  stdin: 38,
  signalled: 39,
  tree: 40,
  output: 41,
} as const;

/** The keeper version that introduced a frame; a frame that is not listed exists since version 1. */
const sinceVersion: Readonly<Partial<Record<number, number>>> = { [toKeeper.cap]: 2, [toKeeper.follow]: 3 };

/** A keeper may be older than the daemon, and closes the connection on a frame that it does not know. */
export function knowsFrame(keeperVersion: number, type: number): boolean {
  return keeperVersion >= (sinceVersion[type] ?? 1);
}

export const spawnFlag = {
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
export const statusFlag = { spawned: 1, exited: 2, closed: 4, stdinOpen: 8, paused: 16, free: 32 } as const;
export const signalScope = { leader: 0, group: 1, tree: 2 } as const;

/** The step of a start that failed, in the order of the numbers on the wire (the first is 1). */
export const failureStages = [
  'protocol',
  'claim',
  'directory',
  'pipe',
  'fork',
  'session',
  'tty',
  'descriptors',
  'rlimit',
  'oom',
  'groups',
  'gid',
  'uid',
  'cwd',
  'exec',
] as const;
export type FailureStage = (typeof failureStages)[number];

/** The first keepers that can hold one command after another. */
export const reuseVersion = 4;

/** The first keepers that can start a command as a member of a group that it does not lead. */
export const memberVersion = 5;

/** The first reason why a command was asked to end. */
export const endCauses = ['none', 'signal', 'timeout', 'shutdown'] as const;
export type EndCause = (typeof endCauses)[number];

export const frameHeaderBytes = 8;
export const maxFrameBytes = 256 * 1024;
export const maxSpawnBytes = 8 * 1024 * 1024;
export const statusBytes = 144;
export const outputHeaderBytes = 32;
/** Largest piece of output that an OUTPUT frame carries. */
export const maxOutputBytes = 4096;
/** Up to this size, a piece of output does not end the keeper's reports. */
export const littleOutputBytes = 512;
const leaveOomScore = -(2 ** 31);
const spawnHeaderBytes = 48;

if (endianness() !== 'LE') throw new Error('the keeper protocol is little endian, and so must be the machine');

export interface ResourceLimit {
  /** The number of the resource, as in `<sys/resource.h>`. */
  readonly resource: number;
  readonly soft: bigint;
  readonly hard: bigint;
}

export interface SpawnFrame extends Owner, TerminalSize {
  readonly flags: number;
  readonly groups: readonly number[];
  /** null keeps the score of the keeper. */
  readonly oomScoreAdj: number | null;
  readonly limits: readonly ResourceLimit[];
  /** Bytes retained of each stream. */
  readonly capBytes: number;
  /** 0 means no timeout. */
  readonly hardTimeoutMs: number;
  readonly graceMs: number;
  readonly directory: string;
  /** Empty keeps the working directory of the keeper. */
  readonly cwd: string;
  readonly argv: readonly string[];
  /** Entries of the form `NAME=value`. */
  readonly env: readonly string[];
}

/** The full state of a command. One STATUS frame makes up for all events that the daemon missed. */
export interface KeeperStatus {
  readonly version: number;
  readonly flags: number;
  readonly keeperPid: number;
  readonly pid: number;
  readonly exitCode: number;
  readonly signal: number;
  readonly cause: EndCause;
  /** null where the system cannot report it. */
  readonly oomKilled: boolean | null;
  readonly end: readonly [number, number];
  readonly head: readonly [number, number];
  readonly lost: readonly [number, number];
  readonly stdinAccepted: number;
  readonly stdinWritten: number;
  readonly startedMs: number;
  readonly exitedMs: number;
}

export function frameType(frame: Buffer): number {
  return frame.readUInt16LE(4);
}

export function encodeFrame(type: number, ...parts: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(frameHeaderBytes);
  const frame = Buffer.concat([header, ...parts]);
  frame.writeUInt32LE(frame.length - frameHeaderBytes, 0);
  frame.writeUInt16LE(type, 4);
  return frame;
}

/** Null when the request is too large for a frame, so that nothing can be sent. */
export function encodeSpawn(request: SpawnFrame): Buffer | null {
  const texts = [request.directory, request.cwd, ...request.argv, ...request.env];
  // A text has at least as many bytes as code units. Counted first, because encoding a large text takes long.
  if (texts.reduce((sum, text) => sum + text.length, 0) > maxSpawnBytes) return null;
  const numbers = Buffer.alloc(spawnHeaderBytes + request.groups.length * 4 + request.limits.length * 24);
  let at = numbers.writeUInt32LE(request.flags, 0);
  at = numbers.writeUInt32LE(request.uid, at);
  at = numbers.writeUInt32LE(request.gid, at);
  at = numbers.writeInt32LE(request.oomScoreAdj ?? leaveOomScore, at);
  at = numbers.writeUInt16LE(request.rows, at);
  at = numbers.writeUInt16LE(request.cols, at);
  at = numbers.writeUInt16LE(request.groups.length, at);
  at = numbers.writeUInt16LE(request.limits.length, at);
  at = numbers.writeUInt32LE(request.argv.length, at);
  at = numbers.writeUInt32LE(request.env.length, at);
  at = numbers.writeBigUInt64LE(BigInt(request.capBytes), at);
  at = numbers.writeUInt32LE(request.hardTimeoutMs, at);
  at = numbers.writeUInt32LE(request.graceMs, at);
  for (const group of request.groups) at = numbers.writeUInt32LE(group, at);
  for (const limit of request.limits) {
    at = numbers.writeUInt32LE(limit.resource, at);
    at = numbers.writeUInt32LE(0, at);
    at = numbers.writeBigUInt64LE(limit.soft, at);
    at = numbers.writeBigUInt64LE(limit.hard, at);
  }
  const strings = encodePath(`${texts.join('\0')}\0`);
  if (numbers.length + strings.length > maxSpawnBytes) return null;
  return encodeFrame(toKeeper.spawn, numbers, strings);
}

export function encodeWatch(out: number, err: number): Buffer {
  return encodeFrame(toKeeper.watch, uint64s(out, err));
}

export function encodeFollow(out: number, err: number, maxBytes: number, times: number): Buffer {
  return encodeFrame(toKeeper.follow, uint64s(out, err), uint32s(maxBytes, times));
}

export function encodeStdin(offset: number, bytes: Uint8Array): Buffer {
  return encodeFrame(toKeeper.stdin, uint64s(offset), bytes);
}

export function encodeResize(rows: number, cols: number): Buffer {
  const size = Buffer.allocUnsafe(4);
  size.writeUInt16LE(cols, size.writeUInt16LE(rows, 0));
  return encodeFrame(toKeeper.resize, size);
}

export function encodeEof(offset: number): Buffer {
  return encodeFrame(toKeeper.eof, uint64s(offset));
}

export function encodeSignal(signal: number, scope: number): Buffer {
  return encodeFrame(toKeeper.signal, uint32s(signal, scope));
}

export function encodeTerminate(graceMs: number, cause: EndCause): Buffer {
  return encodeFrame(toKeeper.terminate, uint32s(graceMs, endCauses.indexOf(cause)));
}

export function encodeCap(bytes: number): Buffer {
  return encodeFrame(toKeeper.cap, uint64s(bytes));
}

export function decodeStatus(payload: Buffer): KeeperStatus {
  const oom = payload.readUInt16LE(22);
  return {
    version: payload.readUInt16LE(0),
    flags: payload.readUInt16LE(2),
    keeperPid: payload.readUInt32LE(4),
    pid: payload.readUInt32LE(8),
    exitCode: payload.readInt32LE(12),
    signal: payload.readUInt32LE(16),
    cause: endCauses[payload.readUInt16LE(20)] ?? 'none',
    oomKilled: oom === 2 ? null : oom === 1,
    end: [readUint64(payload, 24), readUint64(payload, 32)],
    head: [readUint64(payload, 40), readUint64(payload, 48)],
    lost: [readUint64(payload, 56), readUint64(payload, 64)],
    stdinAccepted: readUint64(payload, 72),
    stdinWritten: readUint64(payload, 80),
    startedMs: readUint64(payload, 112) / 1e6,
    exitedMs: readUint64(payload, 120) / 1e6,
  };
}

/** Offsets stay far below 2^53: a stream of 1 GB/s takes a hundred days to reach that. */
export function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

export function uint32s(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
  return bytes;
}

export function uint64s(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 8);
  values.forEach((value, index) => bytes.writeBigUInt64LE(BigInt(value), index * 8));
  return bytes;
}

/** Cuts a byte stream into frames; buffers at most one unfinished frame. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  constructor(private readonly onFrame: (type: number, payload: Buffer) => void) {}

  /** Throws when a length is over the limit, because the peer then does not speak this protocol. */
  push(bytes: Uint8Array): void {
    // Copied: the runtime reuses its receive buffer once this call returns.
    let buffer = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : Buffer.from(bytes);
    while (buffer.length >= frameHeaderBytes) {
      const length = buffer.readUInt32LE(0);
      if (length > maxFrameBytes) throw new Error(`a frame of ${length} bytes is over the limit of ${maxFrameBytes}`);
      const end = frameHeaderBytes + length;
      if (buffer.length < end) break;
      this.onFrame(buffer.readUInt16LE(4), buffer.subarray(frameHeaderBytes, end));
      buffer = buffer.subarray(end);
    }
    this.#rest = buffer;
  }
}
