/** Speaks HTTP with a daemon: the key, the envelope, errors as values, and repeats where a repeat is safe. */
import { readAddress } from './address.ts';
import { Backoff, type OnAway } from './backoff.ts';
import { base64Of, piecesOf } from './lines.ts';
import { BoxError, failed, succeeded, type Result } from './result.ts';
import { fetchWithoutLimit } from './limits.ts';
import { routes, type Failure, type Operations } from './wire.ts';

export interface TransportOptions {
  /**
   * How long a call is repeated while the daemon is away or refuses for a while, in ms: 30 000, and 2000 until a daemon
   * has answered once, because the address may be wrong.
   */
  readonly retryMs?: number;
  /** For proxies, certificates and tests. */
  readonly fetch?: Fetch;
  /** The same for terminals. Node has a `WebSocket` from version 22 on; for an older one, that of the package ws. */
  readonly WebSocket?: SocketConstructor;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What terminals use of a WebSocket. */
export interface SocketLike {
  binaryType: string;
  send(message: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  /** Ends the connection at once; where a runtime has it. */
  terminate?(): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void;
}

export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike;

export interface CallOptions {
  /** Ends the wait, with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Overrides the budget of the sandbox. */
  readonly retryMs?: number;
  /** The call has no effect, or the same effect twice as once, so it is repeated also where it may have arrived. */
  readonly isRepeatable?: boolean;
  /** Called before each wait for a daemon that is away or refuses for a while. An error that it throws ends the call. */
  readonly onAway?: OnAway;
  /** The daemon answers this call at once, so a connection that is silent for 10 s is dead. */
  readonly answersAtOnce?: boolean;
  /** Sends the call, in place of the `fetch` of the sandbox. */
  readonly fetch?: Fetch;
}

export interface RawOptions extends CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses of failures whose answer the caller reads as it is. */
  readonly answerStatuses?: readonly number[];
}

type Parts = { readonly path?: object; readonly query?: object; readonly body?: unknown };
/** What a request sends, made anew for each attempt. */
interface Sent {
  readonly type: string;
  body(): string | Promise<ReadableStream<Uint8Array> | Blob>;
  close?(): void;
}
export type Input<Name extends keyof Operations> = Omit<Operations[Name], 'answer'>;
/** The parameters of an operation that are no argument of a method. */
export type Query<Name extends keyof Operations, Given extends string = never> = Operations[Name] extends {
  readonly query?: infer Fields;
}
  ? Omit<NonNullable<Fields>, Given>
  : never;
export type Body<Name extends keyof Operations> = Operations[Name] extends { readonly body: infer Fields }
  ? Fields
  : never;
export type Answer<Name extends keyof Operations> = Operations[Name]['answer'];
/** The operations that answer JSON. */
export type JsonOperation = {
  readonly [Name in keyof Operations]: Operations[Name]['answer'] extends Response ? never : Name;
}[keyof Operations];

const usualRetryMs = 30_000;
/** The same while the address may be wrong. */
const firstRetryMs = 2000;
const answerWithinMs = 10_000;
/** Statuses of a proxy whose daemon is away. */
const awayStatuses: readonly number[] = [502, 503, 504];
/** The daemon is full, or not ready yet. After other refusals, only the caller knows what makes a repeat succeed. */
const busyStatuses: readonly number[] = [429, 503];
/** Errors of a connection that never opened, so the request cannot have arrived. */
const neverSent = /refused|FailedToOpenSocket|ENOTFOUND|EAI_AGAIN|UNREACH|TLS|EPROTO/i;
const untrusted = /CERT|SELF_SIGNED|VERIFY|ISSUER/i;

interface Attempt {
  readonly error: BoxError;
  /** The daemon asks for this pause; null where it does not. */
  readonly afterMs: number | null;
}

type Fields = Readonly<Record<string, unknown>>;

export class Transport {
  readonly address: string;
  readonly #retryMs: number | undefined;
  #hasAnswered = false;
  readonly #key: string | null;
  readonly #fetch: Fetch;
  readonly #WebSocket: SocketConstructor | undefined;

  /** Throws a BoxError for an address or a key that cannot be one. */
  constructor(address: string, key: string | null, options: TransportOptions = {}) {
    this.address = readAddress(address);
    // Checked here, because the runtime would repeat an invalid key in its error message.
    if (key !== null && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key))
      throw new BoxError({ code: 'bad_key', message: 'a key is printable ASCII without blanks at its ends' });
    this.#key = key;
    this.#retryMs = options.retryMs;
    this.#fetch = options.fetch ?? fetchWithoutLimit;
    this.#WebSocket = options.WebSocket ?? (globalThis as Partial<typeof globalThis>).WebSocket;
  }

  /** The budget where a call has none of its own. */
  get retryMs(): number {
    return this.#retryMs ?? (this.#hasAnswered ? usualRetryMs : firstRetryMs);
  }

