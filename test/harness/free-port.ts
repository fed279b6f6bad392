/** Finds a port of loopback for a server that cannot choose one itself. */

/** The preferred port where it is free, because an image uses it; otherwise any free port. */
export function freePort(preferred = 0): number {
  try {
    return portOf(preferred);
  } catch {
    return portOf(0); // Another test run on this machine has the preferred port.
  }
}

function portOf(wanted: number): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: wanted, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
