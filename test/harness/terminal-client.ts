/** A client at the WebSocket of a terminal that keeps the received output. */
import { assertDescribed } from './described-frames.ts';
import type { JsonObject, Sandbox } from './sandbox.ts';
import { until } from './until.ts';

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A shell may have to read its account's settings first. */
const seenWithinMs = 30_000;
const firstRoomBytes = 64 * 1024;

export interface ClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** Drops the connection after this much output. */
  readonly wantedBytes?: number;
}

export class TerminalClient {
  /** Every message other than output. */
  readonly messages: JsonObject[] = [];
  /** All received output, with spare capacity, so that reading it repeatedly copies nothing. */
  #shown = Buffer.alloc(firstRoomBytes);
  #shownBytes = 0;
  /** The offset of the next output byte. */
  offset = 0;
  readonly closed: Promise<Closed>;
  isClosed = false;
  readonly #socket: WebSocket;
  /** How much more output is accepted. From a longer piece, only the first part is kept. */
  #wantedBytes = Number.POSITIVE_INFINITY;

  private constructor(url: string, options: ClientOptions) {
    this.#socket = new WebSocket(url, options as unknown as string[]);
    this.#wantedBytes = options.wantedBytes ?? this.#wantedBytes;
    this.#socket.binaryType = 'nodebuffer';
    this.closed = new Promise((resolve) => {
      this.#socket.onclose = ({ code, reason }) => {
        this.isClosed = true;
        resolve({ code, reason });
      };
    });
    this.#socket.onmessage = ({ data }) => this.#take(data as string | Uint8Array);
    this.#socket.onerror = () => null; // The close event reports the error.
  }

  /** Resolves when the terminal is ready. */
  static async open(sandbox: Sandbox, path: string, options: ClientOptions = {}): Promise<TerminalClient> {
    const client = new TerminalClient(`${sandbox.url.replace('http', 'ws')}${path}`, options);
    await until('the terminal is ready', () => client.messages.length > 0 || client.isClosed);
    if (client.ready?.['type'] !== 'ready') throw new Error(`no ready: ${JSON.stringify(client.messages)}`);
    return client;
  }

  static attach(sandbox: Sandbox, id: string, query = '', options: ClientOptions = {}): Promise<TerminalClient> {
    return TerminalClient.open(sandbox, `/v2/pty/sessions/${id}/ws?${query}`, options);
  }

  get ready(): JsonObject | undefined {
    return this.messages[0];
  }

  get bytes(): Buffer {
    return this.#shown.subarray(0, this.#shownBytes);
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  get text(): string {
    return this.bytes.toString();
  }

  get shownBytes(): number {
    return this.#shownBytes;
  }

  of(type: string): JsonObject[] {
    return this.messages.filter((message) => message['type'] === type);
  }

  send(message: object | string | Uint8Array): void {
    const isRaw = typeof message === 'string' || message instanceof Uint8Array;
    this.#socket.send(isRaw ? message : JSON.stringify(message));
  }

  type(data: string): void {
    this.send({ type: 'input', data });
  }

  async sees(text: string, withinMs = seenWithinMs): Promise<void> {
    let from = 0;
    const isShown = () => {
      const found = this.bytes.includes(text, from);
      from = Math.max(0, this.#shownBytes - Buffer.byteLength(text)); // The text may begin in these bytes.
      return found;
    };
    await until(`${JSON.stringify(text)} is shown`, isShown, withinMs).catch((error: unknown) => {
      const last = this.bytes.subarray(-2000).toString();
      throw new Error(`${String(error)}; ${this.isClosed ? 'closed' : 'open'}, last shown: ${JSON.stringify(last)}`);
    });
  }

  async receives(type: string, count = 1): Promise<JsonObject> {
    await until(`${count} ${type}`, () => this.of(type).length >= count).catch((error: unknown) => {
      throw new Error(`${String(error)}; heard: ${JSON.stringify(this.messages)}`);
    });
    return this.of(type)[count - 1]!;
  }

  async close(): Promise<Closed> {
    this.#socket.close(1000);
    return this.closed;
  }

  /** Drops the connection without a close frame. */
  async drop(): Promise<void> {
    this.#socket.terminate();
    await this.closed;
  }

  #take(data: string | Uint8Array): void {
    if (this.#wantedBytes <= 0) return;
    if (typeof data !== 'string') {
      const taken = data.subarray(0, this.#wantedBytes);
      this.offset += taken.length;
      this.#show(taken);
      return;
    }
    const message = JSON.parse(data) as JsonObject;
    assertDescribed(message);
    if (message['type'] === 'ready') this.offset = message['offset'] as number;
    if (message['type'] === 'gap') this.offset = message['to'] as number;
    if (message['type'] !== 'output') {
      this.messages.push(message);
      return;
    }
    this.offset = message['offset'] as number;
    this.#show(Buffer.from(message['data'] as string));
  }

  #show(bytes: Uint8Array): void {
    const wanted = this.#shownBytes + bytes.length;
    if (wanted > this.#shown.length) this.#shown = Buffer.concat([this.#shown], wanted * 2);
    this.#shown.set(bytes, this.#shownBytes);
    this.#shownBytes = wanted;
    this.#wantedBytes -= bytes.length;
    if (this.#wantedBytes <= 0) this.#socket.terminate();
  }
}