  /** The whole answer, whose payload is in `data`. */
  async call<Name extends JsonOperation>(
    name: Name,
    input: Input<Name>,
    options: CallOptions = {},
  ): Promise<Result<Answer<Name>>> {
    return (await this.#repeat(name, input, jsonOf(input), options, (response) =>
      this.#json(name, response, options.signal),
    )) as Result<Answer<Name>>;
  }

  /** The same for an operation that takes a content of any size. The same content twice is the content once. */
  async send<Name extends 'files.upload' | 'files.unpack'>(
    name: Name,
    input: Input<Name>,
    content: Sent,
    options: CallOptions,
  ): Promise<Result<Answer<Name>>> {
    const read = (response: Response) => this.#json(name, response, options.signal);
    return (await this.#repeat(name, input as Parts, content, { isRepeatable: true, ...options }, read)) as Result<
      Answer<Name>
    >;
  }

  /** The answer as it comes, for operations that do not answer JSON. */
  async open<Name extends keyof Operations>(
    name: Name,
    input: Input<Name>,
    options: RawOptions = {},
  ): Promise<Result<Response>> {
    return await this.#repeat(name, input, jsonOf(input), options, (response) => ({ body: response }));
  }

  /** The pieces of an answer. Throws a BoxError when the connection breaks. */
  async *pieces(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    if (!response.body) throw this.notBoxkeep(response.status);
    try {
      for await (const piece of piecesOf(response.body)) yield piece;
    } catch (error) {
      throw this.#unreachable(error, signal);
    }
  }

  /** A connection that is about to open. The key is in a subprotocol, because a browser sets no headers. */
  socket(place: string): SocketLike {
    if (!this.#WebSocket) {
      const hint = "Pass one: new Sandbox(address, { key, WebSocket: (await import('ws')).WebSocket }).";
      throw new BoxError({ code: 'no_websocket', message: 'this runtime has no WebSocket', hint });
    }
    const protocols = this.#key === null ? [] : [`svc.key.${base64UrlOf(this.#key)}`];
    return new this.#WebSocket(`${this.address.replace(/^http/, 'ws')}${place}`, ['svc.v2', ...protocols]);
  }

  async bytes(response: Response, signal: AbortSignal | undefined): Promise<Uint8Array> {
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw this.#unreachable(error, signal);
    }
  }

  async #repeat<Body>(
    name: keyof Operations,
    input: Parts,
    sent: Sent | null,
    options: RawOptions,
    read: (response: Response) => { readonly body: Body } | Attempt | Promise<{ readonly body: Body } | Attempt>,
  ): Promise<Result<Body>> {
    const unknown = new BoxError({
      ...{ code: 'bad_argument', message: `no operation has the name ${name}` },
      hint: 'spec/v2.json has the names, such as files.read.',
    });
    if (!Object.hasOwn(routes, name)) return failed(unknown);
    const [method = '', template = ''] = routes[name].split(' ');
    const missing = pathNames(template).find((one) => (input.path as Fields | undefined)?.[one] === undefined);
    if (missing) return failed(new BoxError({ code: 'bad_argument', message: `${name} needs path.${missing}` }));
    const request = { method, place: `${filled(template, input.path ?? {})}${queryOf(input.query ?? {})}` };
    const isRepeatable = options.isRepeatable ?? method === 'GET';
    const backoff = new Backoff(() => options.retryMs ?? this.retryMs, options.onAway);
    let isMaybeDone = false;
    for (;;) {
      const limit = options.answersAtOnce ? limitOf(options.signal, this.#silent()) : null;
      const outcome = await this.#attempt(request, sent, { ...options, ...limit });
      const found = outcome instanceof Response ? await read(outcome) : outcome;
      limit?.lift();
      this.#hasAnswered ||= 'body' in found || found.error.status !== null;
      if ('body' in found) return succeeded(found.body);
      const { error, afterMs } = found;
      // After a refusal without Retry-After, a repeat fails too until someone acts, for example starts a browser.
      const isBusy = busyStatuses.includes(error.status ?? 0) && afterMs !== null;
      isMaybeDone ||= error.isMaybeDone;
      error.isMaybeDone = isMaybeDone;
      const isPassing = error.code === 'unreachable' || isBusy;
      const isSafe = error.retryable && isPassing && (isRepeatable || !isMaybeDone);
      if (!isSafe || !(await backoff.wait(error, afterMs ?? 0, options.signal))) return failed(error);
    }
  }

  /** A response that is a success, or why there is none. */
  async #attempt(
    { method, place }: { readonly method: string; readonly place: string },
    sent: Sent | null,
    { signal, headers, answerStatuses = [304], fetch = this.#fetch }: RawOptions,
  ): Promise<Response | Attempt> {
    try {
      const body = sent && (await sent.body());
      // Redirects are not followed, because the key is only for this daemon.
      const response = await fetch(`${this.address}${place}`, {
        ...{ method, redirect: 'manual' },
        headers: {
          ...headers,
          ...(this.#key !== null && { authorization: `Bearer ${this.#key}` }),
          ...(sent && { 'content-type': sent.type }),
        },
        ...(signal && { signal }),
        ...(body !== null && { body }),
        ...(body instanceof ReadableStream && { duplex: 'half' }),
      });
      return response.ok || answerStatuses.includes(response.status) ? response : await this.#refusal(response);
    } catch (error) {
      return { error: this.#unreachable(error, signal), afterMs: 0 };
    } finally {
      sent?.close?.();
    }
  }

  async #json(
    name: keyof Operations,
    response: Response,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly body: unknown } | Attempt> {
    try {
      const body = (await response.json()) as unknown;
      if (!isAnswer(name, body)) throw this.notBoxkeep(response.status);
      return { body };
    } catch (error) {
      const isOther = error instanceof SyntaxError;
      const failure = isOther ? this.notBoxkeep(response.status) : this.#unreachable(error, signal);
      failure.isMaybeDone = true; // The daemon has begun to answer.
      return { error: failure, afterMs: 0 };
    }
  }

  async #refusal(response: Response): Promise<Attempt> {
    const { status, headers } = response;
    const answer = await response.json().catch(() => null);
    if (!isFailure(answer)) {
      const error = awayStatuses.includes(status)
        ? this.#away(`${this.address} answers ${status}: the daemon does not answer its proxy`)
        : this.notBoxkeep(status);
      return { error, afterMs: 0 };
    }
    const { message, hint, data, errors } = answer;
    const missing = this.#key === null ? 'needs a key' : 'does not accept the key';
    const error = new BoxError({
      ...{ code: data.code, hint, status, data, errors },
      message: status === 401 ? `${this.address} ${missing}` : message,
      retryable: data.retryable,
    });
    // The daemon refuses before it acts, and names seconds. A proxy may name a date.
    const after = headers.get('retry-after');
    return { error, afterMs: after === null ? null : (Number(after) || 0) * 1000 };
  }

  #unreachable(error: unknown, signal?: AbortSignal): BoxError {
    if (signal?.aborted && !(signal.reason instanceof BoxError)) throw signal.reason;
    if (error instanceof BoxError) return error;
    const { code, message, cause } = error as Partial<Record<'code' | 'message', string>> & {
      readonly cause?: { readonly code?: string; readonly message?: string };
    };
    const reason = cause?.code ?? code ?? cause?.message ?? message ?? '';
    const text = `cannot reach ${this.address}: ${describe(reason)}`;
    if (!untrusted.test(reason)) return this.#away(text, !neverSent.test(reason), error);
    const hint = 'Have this program trust the authority of the certificate.';
    return new BoxError({ code: 'not_trusted', message: text, hint, cause: error });
  }

  #silent(): BoxError {
    return this.#away(`cannot reach ${this.address}: no answer within ${answerWithinMs / 1000} s`);
  }

  #away(message: string, isMaybeDone = true, cause?: unknown): BoxError {
    const hint = 'Look whether the daemon runs there, and whether its port can be reached.';
    return new BoxError({ code: 'unreachable', message, hint, retryable: true, isMaybeDone, cause });
  }

  /** The error for the answer of another server. */
  notBoxkeep(status: number): BoxError {
    const message = `what answers at ${this.address} is not boxkeep (status ${status})`;
    const hint = 'Check the host, the port and the prefix.';
    return new BoxError({ code: 'not_boxkeep', message, hint, status, isMaybeDone: true });
  }
}

