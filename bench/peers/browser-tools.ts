/** Drives a page through the tools of four MCP servers, and counts the tokens that a model sends and reads. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { freeFixedPort } from '../../test/harness/free-port.ts';
import { npmPackages } from '../install.ts';
import type { Limit } from '../limit.ts';
import type { Field } from '../rows/row.ts';
import { openBrowserMcp } from './browser-mcp.ts';
import { HttpMcp } from './http-mcp.ts';
import type { McpReply } from './mcp.ts';
import { McpServer } from './stdio-mcp.ts';

/** The tools of one server, by what a task needs. Each call is one tool call of a model. */
export interface BrowserTools extends AsyncDisposable {
  readonly name: string;
  /** Tokens of all calls and answers so far. */
  readonly tokens: number;
  navigate(url: string): Promise<void>;
  /** The whole page, as a model reads it. */
  snapshot(): Promise<string>;
  /** An element is named by role and name, which a server without such names looks up in its last answers. */
  click(role: string, name: string): Promise<void>;
  fill(role: string, name: string, value: string): Promise<void>;
  /** The last text of the page that the model has. */
  readonly seen: string;
}

type Ask = (tool: string, input: object) => Promise<McpReply>;

abstract class CountedTools implements BrowserTools {
  abstract readonly name: string;
  tokens = 0;
  seen = '';

  constructor(
    private readonly ask: Ask,
    private readonly closing: AsyncDisposableStack,
  ) {}

  abstract navigate(url: string): Promise<void>;
  abstract snapshot(): Promise<string>;
  abstract click(role: string, name: string): Promise<void>;
  abstract fill(role: string, name: string, value: string): Promise<void>;

  protected async call(tool: string, input: object): Promise<string> {
    const { text } = await this.ask(tool, input);
    this.tokens += encode(JSON.stringify({ name: tool, arguments: input })).length + encode(text).length;
    return text;
  }

  /** A model that cannot name the element by what it has read takes a snapshot. */
  protected async find(pattern: RegExp): Promise<string> {
    const found = pattern.exec(this.seen)?.[1] ?? pattern.exec(await this.snapshot())?.[1];
    if (found === undefined) throw new Error(`${this.name} shows nothing that matches ${pattern}: ${this.seen}`);
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closing[Symbol.asyncDispose]();
  }
}

class Boxkeep extends CountedTools {
  readonly name = 'boxkeep';

  async navigate(url: string): Promise<void> {
    this.seen = await this.call('browser_navigate', { url });
  }

  async snapshot(): Promise<string> {
    return (this.seen = await this.call('browser_snapshot', { max_bytes: 262_144 }));
  }

  async click(role: string, name: string): Promise<void> {
    this.seen = await this.call('browser_click', { role, name });
  }

  async fill(role: string, name: string, value: string): Promise<void> {
    this.seen = await this.call('browser_fill', { role, name, value });
  }
}

class BrowserMcp extends CountedTools {
  readonly name = 'browser-mcp';

  async navigate(url: string): Promise<void> {
    await this.call('browser_navigate', { url });
    await this.list();
  }

  /** The text of the page, without its elements. */
  async snapshot(): Promise<string> {
    return (this.seen = await this.call('browser_get_markdown', {}));
  }

