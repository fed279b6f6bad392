/** Exchanges frames with the keeper of one command: requests, answers, and changes of the state. */
import { Deadline } from '../../kit/deadline.ts';
import type { ChildState } from './child-state.ts';
import type { KeeperConnection } from './keeper-connection.ts';
import {
  decodeStatus,
  encodeFollow,
  encodeFrame,
  encodeSignal,
  encodeWatch,
  failureStages,
  frameType,
  fromKeeper,
  knowsFrame,
  littleOutputBytes,
  maxOutputBytes,
  outputHeaderBytes,
  readUint64,
  signalScope,
  statusFlag,
  toKeeper,
  type KeeperStatus,
} from './keeper-protocol.ts';

export interface Signalled {
  readonly processes: number;
  readonly errno: number;
}

const answerMs = 2000;
/** Small pieces of output that the keeper pushes for one FOLLOW frame. */
const maxUpdates = 32;

/** One connection. A reconnect makes a new link with the same state. */
export class KeeperLink {
  #isWatching = false;
  /** Updates the keeper may still push before the daemon has to ask again (lower bound). */
  #updatesLeft = 0;
  readonly #signalled: ((answer: Signalled) => void)[] = [];
  readonly #trees: ((pids: readonly number[]) => void)[] = [];

  constructor(
    private readonly connection: KeeperConnection,
    private readonly state: ChildState,
    /** Called when the keeper has removed everything of the command and can hold another one. */
    private readonly onFree: () => void,
  ) {}

  /** True while the keeper has a standing request to report new output. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Asks the keeper to report output past the ends known now. */
  watch(): void {
    if (this.#isWatching || !this.state.streamsOpen) return;
    this.consume(this.state.ends[0]);
  }

  /** Like `watch`, for a reader of stdout that is behind the end. */
  consume(offset: number): void {
    this.#isWatching = true;
    this.send(encodeWatch(offset, this.state.ends[1]));
  }

  /** Like `watch`, but small pieces of stdout arrive in the report. */
  follow(): void {
    if (!knowsFrame(this.state.keeperVersion, toKeeper.follow)) {
      this.watch();
      return;
    }
    const isFollowing = this.#isWatching && this.#updatesLeft > maxUpdates / 2;
    if (isFollowing || !this.state.streamsOpen) return;
    this.#isWatching = true;
    this.#updatesLeft = maxUpdates;
    this.send(encodeFollow(...this.state.ends, maxOutputBytes, maxUpdates));
  }

  /** Sends one signal; null when the keeper does not answer. */
  signal(signal: number, scope: keyof typeof signalScope): Promise<Signalled | null> {
    return this.#ask(encodeSignal(signal, signalScope[scope]), this.#signalled);
  }

  /** The pids of all living descendants; null when the keeper does not answer. */
  tree(): Promise<readonly number[] | null> {
    return this.#ask(encodeFrame(toKeeper.tree), this.#trees);
  }

  /** Skips frames that an older keeper does not know: it would close the connection on an unknown frame. */
  send(frame: Buffer): void {
    if (knowsFrame(this.state.keeperVersion, frameType(frame))) this.connection.send(frame);
  }

  /** Closes the connection and answers the requests that are still open. */
  close(): void {
    this.connection.close();
    this.leave();
  }

  /** Answers the requests that are still open, and leaves the connection to another command. */
  leave(): void {
    this.#signalled.splice(0).forEach((answer) => answer({ processes: 0, errno: 0 }));
    this.#trees.splice(0).forEach((answer) => answer([]));
  }

  onFrame(type: number, payload: Buffer): void {
    const { state } = this;
    switch (type) {
      case fromKeeper.status:
      case fromKeeper.spawned:
      case fromKeeper.exited:
      case fromKeeper.closed:
        this.#onStatus(decodeStatus(payload));
        break;
      case fromKeeper.failed:
        state.fail(failureStages[payload.readUInt32LE(0) - 1] ?? 'protocol', payload.readUInt32LE(4));
        return;
      case fromKeeper.data:
        this.#isWatching = false;
        state.growTo([readUint64(payload, 0), readUint64(payload, 8)]);
        break;
      case fromKeeper.output:
        this.#onOutput(payload);
        break;
      case fromKeeper.stdin:
        state.stdin = { ...state.stdin, accepted: readUint64(payload, 0), written: readUint64(payload, 8) };
        break;
      case fromKeeper.signalled:
        this.#signalled.shift()?.({ processes: payload.readUInt32LE(0), errno: payload.readUInt32LE(4) });
        break;
      case fromKeeper.tree:
        this.#trees.shift()?.(decodePids(payload));
        break;
      default:
        return; // A newer keeper may send frames that this daemon does not know.
    }
    state.changes.notify();
  }

  #onStatus(status: KeeperStatus): void {
    this.state.applyStatus(status);
    if ((status.flags & statusFlag.free) !== 0) this.onFree();
  }

  #onOutput(payload: Buffer): void {
    const { state } = this;
    const end = readUint64(payload, 0);
    // Copied, because a small subarray would keep the whole receive buffer in memory.
    const bytes = new Uint8Array(payload.subarray(outputHeaderBytes));
    this.#updatesLeft -= 1;
    this.#isWatching = bytes.length > 0 && bytes.length <= littleOutputBytes && this.#updatesLeft > 0;
    state.news = { from: end - bytes.length, bytes };
    state.growTo([end, readUint64(payload, 8)]);
    state.stdin = { ...state.stdin, accepted: readUint64(payload, 16), written: readUint64(payload, 24) };
  }

  /** Null when the keeper does not answer. The account of the command can stop its keeper. */
  async #ask<Answer>(frame: Buffer, queue: ((answer: Answer) => void)[]): Promise<Answer | null> {
    using deadline = new Deadline(answerMs);
    return await new Promise<Answer | null>((resolve) => {
      queue.push(resolve); // A late answer still removes its own entry from the queue and is ignored.
      deadline.signal.addEventListener('abort', () => resolve(null), { once: true });
      this.send(frame);
    });
  }
}

function decodePids(payload: Buffer): number[] {
  const count = Math.min(payload.readUInt32LE(0), (payload.length >> 2) - 1);
  return Array.from({ length: count }, (_, index) => payload.readUInt32LE(4 + index * 4));
}
