/** The handover gate for requests: serves them, holds them while another daemon takes over, then forwards them. */
import { aborted, Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { RepeatElsewhere } from '../../kit/handed-over.ts';
import { TrailedResponse } from '../../kit/types/trailed-response.ts';
import type { IdleLimit } from '../../kit/types/idle-limit.ts';
import { directFetch, isRefused } from '../clients/direct-fetch.ts';
import type { Fetch, Upgrade } from './listen.ts';

type Body = string | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
type Way = 'here' | 'there';

/** Sends a request to the next daemon. */
export type Ask = (
  address: string,
  request: Pick<Request, 'method' | 'headers' | 'signal'> & { readonly body: Body },
) => Promise<Response>;

/** A handover takes some ten milliseconds. After this time, probes are served here, and report that requests are held. */
const probesHeldMs = 2000;
/** Longer than init lets a handover take. */
const maxHeldMs = 20_000;
/** Largest body that is buffered so that a request can be repeated; a larger body is streamed through. */
const keptBodyBytes = 32 * 1024 * 1024;
/** Time for the next daemon to restart if it dies right after the handover. */
const retryWithinMs = 5000;
const retryEveryMs = 10;
/**
 * Marks a forwarded request. Until the next daemon listens, also when it has died and starts again, the request may
 * reach a daemon that itself forwards.
 */
const forwardedHeader = 'x-boxkeep-forwarded';
/** Headers of one connection; they are not forwarded. */
const hopHeaders = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];

/** Over HTTP/1.1, as the request came. */
export const askDirectly: Ask = (address, request) =>
  directFetch(address, { ...request, redirect: 'manual', decompress: false, keepalive: false });

export class HandoverGate {
  #way: Promise<Way> = Promise.resolve('here');
  #isHere = true;
  #heldFrom = 0;
  #decide: (way: Way) => void = () => undefined;
  #origin = '';

  /** `probePaths` are the paths of the requests that report the health of this daemon. */
  constructor(
    private readonly probePaths: ReadonlySet<string>,
    private readonly failure: (error: CoreError, path: string) => Response,
    private readonly ask: Ask,
  ) {}

