/** Sends HTTP as bytes on a socket, for requests that no client library would send. */
import { connect, type Socket } from 'node:net';
import { fairTimeout } from './fair-clock.ts';

/** Sends the bytes and returns all received text until the other side closes or the time is over. */
export function exchange(url: string, bytes: string | Uint8Array, withinMs = 5000): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const timeout = fairTimeout(() => socket.destroy(), withinMs);
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      answer += text;
    });
    // A server that refuses a body answers and closes before it has read the whole body.
    socket.on('error', (error) => answer === '' && reject(error));
    socket.on('close', () => {
      timeout[Symbol.dispose]();
      resolve(answer);
    });
  });
}

/** Sends the bytes and returns the head of the answer, for answers that keep the connection open. */
export function headOf(url: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.includes('\r\n\r\n')) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

/** A connection for several requests, sent in pieces. */
export class RawConnection implements Disposable {
  readonly #socket: Socket;
  received = '';

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname).setEncoding('latin1');
    this.#socket.on('data', (text: string) => {
      this.received += text;
    });
  }

  send(bytes: string): void {
    this.#socket.write(bytes);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** A WebSocket upgrade request. `headers` are lines. */
export function upgradeRequest(target: string, headers: readonly string[]): string {
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const lines = [...headers, ...upgrade, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  return [`GET ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

/** A request without a body. `headers` are lines. */
export function rawRequest(target: string, headers: readonly string[]): string {
  return [`GET ${target} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n');
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}
