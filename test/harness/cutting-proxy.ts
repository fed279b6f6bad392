/** A proxy in front of a server. A test can cut its connections while both ends keep running. */
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** Ends every current connection. New ones are accepted. */
  cut(): void;
}

export async function proxyTo(port: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(port, '127.0.0.1');
    for (const [one, another] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(another);
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
