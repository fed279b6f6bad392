/** The daemon at an address, with the key and the certificate authorities of the environment. */
import { BoxError, type CallOptions, type Result, Sandbox } from '../../../../clients/typescript/src/index.ts';
import { Deadline } from '../../kit/deadline.ts';
import { keyRule, parseKey } from '../../kit/api-key.ts';
import type { Environment } from '../../kit/types/environment.ts';
import type { Arguments } from '../arguments.ts';
import { trustedAuthorities } from './authorities.ts';
import { ClientFailure } from './failure.ts';

export interface WaitOptions extends CallOptions {
  /** How long the call and its repeats may take; null sets no limit. */
  readonly withinMs?: number | null;
}

/** Timeout for requests that a daemon answers at once. */
const answerWithinMs = 30_000;
/** Within this time, a daemon that died during a request is back. */
const backWithinMs = 10_000;

/**
 * For a request that names what it makes, and so makes it once. It is repeated when it may have arrived. Otherwise
 * nothing was made, and the failure is reported at once.
 */
export const madeOnce: WaitOptions = {
  withinMs: backWithinMs,
  retryMs: backWithinMs,
  isRepeatable: true,
  onAway: (error) => {
    if (!error.isMaybeDone) throw error;
  },
};

/** The options of an encrypted connection; empty for http. */
interface Encryption {
  readonly tls?: { readonly ca: string[] };
}

export class Client {
  /** Repeats no call, unless the call asks for it. */
  readonly sandbox: Sandbox;

  constructor(given: Arguments, environment: Environment) {
    let encryption: Encryption = {};
    this.sandbox = new Sandbox(given.address, {
      ...{ key: readKey(environment), retryMs: 0 },
      // Bun ends a request after 300 s without an answer, and code may take longer.
      fetch: (url, init) => fetch(url, { ...init, ...encryption, timeout: false }),
      WebSocket: class extends WebSocket {
        constructor(url: string, protocols: string[]) {
          super(url, { protocols, ...encryption });
        }
      },
    });
    if (this.address.startsWith('https:'))
      encryption = { tls: { ca: trustedAuthorities(given.value('cacert'), environment) } };
  }

  get address(): string {
    return this.sandbox.address;
  }

  /** The result of a call within a time; throws its error. */
  async answer<Body>(call: (options: CallOptions) => Promise<Result<Body>>, options: WaitOptions = {}): Promise<Body> {
    const { withinMs = answerWithinMs, signal, ...others } = options;
    using deadline = new Deadline(withinMs, ...(signal ? [signal] : []));
    const result = await call({ ...others, signal: deadline.signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (!deadline.passed) throw error;
      const message = `${this.address} has not answered for ${(withinMs ?? 0) / 1000} s`;
      throw new BoxError({ code: 'unreachable', message, retryable: true, isMaybeDone: true });
    });
    if (!result.ok) throw result.error;
    return result.body;
  }
}

/** SVC_API_KEY wins; an empty variable counts as unset. */
function readKey(environment: Environment): string | null {
  const given = [environment['SVC_API_KEY'], environment['SANDBOX_API_KEY']].find(Boolean);
  if (given === undefined) return null;
  const key = parseKey(given);
  if (key === null) throw new ClientFailure(`SVC_API_KEY is not valid: ${keyRule}`);
  return key;
}
