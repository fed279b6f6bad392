/** Where requests come in: served here, held while another daemon takes over, then passed on to it. */
import { HandedOver } from '../kit/handed-over.ts';
import type { Fetch, IdleLimit, Upgrade } from './listen.ts';

type Body = string | ArrayBuffer | ReadableStream<Uint8Array> | null;
type Way = 'here' | 'there';

/** Of a body that is kept, so that a request can be made again; a larger one is passed on as it comes. */
const keptBodyBytes = 32 * 1024 * 1024;
/** For the next daemon to be there again when it has died at once. */
const retryWithinMs = 5000;
const retryEveryMs = 10;
/** Of one connection alone; they are not for the other side of a passed on request. */
const hopHeaders = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];

export class Door {
  #way: Promise<Way> = Promise.resolve('here');
  #isHere = true;
  #decide: (way: Way) => void = () => undefined;
  #origin = '';

  /** What a listener calls for each request. */
  through(serve: Fetch): Fetch {
    return async (request, idleLimit) => {
      if (this.#isHere || (await this.#way) === 'here') return this.#serve(serve, request, idleLimit);
      return this.#passOn(request, await keptBody(request), idleLimit);
    };
  }

  /** Requests that come from now on wait. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<Way>();
    this.#isHere = false;
    this.#way = promise;
    this.#decide = resolve;
  }

  /** They are served here after all. */
  open(): void {
    this.#isHere = true;
    this.#decide('here');
  }

  /** They are made again at another daemon, and so is every one that comes. */
  passOn(origin: string): void {
    this.#origin = origin;
    this.#decide('there');
  }

  /** A request that came in before the door was held may find that what it is about has gone over. */
  async #serve(serve: Fetch, request: Request, idleLimit: IdleLimit): Promise<Response | Upgrade> {
    try {
      return await serve(request, idleLimit);
    } catch (error) {
      if (!(error instanceof HandedOver)) throw error;
      const body = error.body === null ? null : JSON.stringify(error.body);
      if ((await this.#way) === 'there') return this.#passOn(request, body, idleLimit);
      const again = new Request(request.url, { method: request.method, headers: request.headers, body });
      return this.#serve(serve, again, idleLimit);
    }
  }

  async #passOn(request: Request, body: Body, idleLimit: IdleLimit): Promise<Response> {
    // A connection cannot be passed on; the client makes another one, and that comes to the other daemon.
    if (request.headers.get('upgrade')?.toLowerCase() === 'websocket') return handingOver();
    // What may stall has its limit over there.
    idleLimit.lift();
    const path = request.url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
    const headers = withoutHop(request.headers);
    headers.delete('content-length');
    const answer = await knock(() =>
      fetch(`${this.#origin}${path}`, {
        method: request.method,
        headers,
        body,
        redirect: 'manual',
        decompress: false,
        keepalive: false,
        signal: request.signal,
      }),
    );
    const passed = withoutHop(answer.headers);
    // The client is to come by itself the next time.
    passed.set('connection', 'close');
    return new Response(await bodyOf(answer), { status: answer.status, headers: passed });
  }
}

function handingOver(): Response {
  const hint = 'Connect again.';
  return Response.json(
    { success: false, message: 'another daemon has taken over', data: null, hint },
    { status: 503, headers: { 'retry-after': '1', connection: 'close' } },
  );
}

/** A connection that is refused has carried nothing yet. */
async function knock(ask: () => Promise<Response>): Promise<Response> {
  const deadline = performance.now() + retryWithinMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if ((error as { code?: string }).code !== 'ConnectionRefused' || performance.now() > deadline) throw error;
    }
    await Bun.sleep(retryEveryMs);
  }
}

async function keptBody(request: Request): Promise<Body> {
  if (request.body === null) return null;
  const announced = Number(request.headers.get('content-length') ?? Number.NaN);
  return announced <= keptBodyBytes ? await request.arrayBuffer() : request.body;
}

/** An answer of a known length is passed on whole, so that its length is told; a stream as it comes. */
async function bodyOf(answer: Response): Promise<Body> {
  const announced = Number(answer.headers.get('content-length') ?? Number.NaN);
  return answer.body !== null && announced <= keptBodyBytes ? await answer.arrayBuffer() : answer.body;
}

function withoutHop(headers: Headers): Headers {
  const rest = new Headers(headers);
  for (const name of hopHeaders) rest.delete(name);
  return rest;
}
