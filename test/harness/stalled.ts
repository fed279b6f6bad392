/** Clients that stall: they send a request or part of one, and then neither read nor write. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** The end of a chunked answer. */
const lastChunk = '\r\n0\r\n\r\n';
const keptCharacters = 4096;

export class StalledClients implements AsyncDisposable {
  readonly #sockets: Socket[] = [];

  constructor(private readonly url: string) {}

  /** Sends these bytes on each of `count` connections, and reads no answers. */
  async open(count: number, bytes: string): Promise<void> {
    const { hostname, port } = new URL(this.url);
    for (let n = 0; n < count; n++) {
      const socket = connect(Number(port), hostname);
      this.#sockets.push(socket);
      socket.on('error', () => null); // The daemon may close the connection.
      socket.pause();
      await once(socket, 'connect');
      socket.write(bytes);
    }
  }

  /**
   * Resumes reading on the first connection. Returns the end of the received text when the answer or the connection
   * ends.
   */
  async wake(maxCharacters = keptCharacters): Promise<string> {
    const [socket] = this.#sockets;
    if (!socket) throw new Error('no connection is stalled');
    let text = '';
    for await (const chunk of socket) {
      text = (text + String(chunk)).slice(-maxCharacters);
      if (text.endsWith(lastChunk)) break;
    }
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#sockets.filter((socket) => !socket.closed).map((socket) => once(socket, 'close'));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }
}
