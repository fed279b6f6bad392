/** Calls the MCP server of the browser with the official client, and uses its tools as an agent does. */
import { join } from 'node:path';
import { freeFixedPort } from './free-port.ts';
import { needMcpClients } from './interpreters.ts';
import { expect, type Json, type JsonObject, type Sandbox, type SandboxOptions } from './sandbox.ts';
import type { SnapshotNode, TaskTab } from './tab-client.ts';
import { until } from './until.ts';

const ports = new WeakMap<Sandbox, number>();

/** A daemon that serves the tools of the browser with these variables. */
export function withBrowserMcp(env: (url: string) => Readonly<Record<string, string>>): SandboxOptions {
  return {
    env: (sandbox) => {
      const port = ports.get(sandbox) ?? freeFixedPort();
      ports.set(sandbox, port);
      return { SVC_BROWSER_MCP_PORT: String(port), ...env(browserMcpUrl(sandbox)) };
    },
  };
}

export const browserMcpUrl = (sandbox: Sandbox) => `http://127.0.0.1:${ports.get(sandbox)}/mcp`;

export interface ToolResult {
  readonly text: string;
  readonly content: readonly JsonObject[];
  readonly isError: boolean;
  /** Null where the server answers only text. */
  readonly data: Json;
}

interface OfficialClient {
  connect(transport: object): Promise<void>;
  listTools(): Promise<{ tools: readonly JsonObject[] }>;
  callTool(call: object): Promise<JsonObject>;
  close(): Promise<void>;
}

export class McpBrowser implements AsyncDisposable {
  private constructor(private readonly client: OfficialClient) {}

  static async open(url: string): Promise<McpBrowser> {
    const module = join(needMcpClients(), 'node_modules/@modelcontextprotocol/client/dist/index.mjs');
    const { Client, StreamableHTTPClientTransport } = await import(module);
    const client = new Client({ name: 'test', version: '1' }, {}) as OfficialClient;
    // A kept connection would look like a leak of the daemon.
    const once = (input: string, init: RequestInit) => fetch(input, { ...init, keepalive: false });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: once }));
    return new McpBrowser(client);
  }

  async tools(): Promise<readonly JsonObject[]> {
    return (await this.client.listTools()).tools;
  }

  async request(name: string, input: object = {}): Promise<ToolResult> {
    const { content, isError, structuredContent } = await this.client.callTool({ name, arguments: input });
    const parts = content as readonly JsonObject[];
    const text = parts.map((part) => (part['type'] === 'text' ? String(part['text']) : '')).join('');
    return { text, content: parts, isError: isError === true, data: structuredContent ?? null };
  }

  /** Throws when the tool fails. */
  async call(name: string, input: object = {}): Promise<ToolResult> {
    const result = await this.request(name, input);
    if (result.isError) throw new Error(`${name} ${JSON.stringify(input)}: ${result.text}`);
    return result;
  }

  /** The text of an answer. */
  async text(name: string, input: object = {}): Promise<string> {
    return (await this.call(name, input)).text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

const lineOfNode = /^\s*(\w+)(?: ("(?:[^"\\]|\\.)*"))?((?: \[[^\]]*\])*)(?:: (.*))?$/;

/** The nodes that a text of the server shows. */
export function nodesIn(text: string): SnapshotNode[] {
  return text.split('\n').flatMap((line) => {
    // A match of a query ends with the place.
    const [whole, role = '', name, states = '', value] = lineOfNode.exec(line.replace(/(\]) in \w+ ".*"$/, '$1')) ?? [];
    if (whole === undefined) return [];
    const index = /\[(\d+)\]/.exec(states)?.[1];
    const shown = name === undefined ? (role === 'text' ? (value ?? '') : '') : (JSON.parse(name) as string);
    return [{ role, name: shown, ...(index !== undefined && { ref: index }) }];
  });
}

const wholeBytes = 262_144;

/** The tab in the foreground, by the tools. A ref is an index here. The server answers structured content. */
export class McpTab implements TaskTab {
  constructor(private readonly browser: McpBrowser) {}

  in(): McpTab {
    return this;
  }

  navigate(url: string): Promise<JsonObject> {
    return this.#ok('navigate', { url });
  }

  async snapshot({ wait_for: condition }: { wait_for?: object } = {}): Promise<SnapshotNode> {
    if (condition !== undefined) await this.browser.call('browser_wait_for', condition);
    const children = nodesIn(await this.browser.text('browser_snapshot', { max_bytes: wholeBytes }));
    return { role: 'page', name: '', children };
  }

  /** What cannot be acted on has an index only where the caller asks for it. */
  async ref(name: string, role?: string): Promise<string> {
    let found: string | undefined;
    await until(`the page shows ${role ?? 'an element'} "${name}"`, async () => {
      const query = { find: name, ...(role !== undefined && { role }) };
      const nodes = nodesIn(await this.browser.text('browser_snapshot', query));
      found = nodes.find((node) => node.name === name && (role !== undefined || node.role !== 'text'))?.ref;
      return found !== undefined;
    });
    return found ?? '';
  }

  async click(name: string, role?: string, options: object = {}): Promise<JsonObject> {
    return await this.clickRef(await this.ref(name, role), options);
  }

  clickRef(ref: string, options: { position?: object; drag_to?: string } = {}): Promise<JsonObject> {
    const { position, drag_to: to, ...others } = options;
    const drag = to === undefined ? {} : { drag_to: Number(to) };
    return this.#ok('click', { index: Number(ref), ...position, ...drag, ...others });
  }

  async hover(name: string, role?: string): Promise<JsonObject> {
    return await this.#ok('hover', { index: Number(await this.ref(name, role)) });
  }

  async fill(name: string, value: string, role?: string): Promise<JsonObject> {
    return await this.#ok('form_input_fill', { index: Number(await this.ref(name, role)), value });
  }

  async upload(name: string, paths: readonly string[]): Promise<JsonObject> {
    return await this.#ok('upload', { index: Number(await this.ref(name)), paths });
  }

  async value(script: string): Promise<Json> {
    return (await this.#ok('evaluate', { script }))['value'];
  }

  async request(tool: string, { ref, timeout: _timeout, ...input }: JsonObject): Promise<JsonObject> {
    const { isError, text } = await this.browser.request(`browser_${tool}`, { index: Number(ref), ...input });
    return { status: isError ? 400 : 200, body: { message: text } };
  }

  async untilDone(): Promise<void> {
    await until('the task is done', async () => (await this.value('window.result')) === 'done');
  }

  async #ok(tool: string, input: object): Promise<JsonObject> {
    const { data, text } = await this.browser.call(`browser_${tool}`, input);
    expect([text, data]).toEqual([text, expect.anything()]);
    return data as JsonObject;
  }
}
