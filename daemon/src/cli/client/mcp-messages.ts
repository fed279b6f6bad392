/** The messages of the Model Context Protocol as HTTP carries them. */
import type { McpMessage } from '../../../../clients/typescript/src/index.ts';
import { textLines } from '../../../../clients/typescript/src/lines.ts';

export type Message = McpMessage;

export function readMessage(line: string): Message | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? (message as Message) : null;
  } catch {
    return null; // The caller reports it.
  }
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** The revision of 2026 repeats a part of each message in headers, for proxies. */
export function headersOf({ method = '', params = {} }: Message): Record<string, string> {
  const meta = params['_meta'] as Readonly<Record<string, unknown>> | undefined;
  const version = meta?.[versionKey];
  const name = params['name'] ?? params['uri'];
  const accept = 'application/json, text/event-stream';
  if (typeof version !== 'string') return { accept };
  const target = typeof name === 'string' ? { 'mcp-name': encoded(name) } : {};
  return { accept, 'mcp-protocol-version': version, 'mcp-method': method, ...target };
}

/** A value that a header cannot carry as it is. */
function encoded(name: string): string {
  return /^[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

/** What came back: notifications, and the answer last. A notification of the client has no answer. */
export async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text();
    if (text !== '') yield checked(JSON.parse(text));
  } else if (response.body) {
    for await (const line of textLines(response.body, true)) {
      // Every event of the daemon has one line of data.
      if (line.startsWith('data: ')) yield checked(JSON.parse(line.slice('data: '.length)));
    }
  }
}

/** A refusal outside of the protocol has a message only. */
function checked(value: Partial<Message> & { readonly message?: string }): Message {
  if (value.jsonrpc !== '2.0') throw new Error(value.message ?? 'what came back is not a message of the protocol');
  return value as Message;
}
