/** Calls the routes of the daemon that served this page, with the key where one is set. */
import type { Failure, Operations, routes, TerminalSession } from '../../clients/typescript/src/wire.ts';
import type { Key } from './key.ts';

/** The answer of each route that has `data`. */
type Answers = {
  readonly [
    Name in keyof Operations as Operations[Name]['answer'] extends { readonly data: unknown }
      ? (typeof routes)[Name]
      : never
  ]: Operations[Name]['answer'];
};

/** An error response of the daemon, in its words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Without the sentences that name a route, because these help programs only. */
    readonly hint: string | null,
  ) {
    super(message);
  }
}

const routeNamed = /\/v\d\/|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) \//;

const protocol = 'svc.v2';

export class DaemonClient {
  /** The daemon may be behind a path prefix of a gateway. */
  readonly #base = new URL('.', location.href);

  constructor(private readonly key: Key) {}

  async version(): Promise<string> {
    return (await this.#ask('GET /health')).version;
  }

  async listTerminals(): Promise<TerminalSession[]> {
    return Object.values((await this.#ask('GET /v2/pty/sessions')).sessions);
  }

  createTerminal(): Promise<TerminalSession> {
    return this.#ask('POST /v2/pty/sessions', { body: {} });
  }

  terminal(id: string): Promise<TerminalSession> {
    return this.#ask('GET /v2/pty/sessions/{id}', { id });
  }

  async closeTerminal(id: string): Promise<void> {
    await this.#ask('DELETE /v2/pty/sessions/{id}', { id });
  }

  /** Uses the binary protocol, in which output arrives as raw bytes. */
  attach(id: string, query: Readonly<Record<string, string>>): WebSocket {
    const url = this.#url('/v2/pty/sessions/{id}/ws', id);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams({ protocol: 'binary', ...query }).toString();
    const key = this.key.value;
    const socket = new WebSocket(url, key === null ? [protocol] : [protocol, `svc.key.${base64Url(key)}`]);
    socket.binaryType = 'arraybuffer';
    return socket;
  }

  async #ask<Route extends keyof Answers>(
    route: Route,
    { id = '', body }: { readonly id?: string; readonly body?: object } = {},
  ): Promise<Answers[Route]['data']> {
    const [method = '', path = ''] = route.split(' ');
    const headers = new Headers();
    if (this.key.value !== null) headers.set('authorization', `Bearer ${this.key.value}`);
    if (body) headers.set('content-type', 'application/json');
    const response = await fetch(this.#url(path, id), {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = (await response.json()) as Answers[Route] | Failure;
    if (response.ok) return answer.data;
    const { message, hint } = answer;
    throw new Refusal(response.status, message, hint && forPerson(hint));
  }

  #url(path: string, id: string): URL {
    return new URL(path.slice(1).replace('{id}', encodeURIComponent(id)), this.#base);
  }
}

function forPerson(hint: string): string | null {
  const sentences = hint.split(/(?<=\.) /).filter((sentence) => !routeNamed.test(sentence));
  return sentences.length === 0 ? null : sentences.join(' ');
}

function base64Url(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
