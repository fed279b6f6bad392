/** A 1.x web terminal at `/v1/shell/ws`: keeps the received frames and answers pings in a chosen form. */
import type { JsonObject, Sandbox } from './sandbox.ts';
import type { Closed } from './terminal-client.ts';
import { until } from './until.ts';

/** The position of the time in a pong, which differs between clients. */
export type PongForm = 'data' | 'top';

const seenWithinMs = 30_000;

export class ShellClient {
  /** Every frame other than output, unchanged. */
  readonly frames: JsonObject[] = [];
  /** All received output. */
  text = '';
  readonly closed: Promise<Closed>;
  isClosed = false;
  readonly #socket: WebSocket;

  private constructor(
    url: string,
    private readonly pongForm: PongForm,
  ) {
    this.#socket = new WebSocket(url);
    this.closed = new Promise((resolve) => {
      this.#socket.onclose = ({ code, reason }) => {
        this.isClosed = true;
        resolve({ code, reason });
      };
    });
    this.#socket.onmessage = ({ data }) => this.#take(JSON.parse(data as string) as JsonObject);
    this.#socket.onerror = () => null; // The close event reports the error.
  }

  /** Resolves when the shell is ready. */
  static async open(sandbox: Sandbox, query = '', pongForm: PongForm = 'data'): Promise<ShellClient> {
    const client = new ShellClient(`${sandbox.url.replace('http', 'ws')}/v1/shell/ws?${query}`, pongForm);
    await until('the shell is ready', () => client.of('ready').length > 0 || client.isClosed);
    if (client.isClosed) throw new Error(`closed: ${JSON.stringify(client.frames)}`);
    return client;
  }

  get sessionId(): string {
    return this.of('session_id')[0]?.['data'] as string;
  }

  of(type: string): JsonObject[] {
    return this.frames.filter((frame) => frame['type'] === type);
  }

  send(frame: object | string | Uint8Array): void {
    const isRaw = typeof frame === 'string' || frame instanceof Uint8Array;
    this.#socket.send(isRaw ? frame : JSON.stringify(frame));
  }

  type(data: string): void {
    this.send({ type: 'input', data });
  }

  resize(cols: number, rows: number): void {
    this.send({ type: 'resize', data: { cols, rows } });
  }

  async sees(text: string): Promise<void> {
    await until(`${JSON.stringify(text)} is shown`, () => this.text.includes(text), seenWithinMs).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}; last shown: ${JSON.stringify(this.text.slice(-2000))}`);
      },
    );
  }

  async receives(type: string, count = 1): Promise<JsonObject> {
    await until(`${count} ${type}`, () => this.of(type).length >= count);
    return this.of(type)[count - 1]!;
  }

  async close(): Promise<Closed> {
    this.#socket.close(1000);
    return await this.closed;
  }

  #take(frame: JsonObject): void {
    if (frame['type'] === 'output') {
      this.text += frame['data'] as string;
      return;
    }
    this.frames.push(frame);
    // One form reads `timestamp`, the other reads `data`, which older servers used.
    if (frame['type'] !== 'ping') return;
    const timestamp = (frame['timestamp'] ?? frame['data']) as number;
    this.send(this.pongForm === 'data' ? { type: 'pong', data: { timestamp } } : { type: 'pong', timestamp });
  }
}
