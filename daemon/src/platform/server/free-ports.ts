/** Finds free ports for a program that needs its port numbers in advance. */
import type { AddressInfo, Server } from 'node:net';

/** Ports of 127.0.0.1. Rejects with the system's error. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenAnywhere));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  // All ports stay open until the last one is known, so that no two are equal.
  await Promise.all(servers.map(close));
  return ports;
}

function listenAnywhere(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = process.getBuiltinModule('node:net').createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
