/** Ports that are free at the moment, for a program that has to be told which ones to take. */
import { createServer, type AddressInfo, type Server } from 'node:net';

/** At 127.0.0.1. Rejects with the system's error. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenAnywhere));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  // All are held until the last one is known, so that no two are the same.
  await Promise.all(servers.map(close));
  return ports;
}

function listenAnywhere(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
