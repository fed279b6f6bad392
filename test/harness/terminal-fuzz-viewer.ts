/** A client of a fuzzed session that checks every frame against the session's output. */
import { BareSocket, opcodes, type SocketEnd } from './terminal-fuzz-socket.ts';
import { Mismatch, type ByteRecord } from './terminal-fuzz-bytes.ts';
import type { JsonObject } from './sandbox.ts';
import { until } from './until.ts';

export interface AttachWish {
  readonly protocol: 'json' | 'binary';
  readonly mode: 'rw' | 'ro';
  readonly durable: boolean;
  readonly offset: number | null;
  readonly restore: boolean;
  /** Whether the viewer acknowledges output. */
  readonly acks: boolean;
}

/** The output of a session: known in advance, or learned from the first viewer that receives it. */
export interface Shown {
  readonly bytes: ByteRecord;
  readonly isLearned: boolean;
}

const acknowledgeBytes = 64 * 1024;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes output as text. Invalid bytes become replacement characters. */
export function decodeShown(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export class Viewer {
  ready: JsonObject | null = null;
  exit: JsonObject | null = null;
  /** The offset of the next output byte. */
  at = 0;
  /** The number of our last ping that was answered. */
  answered = 0;
  readonly errors: JsonObject[] = [];
  end: SocketEnd | null = null;
  ended: Promise<SocketEnd> = Promise.resolve({ code: null, reason: '' });
  /** This side has ended the connection. */
  isLeft = false;
  #socket: BareSocket | null = null;
  #acked = 0;
  #restored: number | null = null;

  private constructor(
    private readonly shown: Shown,
    readonly wish: AttachWish,
    private readonly onProblem: (problem: Mismatch) => void,
  ) {}

  /** Resolves when the terminal is ready. */
  static async attach(
    url: string,
    id: string,
    shown: Shown,
    wish: AttachWish,
    onProblem: (problem: Mismatch) => void,
  ): Promise<Viewer> {
    const viewer = new Viewer(shown, wish, onProblem);
    const { protocol, mode, durable, restore, offset } = wish;
    const query = new URLSearchParams({ protocol, mode, durable: String(durable), restore: String(restore) });
    if (offset !== null) query.set('offset', String(offset));
    const socket = await BareSocket.open(url, `/v2/pty/sessions/${id}/ws?${query.toString()}`, (opcode, payload) =>
      viewer.#take(opcode, payload),
    );
    viewer.#socket = socket;
    viewer.ended = socket.ended;
    void socket.ended.then((end) => (viewer.end = end));
    await until('it is ready', () => viewer.ready !== null || viewer.end !== null);
    if (viewer.ready) return viewer;
    throw new Error('the connection ended before it was ready');
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen === true && this.end === null;
  }

  send(message: object): void {
    this.#socket?.send(opcodes.text, JSON.stringify(message));
  }

  /** Sends bytes unchanged, valid or not. */
  sendBytes(bytes: Uint8Array): void {
    this.#socket?.sendBytes(bytes);
  }

  /** Resolves with true when everything sent before has been received, and with false when the connection has ended. */
  async settled(): Promise<boolean> {
    const asked = this.answered + 1;
    this.send({ type: 'ping', timestamp: asked });
    await until('a ping is answered', () => this.answered >= asked || !this.isOpen);
    return this.answered >= asked;
  }

  acknowledge(): void {
    this.#acked = this.at;
    this.send({ type: 'ack', offset: this.at });
  }

  async close(): Promise<void> {
    this.isLeft = true;
    await this.#socket?.close();
  }

  async drop(): Promise<void> {
    this.isLeft = true;
    await this.#socket?.drop();
  }

  /** Stops reading for a while. */
  async stall(ms: number): Promise<void> {
    this.#socket?.pause();
    await Bun.sleep(ms);
    this.#socket?.resume();
  }

  #take(opcode: number, payload: Buffer): void {
    try {
      if (opcode === opcodes.binary) this.#show(payload);
      else if (opcode === opcodes.text) this.#hear(JSON.parse(payload.toString()) as JsonObject);
    } catch (error) {
      this.onProblem(error instanceof Mismatch ? error : new Mismatch(String(error)));
    }
  }

  #hear(message: JsonObject): void {
    if (this.ready === null && message['type'] !== 'ready') throw new Mismatch(`${message['type']} before ready`);
    switch (message['type']) {
      case 'ready':
        this.ready = message;
        this.at = this.#acked = message['offset'] as number;
        break;
      case 'output':
        this.#read(message['data'] as string, message['offset'] as number);
        break;
      case 'gap':
        throw new Mismatch(`a gap from ${message['from']} to ${message['to']}, where everything is kept`);
      case 'exit':
        this.exit = message;
        if (message['offset'] !== this.at) throw new Mismatch(`exit at ${message['offset']}, shown up to ${this.at}`);
        break;
      case 'pong':
        this.answered = message['timestamp'] as number;
        break;
      case 'error':
        this.errors.push(message);
        break;
      case 'restore_output':
        this.#restored = message['offset'] as number;
        break;
      case 'relay_resumed':
        if (this.#restored !== this.at || message['offset'] !== this.at) {
          throw new Mismatch(`restored up to ${this.#restored}, and continues at ${message['offset']} of ${this.at}`);
        }
        break;
    }
  }

  #show(bytes: Buffer): void {
    const { at } = this;
    if (this.shown.isLearned && at + bytes.length > this.shown.bytes.length) {
      this.shown.bytes.append(bytes.subarray(Math.max(0, this.shown.bytes.length - at)));
    }
    const expected = this.shown.bytes.slice(at, at + bytes.length);
    if (!expected.equals(bytes)) throw new Mismatch(difference(at, expected, bytes));
    this.#moved(at + bytes.length);
  }

  #read(text: string, offset: number): void {
    const { at, shown } = this;
    if (shown.isLearned && offset > shown.bytes.length) {
      const bytes = Buffer.from(text);
      if (bytes.length !== offset - at) throw new Mismatch(`${bytes.length} bytes of text at ${at}, up to ${offset}`);
      shown.bytes.append(bytes.subarray(Math.max(0, shown.bytes.length - at)));
    }
    const expected = decodeShown(shown.bytes.slice(at, offset));
    if (offset > shown.bytes.length) throw new Mismatch(`${offset} is past ${shown.bytes.length}, which is all`);
    if (text !== expected) throw new Mismatch(difference(at, Buffer.from(expected), Buffer.from(text)));
    this.#moved(offset);
  }

  #moved(to: number): void {
    this.at = to;
    if (this.wish.acks && to - this.#acked >= acknowledgeBytes) this.acknowledge();
  }
}

function difference(at: number, expected: Buffer, got: Buffer): string {
  const index = got.findIndex((byte, n) => byte !== expected[n]);
  const part = (bytes: Buffer) => JSON.stringify(bytes.subarray(Math.max(0, index - 8), index + 24).toString('latin1'));
  return `at ${at} + ${index}: ${part(got)} in place of ${part(expected)} (${got.length} and ${expected.length} bytes)`;
}
