/** Sends HTTP requests to other programs of this sandbox. */

/**
 * As `fetch`, past every proxy that the environment names: `HTTP_PROXY` is for the world outside, and the runtime sends
 * even requests to 127.0.0.1 through it. `proxy: false` is known to the runtime and missing in its types (Bun 1.4.5).
 */
export async function directFetch(url: string, init: BunFetchRequestInit): Promise<Response> {
  const direct: object = { proxy: false };
  return await fetch(url, { ...init, ...direct });
}

/** Whether a request has failed because nothing listens at its address. The runtime has two names for it. */
export function isRefused(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'ConnectionRefused' || code === 'ECONNREFUSED';
}
