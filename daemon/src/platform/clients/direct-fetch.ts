/** Sends HTTP requests to other programs of this sandbox. */

/**
 * Like `fetch`, but bypasses the proxy of `HTTP_PROXY`, through which the runtime sends even requests to 127.0.0.1. The
 * runtime accepts `proxy: false`, although its types do not list the value (Bun 1.4.5).
 */
export async function directFetch(url: string, init: BunFetchRequestInit): Promise<Response> {
  const direct: object = { proxy: false };
  return await fetch(url, { ...init, ...direct });
}

/** Null for a body of more bytes. */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > maxBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Whether a request has failed because nothing listens at its address. The runtime has two names for it. */
export function isRefused(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'ConnectionRefused' || code === 'ECONNREFUSED';
}
