/** The tools of a sandbox, as a client of the Model Context Protocol has them. */
import { BoxError, failed, Plane, succeeded, type ErrorCode, type Result } from './result.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: object;
}

/** What a tool answers. A tool that failed says so in `isError`. */
export interface McpAnswer {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

interface RpcError {
  readonly message: string;
  readonly data?: { readonly code?: ErrorCode };
}

type Reply = { readonly result: unknown } | { readonly error: RpcError };

export class Mcp extends Plane {
  constructor(private readonly transport: Transport) {
    super();
  }

  async tools(options: CallOptions = {}): Promise<Result<{ readonly data: { readonly tools: readonly McpTool[] } }>> {
    const sent = await this.#send('tools/list', {}, { isRepeatable: true, ...options });
    return sent as Result<{ readonly data: { readonly tools: readonly McpTool[] } }>;
  }

  async call(
    name: string,
    fields: object = {},
    options: CallOptions = {},
  ): Promise<Result<{ readonly data: McpAnswer }>> {
    return (await this.#send('tools/call', { name, arguments: fields }, options)) as Result<{
      readonly data: McpAnswer;
    }>;
  }

  async #send(method: string, params: object, options: CallOptions): Promise<Result<{ readonly data: unknown }>> {
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params } } as const;
    const sent = await this.transport.call('mcp.message', { body }, options);
    if (!sent.ok) return sent;
    const reply = sent.body as unknown as Reply;
    if ('result' in reply) return succeeded({ data: reply.result });
    const { message, data = {} } = reply.error;
    return failed(new BoxError({ code: data.code ?? 'bad_argument', message, data: { ...data } }));
  }
}
