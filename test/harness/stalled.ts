/** Clients that stall: they ask, or begin to, and then neither read nor write any more. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** Of a chunked answer. */
const lastChunk = '\r\n0\r\n\r\n';
const keptCharacters = 4096;

export class StalledClients implements AsyncDisposable {
  readonly #sockets: Socket[] = [];

  constructor(private readonly url: string) {}

  /** Sends these bytes on each of so many connections and reads nothing of what comes back. */
  async open(count: number, bytes: string): Promise<void> {
    const { hostname, port } = new URL(this.url);
    for (let n = 0; n < count; n++) {
      const socket = connect(Number(port), hostname);
      this.#sockets.push(socket);
      socket.on('error', () => null); // The daemon may hang up on it; that is its right.
      socket.pause();
      await once(socket, 'connect');
      socket.write(bytes);
    }
  }

  /** The first of them reads on; answers the end of all that it is sent, until the other side closes or has ended. */
  async wake(mostCharacters = keptCharacters): Promise<string> {
    const [socket] = this.#sockets;
    if (!socket) throw new Error('nobody is stalled');
    let text = '';
    for await (const chunk of socket) {
      text = (text + String(chunk)).slice(-mostCharacters);
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