  /** Wraps the handler that a listener calls for each request. */
  guard(serve: Fetch): Fetch {
    return async (request, idleLimit) => {
      if (this.#isHere) return this.#serve(serve, request, idleLimit);
      const isProbe = this.probePaths.has(pathOf(request));
      const way = await this.#decided(isProbe ? probesHeldMs : maxHeldMs);
      if (way === 'there' && request.headers.has(forwardedHeader)) return this.#returned(request);
      if (way === 'there') return this.#forward(request, await keptBody(request), idleLimit);
      return way === 'here' || isProbe ? this.#serve(serve, request, idleLimit) : this.#heldTooLong(request);
    };
  }

  /** Holds requests that arrive from now on. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<Way>();
    this.#isHere = false;
    this.#heldFrom = performance.now();
    this.#way = promise;
    this.#decide = resolve;
  }

  /** Serves the held requests here after all. */
  open(): void {
    this.#isHere = true;
    this.#decide('here');
  }

  /** Forwards the held requests, and every later one, to another daemon. */
  forward(origin: string): void {
    this.#origin = origin;
    this.#decide('there');
  }

  /** `late` when the gate has held requests for `withinMs` and is still undecided. */
  async #decided(withinMs: number): Promise<Way | 'late'> {
    using deadline = new Deadline(this.#heldFrom + withinMs - performance.now());
    return await Promise.race([this.#way, aborted(deadline.signal).then(() => 'late' as const)]);
  }

  /**
   * Serves a request, which may find that another daemon owns its command or session by now. A repetition here finds
   * the same only when one upgrade follows another; the client then repeats the request itself.
   */
  async #serve(serve: Fetch, request: Request, idleLimit: IdleLimit, mayRepeat = true): Promise<Response | Upgrade> {
    try {
      return await serve(request, idleLimit);
    } catch (error) {
      if (!(error instanceof RepeatElsewhere)) throw error;
      const { body } = error;
      const way = this.#isHere ? 'here' : await this.#decided(maxHeldMs);
      if (way === 'there') return this.#forward(request, body, idleLimit);
      if (way === 'late' || !mayRepeat) return this.#heldTooLong(request);
      const again = new Request(request.url, { method: request.method, headers: request.headers, body });
      return this.#serve(serve, again, idleLimit, false);
    }
  }

  async #forward(request: Request, body: Body, idleLimit: IdleLimit): Promise<Response> {
    // A WebSocket cannot be forwarded; the client connects again and reaches the other daemon.
    if (request.headers.get('upgrade')?.toLowerCase() === 'websocket') return this.#handingOver(request);
    // The other daemon applies its own idle limit.
    idleLimit.lift();
    const path = targetOf(request);
    const headers = withoutHop(request.headers);
    headers.delete('content-length');
    headers.set(forwardedHeader, '1');
    const { method, signal } = request;
    const answer = await askUntilServed(body, () =>
      this.ask(`${this.#origin}${path}`, { method, headers, body, signal }),
    );
    const passed = withoutHop(answer.headers);
    // The client connects to the other daemon for its next request.
    passed.set('connection', 'close');
    const init = { status: answer.status, headers: passed };
    if (answer instanceof TrailedResponse) return new TrailedResponse(answer.body, init, answer.trailer);
    return new Response(await bodyOf(answer), init);
  }

  #handingOver(request: Request): Response {
    const error = new CoreError('unavailable', 'another daemon has taken over', { hint: 'Connect again.' });
    const response = this.failure(error, pathOf(request));
    response.headers.set('connection', 'close');
    return response;
  }

  /** A forwarded request has reached a daemon that forwards too. */
  #returned(request: Request): Response {
    const response = this.#handingOver(request);
    response.headers.set(forwardedHeader, 'returned');
    return response;
  }

  #heldTooLong(request: Request): Response {
    const hint = 'Send the request again. GET /health answers 200 when the daemon serves.';
    const message = 'an upgrade of the daemon holds requests and has not ended';
    return this.failure(new CoreError('unavailable', message, { hint }), pathOf(request));
  }
}

/** The path and the query. */
function targetOf(request: Request): string {
  return request.url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
}

function pathOf(request: Request): string {
  return targetOf(request).replace(/\?.*$/s, '');
}

/**
 * Retries a refused connection, which is safe because it has carried no data, and a request that has come back, unless
 * its body was streamed.
 */
async function askUntilServed(body: Body, ask: () => Promise<Response>): Promise<Response> {
  const deadline = performance.now() + retryWithinMs;
  for (;;) {
    const isLast = performance.now() > deadline;
    try {
      const answer = await ask();
      const isReturned = answer.headers.get(forwardedHeader) === 'returned';
      if (!isReturned || isLast || body instanceof ReadableStream) return answer;
    } catch (error) {
      if (!isRefused(error) || isLast) throw error;
    }
    await Bun.sleep(retryEveryMs);
  }
}

async function keptBody(request: Request): Promise<Body> {
  if (request.body === null) return null;
  const announced = Number(request.headers.get('content-length') ?? Number.NaN);
  return announced <= keptBodyBytes ? await request.arrayBuffer() : request.body;
}

/** Buffers an answer of a known length, so that its length is forwarded; streams any other answer. */
async function bodyOf(answer: Response): Promise<Body> {
  const announced = Number(answer.headers.get('content-length') ?? Number.NaN);
  return answer.body !== null && announced <= keptBodyBytes ? await answer.arrayBuffer() : answer.body;
}

function withoutHop(headers: Headers): Headers {
  const rest = new Headers(headers);
  for (const name of hopHeaders) rest.delete(name);
  return rest;
}
