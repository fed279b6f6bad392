/** Posts messages to MCP servers of this machine, and reads their answers with bounds: JSON or Server-Sent Events. */
import { boundsWithin, outOfBounds } from '../../kit/text/json-bounds.ts';
import { once } from '../../kit/once.ts';
import { memoryLimitBytes } from '../memory/memory.ts';
import { McpBroken, McpUnreachable } from '../../protocols/mcp-errors.ts';
import { directFetch, isRefused, readBounded } from './direct-fetch.ts';
import { readEvents } from './sse-reader.ts';

export interface McpPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The caller must dispose of the exchange, which ends the connection. */
export interface McpExchange extends AsyncDisposable {
  readonly status: number;
  /** The id of the session that the server has opened; null for a stateless server. */
  readonly sessionId: string | null;
  /** The messages of the answer as they arrive. Throws `McpBroken` and, when the signal fires, its reason. */
  readonly messages: AsyncIterable<unknown>;
}

/** Maximum size of one message. */
const maxMessageBytes = 32 * 1024 * 1024;
/** The rest of the text of an error page says no more. */
const maxErrorBytes = 64 * 1024;

const bounds = once(() => boundsWithin(memoryLimitBytes()));

/** A compressed answer could be of any size. */
const common = { 'accept-encoding': 'identity' };

export class McpTransport {
  /** Throws `McpUnreachable`, `McpBroken`, and the reason of the signal. */
  async post({ url, headers, body }: McpPost, signal: AbortSignal): Promise<McpExchange> {
    const response = await request(url, signal, {
      method: 'POST',
      headers: {
        ...common,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      sessionId: response.headers.get('mcp-session-id'),
      messages: messagesOf(response, signal),
      [Symbol.asyncDispose]: () => discard(response),
    };
  }

  /** Ends a session that a server has opened. Throws as `post` does. */
  async endSession(url: string, sessionId: string, signal: AbortSignal): Promise<void> {
    await discard(
      await request(url, signal, { method: 'DELETE', headers: { ...common, 'mcp-session-id': sessionId } }),
    );
  }
}

async function request(url: string, signal: AbortSignal, init: RequestInit): Promise<Response> {
  try {
    return await directFetch(url, {
      ...init,
      // On a kept connection that breaks, the runtime would send the request again, and a tool could run twice.
      keepalive: false,
      // A redirect could lead to another machine.
      redirect: 'manual',
      // The signal bounds the wait; the runtime would give up after five minutes.
      timeout: false,
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const { code = '' } = error as { code?: string };
    // In both cases the server has not seen the request.
    if (isRefused(error) || code === 'FailedToOpenSocket') throw new McpUnreachable('nothing listens there');
    throw new McpBroken(`the connection ended before its answer (${code || String(error)})`);
  }
}

async function* messagesOf(response: Response, signal: AbortSignal): AsyncGenerator<unknown> {
  const { body, headers } = response;
  if (body === null) return;
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  try {
    if (type === 'text/event-stream') {
      for await (const data of readEvents(body, maxMessageBytes)) yield parsed(data);
    } else if (type === 'application/json') {
      const message = parsed(await textOf(body, response.ok ? maxMessageBytes : maxErrorBytes));
      yield* Array.isArray(message) ? message : [message];
    } else if (response.ok && response.status !== 202) {
      throw new McpBroken(`it answered with ${type ?? 'no content type'}, not with JSON or events`);
    }
  } catch (error) {
    if (signal.aborted || error instanceof McpBroken) throw error;
    throw new McpBroken(`the connection ended in its answer (${(error as { code?: string }).code ?? String(error)})`);
  }
}

async function textOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const bytes = await readBounded(body, maxBytes);
  if (bytes === null) throw new McpBroken(`its answer has more than ${maxBytes / 1024 / 1024} MiB`);
  return new TextDecoder().decode(bytes);
}

function parsed(text: string): unknown {
  const problem = outOfBounds(text, bounds());
  if (problem !== null) throw new McpBroken(`its answer ${problem}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new McpBroken('it answered with text that is not JSON');
  }
}

async function discard(response: Response): Promise<void> {
  if (response.body === null || response.body.locked || response.bodyUsed) return;
  await response.body.cancel().catch(() => undefined); // The server may have ended the connection already.
}
