/** Opens the HTTP port and hands Web requests to the program. */
import type { Server } from 'bun';

export interface RequestInfo {
  /** The address of the other side. */
  readonly peer: string | null;
  /** Lifts the idle limit: the answer may take as long as it takes. */
  keepOpen(): void;
}

export type Fetch = (request: Request, info: RequestInfo) => Promise<Response>;

export interface Listener {
  readonly port: number;
  readonly hostname: string;
  /** Refuses new connections, lets open requests end for so long, then drops what is left. */
  stop(withinMs: number): Promise<void>;
}

/** Far above every body that a route takes, so that refusing one is the program's, in its envelope. */
const maxBodyBytes = 2 ** 40;
const idleTimeoutSeconds = 120;
const pendingLookMs = 5;

/** Throws an Error with one clear line when the port cannot be had. */
export function listen(hostname: string, port: number, fetch: Fetch): Listener {
  const server = bind(hostname, port, fetch);
  return {
    port: server.port ?? port,
    hostname,
    stop: (withinMs) => stop(server, withinMs),
  };
}

/** The runtime tells of no request that ends, so that its count has to be looked at. */
async function stop(server: Server<undefined>, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  void server.stop(false);
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(pendingLookMs);
  await server.stop(true);
}

function bind(hostname: string, port: number, fetch: Fetch): Server<undefined> {
  try {
    return Bun.serve({
      hostname,
      port,
      development: false,
      reusePort: false,
      maxRequestBodySize: maxBodyBytes,
      idleTimeout: idleTimeoutSeconds,
      fetch: (request, server) =>
        fetch(request, {
          peer: server.requestIP(request)?.address ?? null,
          keepOpen: () => server.timeout(request, 0),
        }),
    });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(`cannot listen on ${hostname}:${port}: ${code}`, { cause: error });
  }
}
