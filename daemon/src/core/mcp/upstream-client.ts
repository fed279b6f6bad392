/** Sends single requests to an MCP server, in the form of its protocol revision, and waits for their results. */
import { isFields, type Fields } from '../../kit/types/fields.ts';
import { McpBroken } from '../../protocols/mcp-errors.ts';
import type { McpExchange, McpTransport } from '../../platform/clients/mcp-transport.ts';
import { headerValue } from './parameter-headers.ts';
import { NeedsSession, UpstreamRefusal } from './upstream-refusal.ts';

/** The revision of a server: with a handshake before the first request, or with the facts of a client in each. */
export interface Era {
  readonly isModern: boolean;
  readonly version: string;
}

export const modernEra: Era = { isModern: true, version: '2026-07-28' };
/** The version that the handshake offers; a server may answer with an older one. */
const handshakeVersion = '2025-11-25';

export interface McpRequest {
  readonly method: string;
  readonly params: Fields;
  readonly headers?: Readonly<Record<string, string>>;
  /** Receives the params of progress notifications, without their token. */
  readonly onProgress?: ((progress: Fields) => void) | undefined;
}

export interface UpstreamClientDeps {
  readonly url: string;
  readonly transport: McpTransport;
  /** Identifies the hub to the servers. */
  readonly client: { readonly name: string; readonly version: string };
}

/** Time for messages to which no answer is expected. */
const noticeMs = 2000;

export class UpstreamClient {
  #lastId = 0;

  constructor(private readonly deps: UpstreamClientDeps) {}

  /** Throws `UpstreamRefusal`, `McpUnreachable`, `McpBroken`, and the reason of the signal. */
  async request(era: Era, request: McpRequest, signal: AbortSignal): Promise<Fields> {
    const id = (this.#lastId += 1);
    const body = { jsonrpc: '2.0', id, method: request.method, params: this.#params(era, id, request) };
    try {
      const headers = { ...this.#headers(era, request), ...request.headers };
      await using exchange = await this.#post(body, headers, signal);
      return await resultOf(exchange, id, request);
    } catch (error) {
      // Closing the connection cancels the request only since revision 2026-07-28.
      if (signal.aborted && !era.isModern) this.#notify(era, 'notifications/cancelled', { requestId: id });
      throw error;
    }
  }

  /** The handshake of the revisions before 2026-07-28. Throws `NeedsSession`, and as `request` does. */
  async initialize(signal: AbortSignal): Promise<{ readonly era: Era; readonly hasTools: boolean }> {
    const id = (this.#lastId += 1);
    const params = { protocolVersion: handshakeVersion, capabilities: {}, clientInfo: this.deps.client };
    await using exchange = await this.#post({ jsonrpc: '2.0', id, method: 'initialize', params }, {}, signal);
    const result = await resultOf(exchange, id, {});
    if (exchange.sessionId !== null) {
      this.#endSession(exchange.sessionId);
      throw new NeedsSession('the server has opened a session');
    }
    const { protocolVersion: version, capabilities } = result;
    const era = { isModern: false, version: typeof version === 'string' ? version : handshakeVersion };
    await this.#sendNotice(era, 'notifications/initialized', {}, signal);
    return { era, hasTools: !isFields(capabilities) || capabilities['tools'] !== undefined };
  }

  #params({ isModern, version }: Era, id: number, { params, onProgress }: McpRequest): Fields {
    const meta = {
      ...(onProgress && { progressToken: id }),
      ...(isModern && {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': this.deps.client,
        'io.modelcontextprotocol/clientCapabilities': {},
      }),
    };
    return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
  }

  #headers({ isModern, version }: Era, { method, params }: McpRequest): Record<string, string> {
    const { name } = params;
    return {
      'MCP-Protocol-Version': version,
      ...(isModern && { 'Mcp-Method': method }),
      ...(isModern && typeof name === 'string' && { 'Mcp-Name': headerValue(name) }),
    };
  }

  #post(body: object, headers: Record<string, string>, signal: AbortSignal): Promise<McpExchange> {
    return this.deps.transport.post({ url: this.deps.url, headers, body }, signal);
  }

  #notify(era: Era, method: string, params: Fields): void {
    const signal = AbortSignal.timeout(noticeMs);
    // The request has failed already, and a server that does not take the notification loses nothing.
    void this.#sendNotice(era, method, params, signal).catch(() => undefined);
  }

  async #sendNotice(era: Era, method: string, params: Fields, signal: AbortSignal): Promise<void> {
    const headers = { 'MCP-Protocol-Version': era.version };
    await using _exchange = await this.#post({ jsonrpc: '2.0', method, params }, headers, signal);
  }

  #endSession(sessionId: string): void {
    const signal = AbortSignal.timeout(noticeMs);
    // Most servers also end a session without calls.
    void this.deps.transport.endSession(this.deps.url, sessionId, signal).catch(() => undefined);
  }
}

async function resultOf(exchange: McpExchange, id: number, { onProgress }: Partial<McpRequest>): Promise<Fields> {
  for await (const message of exchange.messages) {
    if (!isFields(message)) continue;
    if (message['method'] === 'notifications/progress') reportProgress(message['params'], id, onProgress);
    if (isFields(message['error']) && isAnswerTo(message, id)) throw refusalOf(message['error'], exchange.status);
    if (isFields(message['result']) && message['id'] === id) return message['result'];
  }
  if (exchange.status < 300) throw new McpBroken('its answer ended without a result');
  throw new UpstreamRefusal(null, `it answered with status ${exchange.status}`, undefined, exchange.status);
}

function reportProgress(params: unknown, id: number, onProgress: McpRequest['onProgress']): void {
  if (!isFields(params) || params['progressToken'] !== id) return;
  const { progressToken: _token, ...progress } = params;
  onProgress?.(progress);
}

/** An error about a request that the server could not read has no id. */
function isAnswerTo({ id }: Fields, asked: number): boolean {
  return id === asked || id === null || id === undefined;
}

function refusalOf({ code, message, data }: Fields, status: number): UpstreamRefusal {
  const words = typeof message === 'string' ? message : 'it gave no reason';
  return new UpstreamRefusal(typeof code === 'number' ? code : null, words, data, status);
}
