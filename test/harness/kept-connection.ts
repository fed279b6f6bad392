/** One kept-alive connection like a client library's, but without hidden retries. */
import { connect, type Socket } from 'node:net';

export interface KeptReply {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
}

export class KeptConnection implements Disposable {
  #socket: Socket | null = null;
  #received: Buffer = Buffer.alloc(0);
  #news = Promise.withResolvers<void>();
  #failure: Error | null = null;

  constructor(private readonly url: string) {}

  /** Opens the connection, so that its next request needs no handshake. */
  static async open(url: string): Promise<KeptConnection> {
    const connection = new KeptConnection(url);
    await connection.request('GET /v1/ping');
    return connection;
  }

  /** Rejects when the connection breaks before the answer is complete. */
  async request(route: string, body?: unknown): Promise<KeptReply> {
    const [method = 'GET', path = '/'] = route.split(' ');
    const payload = body === undefined ? '' : JSON.stringify(body);
    const start = performance.now();
    this.#socket ??= this.#open();
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
    );
    const head = await this.#until('\r\n\r\n');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${head}`);
    const text = await this.#take(length);
    if (/\r\nconnection: close/i.test(head)) this[Symbol.dispose]();
    return { status: Number(head.slice(9, 12)), body: text, ms: performance.now() - start };
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#received = Buffer.alloc(0);
  }

  #open(): Socket {
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    this.#failure = null;
    const fail = (error: Error) => {
      if (this.#socket !== socket) return;
      this.#failure = error;
      this.#wake();
    };
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the connection was closed before the answer was whole')));
    return socket;
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }

  async #until(mark: string): Promise<string> {
    while (!this.#received.includes(mark)) await this.#more();
    return this.#take(this.#received.indexOf(mark) + mark.length);
  }

  async #take(count: number): Promise<string> {
    while (this.#received.length < count) await this.#more();
    const text = this.#received.subarray(0, count).toString();
    this.#received = this.#received.subarray(count);
    return text;
  }

  async #more(): Promise<void> {
    if (this.#failure) throw this.#failure;
    await this.#news.promise;
  }
}
