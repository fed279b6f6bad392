/** What the MCP row asks of a server: the text of a file, and the output of a command. */

export interface McpReply {
  readonly text: string;
  /** Size of the whole message. */
  readonly bytes: number;
}

export interface McpPeer {
  readonly name: string;
  readonly readFile: (path: string) => Promise<McpReply>;
  /** Null for a server without commands. */
  readonly run: ((command: string) => Promise<McpReply>) | null;
}

export interface McpMessage {
  readonly id?: number;
  readonly result?: {
    readonly content?: readonly { readonly text?: string }[];
    readonly isError?: boolean;
    readonly tools?: readonly { readonly name: string }[];
  };
  readonly error?: { readonly message: string };
}

/** Reads the answer to a call of a tool. Throws when the tool failed. */
export function mcpReply(tool: string, message: string): McpReply {
  const { result, error } = JSON.parse(message) as McpMessage;
  const text = (result?.content ?? []).map((part) => part.text ?? '').join('\n');
  if (result === undefined || result.isError === true) throw new Error(`${tool} failed: ${error?.message ?? text}`);
  return { text, bytes: Buffer.byteLength(message) };
}
