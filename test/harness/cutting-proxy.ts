/** Proxies in front of a server: one whose connections a test can cut, and one below a path as a gateway serves it. */
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Ends every current connection. New ones are accepted. */
  cut(): void;
}

/** `prefix`, as in `/team/box`, is taken off the path of a request, and each connection then has one request. */
export async function proxyTo(port: number, prefix = ''): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(port, '127.0.0.1');
    for (const [one, another] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      if (one === other || prefix === '') one.pipe(another);
      else one.once('data', (head) => (another.write(withoutPrefix(String(head), prefix)), one.pipe(another)));
      one.on('error', () => another.destroy()); // One end has gone, so the other end is closed too.
      one.on('close', () => {
        sockets.delete(one);
        another.destroy();
      });
    }
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      cut();
      await closed.promise;
    },
  };
}

/** The head of a request of a browser is small enough to arrive in one piece. */
function withoutPrefix(head: string, prefix: string): string {
  return head.replace(`${prefix}/`, '/').replace(/^connection: keep-alive/im, 'Connection: close');
}
