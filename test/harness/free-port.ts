/** Finds ports of loopback for servers that cannot choose their own. */
import { randomInt } from 'node:crypto';

/** The preferred port where it is free, because an image uses it; otherwise any free port. */
export function freePort(preferred = 0): number {
  try {
    return portOf(preferred);
  } catch {
    return portOf(0); // Another test run on this machine has the preferred port.
  }
}

/** The system gives ports of at least 32768 to connections, and to servers that let it choose (ip(7)). */
const [lowest, systemPorts] = [20_000, 32_768];

/** A free port that the system gives to nothing else before its server starts. */
export function freeFixedPort(): number {
  try {
    return portOf(randomInt(lowest, systemPorts));
  } catch {
    return freeFixedPort(); // A server has it.
  }
}

function portOf(wanted: number): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: wanted, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
