/** HTTP as bytes on a socket, for requests that no client library would send. */
import { connect } from 'node:net';

/** Sends the bytes and answers everything that comes back until the other side closes, or the time is over. */
export function exchange(url: string, bytes: string | Uint8Array, withinMs = 5000): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), withinMs);
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      answer += text;
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
}

/** A request without a body; `headers` are lines. */
export function rawRequest(target: string, headers: readonly string[]): string {
  return [`GET ${target} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n');
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}
