/** Reads a stream of Server-Sent Events like a standard client. */
import { expect, type JsonObject, type Sandbox } from './sandbox.ts';

export interface SseMessage {
  readonly event: string;
  readonly id: string | null;
  readonly data: JsonObject;
}

/** Yields messages as they arrive. A comment is a message named `:` with its text. */
export async function* sseMessages(
  sandbox: Sandbox,
  path: string,
  { lastEventId, signal, post }: { lastEventId?: string; signal?: AbortSignal; post?: object } = {},
): AsyncGenerator<SseMessage> {
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
  const method = post === undefined ? 'GET' : 'POST';
  const response = await sandbox.fetch(`${method} ${path}`, post, { headers, ...(signal ? { signal } : {}) });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    const whole = rest.split('\n\n');
    rest = whole.pop() ?? '';
    yield* whole.map(message);
  }
  expect(rest).toBe('');
}

function message(text: string): SseMessage {
  if (text.startsWith(':')) return { event: ':', id: null, data: { text: text.slice(1).trim() } };
  const field = (name: string) =>
    text
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? null;
  return {
    event: field('event') ?? 'message',
    id: field('id'),
    data: JSON.parse(field('data') ?? 'null') as JsonObject,
  };
}
