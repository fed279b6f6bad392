/** Servers in front of a daemon that misbehave, each below a path of its own, and a server whose certificate is not trusted. */
import { makeCertificates } from './certificates.ts';

export interface ClientServers extends Disposable {
  readonly url: string;
  readonly untrusted: string;
}

type Answer = (request: Request, rest: string) => Response | Promise<Response>;

export function serversBefore(daemon: string, directory: string): ClientServers {
  const forwarded: Answer = (request, rest) =>
    fetch(`${daemon}${rest}`, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      keepalive: false,
    });
  const answers: Readonly<Record<string, Answer>> = {
    /** Something else. */
    other: () => new Response('<h1>Hello</h1>', { headers: { 'content-type': 'text/html' } }),
    /** Would show the key to another server. */
    away: (_, rest) => Response.redirect(`${daemon}${rest}`, 307),
    fragile: fragile(forwarded),
    /** Does its work, and its answer breaks off. */
    cut: async (request, rest) => {
      await (await forwarded(request, rest)).arrayBuffer();
      return brokenOff();
    },
    /** A proxy whose daemon is away. */
    gone: () => new Response('', { status: 502 }),
    gap: interruptedOutput(),
    /** Answers JSON of its own. */
    wrapped: () => Response.json({ result: { version: '1' } }),
    /** Answers a page where lines are asked for. */
    paged: ({ url }) => (url.includes('stream=true') ? new Response('<h1>Hello</h1>\n') : knownCommand()),
    /** Takes connections, and says nothing. */
    silent: () => new Promise(() => {}),
    /** Lacks a program that somebody has to start first. */
    lacking: () => unavailable({}),
    lengthless: lengthless(forwarded),
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      const [, name = '', rest = ''] = /^\/(\w+)(.*)$/.exec(pathname) ?? [];
      return answers[name]?.(request, `${rest}${search}`) ?? new Response(null, { status: 404 });
    },
  });
  const { key, cert } = makeCertificates(directory);
  const tls = { key: Bun.file(key), cert: Bun.file(cert) };
  const untrusted = Bun.serve({ hostname: '127.0.0.1', port: 0, tls, fetch: () => new Response('') });
  return {
    url: `http://127.0.0.1:${server.port}`,
    untrusted: `https://127.0.0.1:${untrusted.port}`,
    [Symbol.dispose]() {
      void server.stop(true);
      void untrusted.stop(true);
    },
  };
}

/** The first command runs and its answer breaks off; the second is refused with a date, the third with seconds. */
function fragile(forwarded: Answer): Answer {
  const instead = [brokenOff, () => refusal('Wed, 21 Oct 2026 07:28:00 GMT'), () => refusal('1')];
  return async (request, rest) => {
    const answer = await forwarded(request, rest);
    return request.method === 'POST' ? (instead.shift()?.() ?? answer) : answer;
  };
}

/** Sends files in pieces without their length. The first one breaks off. */
function lengthless(forwarded: Answer): Answer {
  let isFirst = true;
  return async (request, rest) => {
    const answer = await forwarded(request, rest);
    if (!rest.startsWith('/v2/fs/download')) return answer;
    const content = await answer.bytes();
    const isBroken = isFirst;
    isFirst = false;
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(isBroken ? content.subarray(0, content.length / 2) : content);
      },
      // Called when the piece was sent.
      pull: (controller) => (isBroken ? controller.error() : controller.close()),
    });
    return new Response(body, { status: answer.status });
  };
}

function refusal(retryAfter: string): Response {
  return unavailable({ 'retry-after': retryAfter });
}

function unavailable(headers: Record<string, string>): Response {
  return Response.json(
    { success: false, message: 'busy', hint: null, data: { code: 'unavailable', retryable: true } },
    { status: 503, headers },
  );
}

function brokenOff(): Response {
  return new Response(new ReadableStream({ start: (body) => (body.enqueue(Buffer.from('{')), body.error()) }));
}

/** Output that comes over several connections: cut in a piece, refused, cut in a line, with a byte twice, and with bytes that are not kept. */
function interruptedOutput(): Answer {
  const piece = (offset: number, text: string) =>
    `${JSON.stringify({ type: 'stdout', offset, next: offset + text.length, bytes: text.length })}\n${text}`;
  const connections = [
    new Response(`${piece(0, 'ab')}${piece(2, 'cd').slice(0, -1)}`),
    refusal('0'),
    new Response(piece(3, 'd').slice(0, 20)),
    new Response(`${piece(1, 'bc')}{"type":"closing","offset":3,"stderr_offset":0}\n`),
    new Response(
      `{"type":"gap","stream":"stdout","from":3,"to":5}\n${piece(7, 'h')}` +
        '{"type":"exit","status":"completed","exit_code":0,"signal":null,"offset":8,"stderr_offset":0}\n',
    ),
  ];
  return (request) =>
    new URL(request.url).searchParams.has('stream') ? (connections.shift() ?? new Response('')) : knownCommand();
}

function knownCommand(): Response {
  const data = { command: { command_id: 'x' }, offset: 0, stderr_offset: 0 };
  return Response.json({ success: true, message: '', hint: null, data });
}
