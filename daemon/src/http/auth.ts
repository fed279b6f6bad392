/** The API key: who must carry it, how it can be carried, and how it is compared. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isUpgrade, offeredProtocols } from './socket.ts';

/** Answered without a key (specification, Authentication 5). Everything else is closed by default. */
export const publicPaths: ReadonlySet<string> = new Set([
  '/',
  '/health',
  '/v1/ping',
  '/v1/openapi.json',
  '/v2/openapi.json',
  '/internal/auth',
]);

/** The gateway of the images carries the key in a header of its own, on its sub-request alone. */
const gatewayPath = '/internal/auth';
const gatewayHeader = 'x-svc-api-key';
export const keyParameter = 'api_key';

export class ApiKey {
  readonly #digest: Buffer | null;

  /** null: no key is set, and every request is authorized. */
  constructor(key: string | null) {
    this.#digest = key === null ? null : digest(key);
  }

  /** True when the request carries the key, and carries no other beside it. */
  authorizes(headers: Headers, url: URL): boolean {
    const expected = this.#digest;
    if (expected === null) return true;
    const carried = carriedKeys(headers, url);
    // Digests have one length, so that the time tells nothing about the key, not even its length.
    const matches = carried.map((key) => timingSafeEqual(digest(key), expected));
    return matches.length > 0 && matches.every(Boolean);
  }
}

function carriedKeys(headers: Headers, url: URL): string[] {
  const bearer = /^Bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  const gateway = url.pathname === gatewayPath ? headers.get(gatewayHeader) : null;
  const offered = isUpgrade(headers) ? offeredProtocols(headers).keys : [];
  const keys = [bearer, headers.get('x-api-key'), gateway, ...url.searchParams.getAll(keyParameter), ...offered];
  return keys.filter((key): key is string => key !== null && key !== undefined);
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
