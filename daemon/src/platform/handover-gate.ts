/** The handover gate for requests: serves them, holds them while another daemon takes over, then forwards them. */
import { RepeatElsewhere } from '../kit/handed-over.ts';
import { directFetch } from './direct-fetch.ts';
import type { Fetch, IdleLimit, Upgrade } from './listen.ts';

type Body = string | ArrayBuffer | ReadableStream<Uint8Array> | null;
type Way = 'here' | 'there';

/** Largest body that is buffered so that a request can be repeated; a larger body is streamed through. */
const keptBodyBytes = 32 * 1024 * 1024;
/** Time for the next daemon to restart if it dies right after the handover. */
const retryWithinMs = 5000;
const retryEveryMs = 10;
/** Headers of one connection; they are not forwarded. */
const hopHeaders = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];

export class HandoverGate {
  #way: Promise<Way> = Promise.resolve('here');
  #isHere = true;
  #decide: (way: Way) => void = () => undefined;
  #origin = '';

  /** Wraps the handler that a listener calls for each request. */
  guard(serve: Fetch): Fetch {
    return async (request, idleLimit) => {
      if (this.#isHere || (await this.#way) === 'here') return this.#serve(serve, request, idleLimit);
      return this.#forward(request, await keptBody(request), idleLimit);
    };
  }

  /** Holds requests that arrive from now on. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<Way>();
    this.#isHere = false;
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

  /** Serves a request, which may find that another daemon owns its command or session by now. */
  async #serve(serve: Fetch, request: Request, idleLimit: IdleLimit): Promise<Response | Upgrade> {
    try {
      return await serve(request, idleLimit);
    } catch (error) {
      if (!(error instanceof RepeatElsewhere)) throw error;
      const { body } = error;
      if ((await this.#way) === 'there') return this.#forward(request, body, idleLimit);
      const again = new Request(request.url, { method: request.method, headers: request.headers, body });
      return this.#serve(serve, again, idleLimit);
    }
  }

  async #forward(request: Request, body: Body, idleLimit: IdleLimit): Promise<Response> {
    // A WebSocket cannot be forwarded; the client connects again and reaches the other daemon.
    if (request.headers.get('upgrade')?.toLowerCase() === 'websocket') return handingOver();
    // The other daemon applies its own idle limit.
    idleLimit.lift();
    const path = request.url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
    const headers = withoutHop(request.headers);
    headers.delete('content-length');
    const answer = await knock(() =>
      directFetch(`${this.#origin}${path}`, {
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
    // The client connects to the other daemon for its next request.
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

/** Retries a refused connection, which is safe because it has carried no data. */
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
