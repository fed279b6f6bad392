/** HTTP client of a daemon, with the key from the environment; distinguishes a refusal from an unreachable daemon. */
import { keyRule, parseKey } from '../../kit/api-key.ts';
import type { Environment } from '../../kit/types/environment.ts';
import { isFields, type Fields } from '../../kit/types/fields.ts';
import { readAddress } from './address.ts';
import { trustedAuthorities } from './authorities.ts';
import { ClientFailure, Refusal, Unreachable } from './failure.ts';
import { record } from './wire.ts';

/** Timeout for requests that a daemon answers at once. */
export const answerWithinMs = 30_000;
/** Errors of a connection that never opened, so the request cannot have arrived. */
const neverSent = /refused|FailedToOpenSocket|ENOTFOUND|EAI_AGAIN|CERT|SELF_SIGNED|VERIFY|ISSUER|TLS|EPROTO|UNREACH/i;
/** Statuses of a proxy whose daemon is away. */
const awayStatuses: readonly number[] = [502, 504];

export class Client {
  readonly address: string;
  readonly #key: string | null;
  /** The options of an encrypted connection; empty for http. */
  readonly #encryption: { readonly tls?: { readonly ca: string[] } };

  constructor(address: string, environment: Environment) {
    this.address = readAddress(address);
    this.#key = readKey(environment);
    this.#encryption = this.address.startsWith('https:') ? { tls: { ca: trustedAuthorities(environment) } } : {};
  }

  /** Returns the `data` of the answer. Throws a Refusal or Unreachable. */
  async call(method: string, path: string, body: Fields | null, signal: AbortSignal): Promise<Fields> {
    const response = await this.#fetch(method, path, body, signal);
    const envelope = await this.#envelope(response, signal);
    if (!response.ok) throw this.#refusal(response.status, envelope);
    return record(envelope['data']);
  }

  /** Yields the pieces of a stream; the next piece is read after the caller has processed the last. */
  async *stream(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const response = await this.#fetch('GET', path, null, signal);
    if (!response.ok) throw this.#refusal(response.status, await this.#envelope(response, signal));
    if (!response.body) throw this.#isNone();
    try {
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) yield piece;
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  /** Starts a WebSocket connection with the key in a header. Events report whether it opens. */
  socket(path: string): WebSocket {
    const headers = this.#key === null ? {} : { authorization: `Bearer ${this.#key}` };
    return new WebSocket(`${this.address.replace(/^http/, 'ws')}${path}`, { headers, ...this.#encryption });
  }

  async #fetch(method: string, path: string, body: Fields | null, signal: AbortSignal): Promise<Response> {
    const headers = {
      ...(this.#key === null ? {} : { authorization: `Bearer ${this.#key}` }),
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    };
    try {
      // Redirects are not followed, because the key is only for this daemon.
      const init = { method, headers, signal, redirect: 'manual', ...this.#encryption } as const;
      const response = await fetch(
        `${this.address}${path}`,
        body === null ? init : { ...init, body: JSON.stringify(body) },
      );
      if (!awayStatuses.includes(response.status)) return response;
      await response.body?.cancel();
      throw new Unreachable(`${this.address} answers ${response.status}: the daemon does not answer its proxy`, true);
    } catch (error) {
      throw error instanceof ClientFailure ? error : this.#unreachable(error);
    }
  }

  async #envelope(response: Response, signal: AbortSignal): Promise<Fields> {
    try {
      const body: unknown = await response.json();
      if (isFields(body)) return body;
    } catch (error) {
      if (signal.aborted || !(error instanceof SyntaxError)) throw this.#unreachable(error);
    }
    throw this.#isNone(response.status);
  }

  #refusal(status: number, { message, hint }: Fields): Refusal {
    if (typeof message !== 'string') return this.#isNone(status);
    if (status === 401) {
      const what = this.#key === null ? 'needs a key; set SVC_API_KEY' : 'does not accept the key in SVC_API_KEY';
      return new Refusal(status, `${this.address} ${what}`);
    }
    return new Refusal(status, typeof hint === 'string' ? `${message} (${hint})` : message);
  }

  #isNone(status = 200): Refusal {
    return new Refusal(status, `what answers at ${this.address} is not boxkeep (status ${status})`);
  }

  #unreachable(error: unknown): Unreachable {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = typeof code === 'string' ? code : message;
    return new Unreachable(`cannot reach ${this.address}: ${describe(reason)}`, !neverSent.test(reason));
  }
}

function describe(reason: string): string {
  if (/refused/i.test(reason)) return 'connection refused';
  if (/ENOTFOUND|EAI_AGAIN/.test(reason)) return 'the host is not known';
  if (/ECONNRESET|ConnectionClosed/i.test(reason)) return 'the connection broke';
  if (/EPROTO|WRONG_VERSION/.test(reason)) return 'the port does not speak TLS; use http://';
  if (/CERT|VERIFY|ISSUER/.test(reason))
    return `its certificate is not trusted (${reason}); name the file of its authority in BOXKEEP_CACERT`;
  return reason;
}

/** SVC_API_KEY wins; an empty variable counts as unset. */
function readKey(environment: Environment): string | null {
  const given = [environment['SVC_API_KEY'], environment['SANDBOX_API_KEY']].find(Boolean);
  if (given === undefined) return null;
  // Checked here, because the runtime would repeat an invalid key in its error message.
  const key = parseKey(given);
  if (key === null) throw new ClientFailure(`SVC_API_KEY is not valid: ${keyRule}`);
  return key;
}