  async click(_role: string, name: string): Promise<void> {
    await this.call('browser_click', { index: await this.#index(name) });
    this.seen = await this.call('browser_get_text', {});
  }

  async fill(role: string, name: string, value: string): Promise<void> {
    // The list names fields by their attributes only.
    const selector = role === 'combobox' ? 'select' : `[aria-label="${name}"]`;
    if (role === 'combobox') await this.call('browser_select', { selector, value });
    else await this.call('browser_form_input_fill', { selector, value, clear: true });
  }

  #elements = '';

  async list(): Promise<void> {
    this.#elements = await this.call('browser_get_clickable_elements', {});
  }

  async #index(name: string): Promise<number> {
    const pattern = new RegExp(`\\[(\\d+)\\] [^\\n]*>${name}<`);
    if (!pattern.test(this.#elements)) await this.list();
    const [, index] = pattern.exec(this.#elements) ?? [];
    if (index === undefined) throw new Error(`no element ${name} in ${this.#elements}`);
    return Number(index);
  }
}

class Playwright extends CountedTools {
  readonly name = 'playwright-mcp';

  async navigate(url: string): Promise<void> {
    this.seen = await this.call('browser_navigate', { url });
  }

  async snapshot(): Promise<string> {
    return (this.seen = await this.call('browser_snapshot', {}));
  }

  async click(role: string, name: string): Promise<void> {
    this.seen = await this.call('browser_click', { element: name, target: await this.#ref(role, name) });
  }

  async fill(role: string, name: string, value: string): Promise<void> {
    const element = { element: name, target: await this.#ref(role, name) };
    if (role === 'combobox') await this.call('browser_select_option', { ...element, values: [value] });
    else await this.call('browser_type', { ...element, text: value });
  }

  #ref(role: string, name: string): Promise<string> {
    return this.find(new RegExp(`${role} "${name}".*\\bref=([^\\],\\s]+)`));
  }
}

class DevTools extends CountedTools {
  readonly name = 'chrome-devtools-mcp';

  async navigate(url: string): Promise<void> {
    await this.call('navigate_page', { type: 'url', url });
    this.seen = '';
  }

  async snapshot(): Promise<string> {
    return (this.seen = await this.call('take_snapshot', {}));
  }

  async click(role: string, name: string): Promise<void> {
    const uid = await this.#uid(role, name);
    this.seen = await this.call('click', { uid, includeSnapshot: true });
  }

  async fill(role: string, name: string, value: string): Promise<void> {
    await this.call('fill', { uid: await this.#uid(role, name), value });
  }

  #uid(role: string, name: string): Promise<string> {
    return this.find(new RegExp(`uid=(\\S+) ${role} "${name}"`));
  }
}

interface Place {
  /** The debugging port of the Chromium. */
  readonly port: number;
  readonly limit: Limit | null;
}

const playwrightRelease = '@playwright/mcp@0.0.83';
const devToolsRelease = 'chrome-devtools-mcp@1.11.0';

export const browserToolsPeers = [
  { name: 'boxkeep', open: openBoxkeep },
  { name: 'browser-mcp', open: openFormer },
  { name: 'playwright-mcp', open: openPlaywright },
  { name: 'chrome-devtools-mcp', open: openDevTools },
];

async function openBoxkeep({ port }: Place, field: Pick<Field, 'openBoxkeepIn'>): Promise<BrowserTools> {
  const stack = new AsyncDisposableStack();
  const mcpPort = String(freeFixedPort());
  const variables = { BROWSER_REMOTE_DEBUGGING_PORT: String(port), SVC_BROWSER_MCP_PORT: mcpPort };
  stack.use(await field.openBoxkeepIn(variables));
  const server = new HttpMcp(`http://127.0.0.1:${mcpPort}/mcp`);
  return new Boxkeep((tool, input) => server.call(tool, input), stack);
}

async function openFormer({ port, limit }: Place): Promise<BrowserTools> {
  const stack = new AsyncDisposableStack();
  const server = new HttpMcp(await openBrowserMcp(stack, limit, port));
  return new BrowserMcp((tool, input) => server.call(tool, input), stack);
}

async function openPlaywright({ port, limit }: Place): Promise<BrowserTools> {
  const file = '@playwright/mcp/cli.js';
  const script = join(
    npmPackages({ name: playwrightRelease.replaceAll('/', '-'), packages: [playwrightRelease], file }),
    file,
  );
  const { ask, stack } = await openStdio(['node', script, '--cdp-endpoint', `http://127.0.0.1:${port}`], limit);
  return new Playwright(ask, stack);
}

async function openDevTools({ port, limit }: Place): Promise<BrowserTools> {
  const file = 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js';
  const script = join(npmPackages({ name: devToolsRelease, packages: [devToolsRelease], file }), file);
  const flags = ['--browserUrl', `http://127.0.0.1:${port}`, '--no-pageIdRouting', '--no-usage-statistics'];
  const { ask, stack } = await openStdio(['node', script, ...flags], limit);
  return new DevTools(ask, stack);
}

async function openStdio(
  command: readonly string[],
  limit: Limit | null,
): Promise<{ ask: Ask; stack: AsyncDisposableStack }> {
  const stack = new AsyncDisposableStack();
  // The servers write their logs into their working directory.
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-bench-'));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const server = stack.use(new McpServer(command, { directory, limit }));
  await server.initialize();
  return { ask: (tool, input) => server.ask(tool, input), stack };
}
