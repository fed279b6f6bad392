/** The API key: which requests need it, how they carry it, and how it is compared. */
import { createHash, timingSafeEqual } from '../../kit/crypto.ts';
import { isUpgrade, offeredProtocols } from '../stream/socket.ts';

/** Paths that are served without a key (specification, Authentication 5). All others require one. */
export const publicPaths: ReadonlySet<string> = new Set([
  '/',
  '/health',
  '/v1/ping',
  '/v1/openapi.json',
  '/v2/openapi.json',
  '/internal/auth',
]);

/** The gateway of the images carries the key in its own header, only on its sub-request. */
const gatewayPath = '/internal/auth';
const gatewayHeader = 'x-svc-api-key';
export const keyParameter = 'api_key';

export class ApiKey {
  #digest: Buffer | null;
  /** Null also when only the digest is known. */
  #key: string | null;

  /** With null no key is set, and every request is authorized. */
  constructor(key: string | null) {
    this.#key = key;
    this.#digest = key === null ? null : digest(key);
  }

  /** The SHA-256 of the key as hexadecimal text; null without a key. */
  get digest(): string | null {
    return this.#digest?.toString('hex') ?? null;
  }

  /** From now on requests need the key with this digest. */
  restore(digest: string): void {
    if (digest === this.digest) return;
    this.#key = null;
    this.#digest = Buffer.from(digest, 'hex');
  }

  /** From now on requests need this key; open connections and streams go on. */
  replace(key: string): void {
    this.#key = key;
    this.#digest = digest(key);
  }

  /** False for any text when no key is set. */
  isKey(given: string): boolean {
    return this.#digest !== null && timingSafeEqual(digest(given), this.#digest);
  }

  /** Whether a signature is the SHA-256 of the text that `textWith` makes of the key. False when the key is not known. */
  hasSigned(signature: Buffer, textWith: (key: string) => string): boolean {
    const expected = this.#key === null ? null : digest(textWith(this.#key));
    return expected !== null && signature.length === expected.length && timingSafeEqual(signature, expected);
  }

  /** True also when the request carries no key at all, for a protocol that knows none. */
  allows(headers: Headers, url: URL): boolean {
    return carriedKeys(headers, url).length === 0 || this.authorizes(headers, url);
  }

  /** True when the request carries the key and no different key beside it. `more` are further headers that carry it. */
  authorizes(headers: Headers, url: URL, more: readonly string[] = []): boolean {
    const expected = this.#digest;
    if (expected === null) return true;
    const carried = [...carriedKeys(headers, url), ...more.flatMap((name) => headers.get(name) ?? [])];
    // Digests all have the same length, so timing reveals nothing about the key, not even its length.
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

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
