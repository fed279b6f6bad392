/** The 1.x clients as bytes on a socket: their headers, and their bodies for omitted arguments. */
import { exchange } from './raw-http.ts';
import type { EnvelopeBody, Sandbox } from './sandbox.ts';

export const dialects = ['python', 'javascript', 'go'] as const;
export type Dialect = (typeof dialects)[number];

const headers: Readonly<Record<Dialect, readonly string[]>> = {
  python: [
    'Accept: */*',
    'Accept-Encoding: gzip, deflate',
    'User-Agent: python-httpx/0.28.1',
    'X-Fern-Language: Python',
    'X-Fern-SDK-Name: agent-sandbox',
    'X-Fern-SDK-Version: 0.0.30',
  ],
  javascript: [
    'accept: */*',
    'accept-language: *',
    'sec-fetch-mode: cors',
    'user-agent: node',
    'accept-encoding: gzip, deflate',
    'x-fern-language: JavaScript',
    'x-fern-runtime: node',
    'x-fern-runtime-version: v22.12.0',
  ],
  go: ['User-Agent: Go-http-client/1.1', 'X-Fern-Language: Go', 'Accept-Encoding: gzip'],
};

export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body of a JSON answer. */
  readonly body: EnvelopeBody;
}

export interface WireRequest {
  readonly body?: string | Uint8Array;
  /** The default is JSON. */
  readonly type?: string;
  readonly key?: string;
  /** How long to keep the connection, for an answer that does not end. */
  readonly withinMs?: number;
}

/**
 * Without `body`, the request has no body and no content type. With an empty body, it has a type and a length of zero.
 */
export async function sendAs(
  dialect: Dialect,
  sandbox: Sandbox,
  route: string,
  { body, type = 'application/json', key, withinMs = 20_000 }: WireRequest = {},
): Promise<WireReply> {
  const payload = body === undefined ? null : Buffer.from(body);
  const lines = [
    `${route} HTTP/1.1`,
    `Host: ${new URL(sandbox.url).host}`,
    ...headers[dialect],
    ...(key === undefined ? [] : [`x-api-key: ${key}`]),
    ...(payload === null ? [] : [`Content-Type: ${type}`, `Content-Length: ${payload.length}`]),
    'Connection: close',
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return readReply(await exchange(sandbox.url, Buffer.concat([head, payload ?? Buffer.alloc(0)]), withinMs));
}

/** The body of a call without arguments. */
export function leftOut(dialect: Dialect): string {
  return dialect === 'python' ? '' : '{}';
}

function readReply(answer: string): WireReply {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const text = rest.join('\r\n\r\n');
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const found = new Headers(fields);
  const isJson = found.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: Number(first.split(' ')[1]),
    headers: found,
    text,
    body: (isJson ? JSON.parse(text) : null) as EnvelopeBody,
  };
}
