/** The 1.x client libraries on the wire: their requests and their retries. */
import type { EnvelopeBody, Reply, Sandbox } from './sandbox.ts';

export interface V1Client {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a call without arguments. */
  readonly emptyBody: string;
  /** The maximum number of attempts while the answer is 408, 429 or 5xx. */
  readonly attempts: number;
}

export const javascript: V1Client = {
  name: 'JavaScript',
  headers: {
    'user-agent': 'node',
    'x-fern-language': 'JavaScript',
    'x-fern-runtime': 'node',
    'x-fern-runtime-version': '22.14.0',
  },
  emptyBody: '{}',
  attempts: 3,
};

export const go: V1Client = {
  name: 'Go',
  headers: { 'user-agent': 'Go-http-client/1.1', 'x-fern-language': 'Go' },
  emptyBody: '{}',
  attempts: 2,
};

export const python: V1Client = {
  name: 'Python',
  headers: { 'user-agent': 'python-httpx/0.28.1', 'x-fern-language': 'Python' },
  emptyBody: '',
  attempts: 1,
};

export const v1Clients = [javascript, go, python] as const;

export interface V1Reply extends Reply<EnvelopeBody> {
  /** The number of requests that were sent. */
  readonly requests: number;
}

/** Null as `body` sends no body. */
export async function call(
  sandbox: Sandbox,
  client: V1Client,
  route: string,
  body: Readonly<Record<string, unknown>> | null,
): Promise<V1Reply> {
  const payload = body === null ? undefined : Object.keys(body).length === 0 ? client.emptyBody : JSON.stringify(body);
  const headers = { ...client.headers, ...(body === null ? {} : { 'content-type': 'application/json' }) };
  for (let requests = 1; ; requests++) {
    const reply = await sandbox.request(route, payload, headers);
    const isTemporary = reply.status === 408 || reply.status === 429 || reply.status >= 500;
    if (!isTemporary || requests >= client.attempts) return { ...reply, requests };
    await Bun.sleep(Number(reply.headers.get('retry-after') ?? requests) * 1000);
  }
}