function jsonOf({ body }: Parts): Sent | null {
  return body === undefined ? null : { type: 'application/json', body: () => JSON.stringify(body) };
}

/** A path of the daemon with the values of its names. */
export function filled(template: string, values: object): string {
  return template
    .replace(/\{\?.*/, '')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String((values as Readonly<Record<string, unknown>>)[name])),
    );
}

export function queryOf(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.append(name, String(value));
  return query.size === 0 ? '' : `?${query.toString()}`;
}

function base64UrlOf(text: string): string {
  return base64Of(new TextEncoder().encode(text)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Answers have their payload in `data`, except where they follow a standard. */
function isAnswer(name: keyof Operations, value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('data' in value || /^mcp|openapi/.test(name));
}

/** A signal for one attempt, which fails with `late` when the answer takes too long. */
function limitOf(outer: AbortSignal | undefined, late: BoxError): { readonly signal: AbortSignal; lift(): void } {
  const ending = new AbortController();
  const stop = () => ending.abort(outer?.reason);
  if (outer?.aborted) stop();
  outer?.addEventListener('abort', stop);
  const timer = setTimeout(() => ending.abort(late), answerWithinMs);
  return {
    signal: ending.signal,
    lift() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', stop);
    },
  };
}

function pathNames(template: string): string[] {
  return [...template.replace(/\{\?.*/, '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

function isFailure(value: unknown): value is Failure {
  const { message, data } = (value ?? {}) as Partial<Failure>;
  return typeof message === 'string' && typeof data === 'object' && data !== null && typeof data.code === 'string';
}

function describe(reason: string): string {
  if (/refused/i.test(reason)) return 'connection refused';
  if (/ENOTFOUND|EAI_AGAIN/.test(reason)) return 'the host is not known';
  if (/ECONNRESET|ConnectionClosed|socket/i.test(reason)) return 'the connection broke';
  if (/EPROTO|WRONG_VERSION/.test(reason)) return 'the port does not speak TLS; use http://';
  if (untrusted.test(reason)) return `its certificate is not trusted (${reason})`;
  return reason;
}
