/** Calls each operation of v2 once on a real daemon: what is sent and answered becomes the example of its description. */
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { AccessibleDesktop } from './accessible-desktop.ts';
import { archive } from './archive.ts';
import { Chromium } from './chromium.ts';
import { ComputerWorker } from './computer-worker.ts';
import { form, formType } from './form.ts';
import { repositoryRoot, Sandbox, type Json } from './sandbox.ts';
import { startSite } from './site.ts';
import { until } from './until.ts';

export interface Example {
  /** By name, those of the path and those of the query. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** JSON, or the text of another answer; absent for bytes and sockets. */
  readonly answer?: unknown;
}

export type Examples = Readonly<Record<string, Example>>;

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly schema: ValueSchema }[];
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const page = `<title>Sign up</title><label>Name <input id="name"></label><input type="file" id="file">
  <button onclick="document.title = 'Done'">Sign up</button>`;

/** `@` is the directory of the sandbox, `$` the site, `%name` what an answer before has said. */
type Call = readonly [operation: string, route: string, body?: unknown];

const commands: readonly Call[] = [
  ['commands.run', 'POST /v2/commands', { command: 'echo hello', command_id: 'greet' }],
  ['commands.read', 'GET /v2/commands/greet?offset=0'],
  ['commands.list', 'GET /v2/commands?status=completed'],
  ['commands.create_session', 'POST /v2/commands/sessions', { id: 'work', cwd: '@', env: { STAGE: 'test' } }],
  ['commands.list_sessions', 'GET /v2/commands/sessions'],
  ['commands.delete_session', 'DELETE /v2/commands/sessions/work'],
  ['', 'POST /v2/commands', { command: 'cat', mode: 'async', command_id: 'copy' }],
  ['commands.write_stdin', 'POST /v2/commands/copy/stdin', { input: 'hello\n' }],
  ['', 'POST /v2/commands', { command: 'top', mode: 'async', command_id: 'top', terminal: { cols: 80, rows: 24 } }],
  ['commands.resize', 'POST /v2/commands/top/resize', { cols: 120, rows: 40 }],
  ['', 'DELETE /v2/commands/top'],
  ['commands.kill', 'POST /v2/commands/copy/kill', { signal: 'SIGTERM' }],
  ['commands.delete', 'DELETE /v2/commands/copy'],
];

const files: readonly Call[] = [
  ['files.mkdir', 'POST /v2/fs/mkdir', { path: '@/project/src', parents: true }],
  ['files.write', 'POST /v2/fs/write', { path: '@/project/src/main.py', content: 'print("hello")\n' }],
  ['files.read', 'GET /v2/fs/read?path=@/project/src/main.py'],
  ['files.stat', 'GET /v2/fs/stat?path=@/project/src/main.py'],
  [
    'files.edit',
    'POST /v2/fs/edit',
    { path: '@/project/src/main.py', command: 'str_replace', old_str: 'hello', new_str: 'hello, world' },
  ],
  ['files.list', 'GET /v2/fs/list?path=@/project&recursive=true'],
  ['files.search', 'GET /v2/fs/search?path=@/project&pattern=*.py'],
  ['files.grep', 'POST /v2/fs/grep', { path: '@/project', pattern: 'hello', include: '*.py' }],
  ['files.copy', 'POST /v2/fs/copy', { source: '@/project/src', destination: '@/project/copy' }],
  ['files.move', 'POST /v2/fs/move', { source: '@/project/copy', destination: '@/project/moved' }],
  ['files.delete', 'POST /v2/fs/delete', { path: '@/project/moved', recursive: true }],
  ['files.download', 'GET /v2/fs/download?path=@/project/src/main.py'],
  ['files.pack', 'GET /v2/fs/tree?path=@/project&format=tar.gz'],
];

const watches: readonly Call[] = [
  ['watch.create', 'POST /v2/watch', { path: '@/project', debounce: 50 }],
  ['watch.list', 'GET /v2/watch'],
  ['', 'POST /v2/fs/write', { path: '@/project/notes.txt', content: 'one\n' }],
  ['watch.poll', 'GET /v2/watch/%watcher_id/poll?cursor=0&timeout=10'],
];

const terminals: readonly Call[] = [
  ['terminals.create', 'POST /v2/pty/sessions', { id: 'shell', name: 'Build', cwd: '@', cols: 80, rows: 24 }],
  ['terminals.exec', 'POST /v2/pty/sessions/shell/exec', { command: 'pwd' }],
  ['terminals.list', 'GET /v2/pty/sessions'],
  ['terminals.get', 'GET /v2/pty/sessions/shell'],
  ['terminals.resize', 'PATCH /v2/pty/sessions/shell', { name: 'Build of main', cols: 120, rows: 40 }],
  ['terminals.input', 'POST /v2/pty/sessions/shell/input', { input: 'sleep 100', press_enter: true }],
  ['terminals.signal', 'POST /v2/pty/sessions/shell/signal', { signal: 'SIGINT' }],
  ['terminals.screen', 'GET /v2/pty/sessions/shell/screen?wait_stable_ms=200'],
  ['terminals.recording', 'GET /v2/pty/sessions/shell/recording'],
  ['terminals.close', 'DELETE /v2/pty/sessions/shell'],
];

const code: readonly Call[] = [
  ['code.info', 'GET /v2/code/info'],
  ['code.create_session', 'POST /v2/code/sessions', { language: 'python', id: 'analysis' }],
  ['code.execute', 'POST /v2/code/execute', { language: 'python', session_id: 'analysis', code: 'x = 6 * 7\nx' }],
  ['code.list_sessions', 'GET /v2/code/sessions'],
  ['code.get_session', 'GET /v2/code/sessions/analysis'],
  ['code.interrupt', 'POST /v2/code/sessions/analysis/interrupt', {}],
  ['code.restart', 'POST /v2/code/sessions/analysis/restart', {}],
  ['code.delete_session', 'DELETE /v2/code/sessions/analysis'],
];

const browser: readonly Call[] = [
  ['browser.open_tab', 'POST /v2/browser/tabs', { url: 'about:blank' }],
  ['browser.navigate', 'POST /v2/browser/navigate', { url: '$/', wait_until: 'load' }],
  ['browser.tabs', 'GET /v2/browser/tabs'],
  ['browser.snapshot', 'GET /v2/browser/snapshot?interactive_only=true'],
  ['browser.snapshot_by_body', 'POST /v2/browser/snapshot', { find: { role: 'button' } }],
  ['browser.fill', 'POST /v2/browser/fill', { selector: '#name', value: 'Ada' }],
  ['browser.upload', 'POST /v2/browser/upload', { selector: '#file', paths: ['@/project/notes.txt'] }],
  ['browser.click', 'POST /v2/browser/click', { role: 'button', name: 'Sign up' }],
  ['browser.evaluate', 'POST /v2/browser/evaluate', { expression: 'document.title' }],
  ['browser.screenshot', 'GET /v2/browser/screenshot?format=jpeg&quality=60'],
  ['browser.set_cookies', 'POST /v2/browser/cookies', { cookies: [{ name: 'theme', value: 'dark', url: '$/' }] }],
  ['browser.cookies', 'GET /v2/browser/cookies?url=$/'],
  ['browser.clear_cookies', 'DELETE /v2/browser/cookies?name=theme'],
  ['browser.requests', 'GET /v2/browser/network/requests?limit=5'],
  ['browser.info', 'GET /v2/browser/info'],
  ['browser.cdp_url', 'GET /v2/browser/cdp'],
  ['browser.cdp', 'POST /v2/browser/cdp', { method: 'Browser.getVersion', browser: true }],
  ['browser.activate_tab', 'POST /v2/browser/tabs/%tab_id/activate'],
  ['browser.close_tab', 'DELETE /v2/browser/tabs/%tab_id'],
];

const desktop: readonly Call[] = [
  ['desktop.info', 'GET /v2/computer/info'],
  ['desktop.cursor', 'GET /v2/computer/cursor'],
  ['desktop.windows', 'GET /v2/computer/windows'],
  ['desktop.act', 'POST /v2/computer/actions', { action_type: 'SET_CLIPBOARD', text: 'hello' }],
  ['desktop.clipboard', 'GET /v2/computer/clipboard'],
  [
    'desktop.batch',
    'POST /v2/computer/actions/batch',
    { actions: [{ action_type: 'MOVE_TO', x: 200, y: 120 }, { action_type: 'CLICK' }] },
  ],
  ['desktop.screenshot', 'GET /v2/computer/screenshot?format=jpeg&scale_to=640x400'],
  ['desktop.changes', 'GET /v2/computer/changes?wait_seconds=5'],
  ['desktop.accessibility', 'GET /v2/computer/accessibility?scope=desktop&max_depth=3&timeout_ms=30000'],
  ['desktop.nodes', 'GET /v2/computer/accessibility/nodes?scope=desktop&role=push%20button&timeout_ms=30000'],
  ['desktop.record', 'POST /v2/computer/record', { action: 'status' }],
  ['desktop.config', 'POST /v2/computer/config', {}],
  ['desktop.action', 'POST /v2/browser/actions', { action_type: 'MOVE_TO', x: 100, y: 100 }],
  ['desktop.browser_config', 'POST /v2/browser/config', {}],
];

const operations: readonly Call[] = [
  ['operations.sandbox', 'GET /v2/sandbox'],
  ['operations.packages', 'GET /v2/sandbox/packages?lang=python&name=pip'],
  ['operations.activity', 'GET /v2/activity?limit=1'],
  ['operations.health', 'GET /health'],
  ['operations.metrics', 'GET /metrics'],
  ['operations.home', 'GET /'],
  ['operations.console_view', 'GET /console/terminal'],
  ['operations.internal_auth', 'GET /internal/auth'],
  ['operations.openapi', 'GET /openapi.json'],
  ['operations.openapi_v2', 'GET /v2/openapi.json'],
  ['operations.routes', 'GET /v2'],
  ['operations.llms_txt', 'GET /llms.txt'],
  ['mcp.message', 'POST /mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }],
];

/** Sockets answer no JSON. */
const sockets: Examples = {
  'terminals.attach': { parameters: { id: 'shell', durable: true, restore: true } },
  'terminals.shell': { parameters: { protocol: 'binary', cols: 120, rows: 40 } },
  'desktop.live': { parameters: {} },
  'browser.live': { parameters: { tab_id: '7A51C1F0E2B84A0C9C1D2E3F4A5B6C7D' } },
};

export async function recordExamples({ paths }: Description): Promise<Examples> {
  await using session = await AccessibleDesktop.start();
  await using worker = await ComputerWorker.start({ env: session.environment });
  await using chromium = await Chromium.start();
  const site = startSite({ '/': () => new Response(page, { headers: { 'content-type': 'text/html' } }) });
  await session.open('Station', 2);
  const env = { ...chromium.environment, SVC_COMPUTER_USE_URL: worker.url, SVC_BROWSER_IDLE_SECONDS: '1' };
  const sandbox = await Sandbox.start({ env });
  try {
    const recorder = new Recorder(sandbox, site.url('').replace(/\/$/, ''), paths);
    for (const call of [...commands, ...files]) await recorder.record(call);
    await recorder.upload();
    for (const call of watches) await recorder.record(call);
    await recorder.events();
    for (const call of [...terminals, ...code, ...browser, ...desktop, ...operations]) await recorder.record(call);
    return { ...recorder.examples, ...sockets };
  } finally {
    site.stop();
    await sandbox.close();
  }
}

class Recorder {
  readonly examples: Record<string, Example> = {};
  readonly #said = new Map<string, string>();

  constructor(
    private readonly sandbox: Sandbox,
    private readonly origin: string,
    private readonly paths: Description['paths'],
  ) {}

  async record([operation, route, body]: Call): Promise<void> {
    const [method = '', target = ''] = this.#filled(route).split(' ');
    const given = body === undefined ? undefined : (JSON.parse(this.#filled(JSON.stringify(body))) as object);
    const response = await this.sandbox.fetch(`${method} ${target}`, given);
    const answer = await answerOf(response);
    if (!response.ok) throw new Error(`${route}: ${response.status} ${JSON.stringify(answer)}`);
    const { watcher_id: watcherId, tab_id: tabId } = ((answer as Json)?.data ?? {}) as Record<string, string>;
    if (watcherId !== undefined) this.#said.set('watcher_id', watcherId);
    if (tabId !== undefined) this.#said.set('tab_id', tabId);
    if (operation !== '') this.#keep(operation, method, target, given, answer);
  }

  /** A form and an archive are bodies of bytes, of which the fields are the example. */
  async upload(): Promise<void> {
    const parts = [{ name: 'file', content: 'a,b\n1,2\n', fileName: 'data.csv' }];
    const place = `/v2/fs/upload?path=${this.sandbox.directory}/project/data.csv`;
    const init = { body: form(parts) as Uint8Array<ArrayBuffer>, headers: { 'content-type': formType } };
    const uploaded = await this.sandbox.fetch(`POST ${place}`, undefined, init);
    this.#keep('files.upload', 'POST', place, undefined, await uploaded.json());
    mkdirSync(`${this.sandbox.directory}/unpacked`);
    const tar = {
      body: archive([{ name: 'a.txt', content: 'a\n' }]) as Uint8Array<ArrayBuffer>,
      headers: { 'content-type': 'application/x-tar' },
    };
    const target = `/v2/fs/tree?path=${this.sandbox.directory}/unpacked`;
    const unpacked = await this.sandbox.fetch(`PUT ${target}`, undefined, tar);
    this.#keep('files.unpack', 'PUT', target, undefined, await unpacked.json());
  }

  /** The first event of a stream, then the end of its watcher. */
  async events(): Promise<void> {
    const id = this.#said.get('watcher_id') ?? '';
    const target = `/v2/watch/${id}/events?cursor=0`;
    const leaving = new AbortController();
    const stream = await this.sandbox.fetch(`GET ${target}`, undefined, { signal: leaving.signal });
    let text = '';
    const reading = (async () => {
      for await (const piece of stream.body as unknown as AsyncIterable<Uint8Array>)
        text += Buffer.from(piece).toString();
    })().catch(() => null); // Ends with the signal.
    await until('an event arrives', () => text.includes('event: file_change') && text.endsWith('\n\n'));
    leaving.abort();
    await reading;
    const [, event = '', data = ''] = /event: (watch_started)\ndata: (.*)\n/.exec(text) ?? [];
    this.#keep('watch.events', 'GET', target, undefined, { event, data });
    await this.record(['watch.stop', 'DELETE /v2/watch/%watcher_id']);
  }

  #filled(text: string): string {
    const named = text.replaceAll(/%([a-z_]+)/g, (whole, name: string) => this.#said.get(name) ?? whole);
    return named.replaceAll('@', this.sandbox.directory).replaceAll('$', this.origin);
  }

  #keep(operation: string, method: string, target: string, body: object | undefined, answer: unknown): void {
    const [path = '', query = ''] = target.split('?');
    const [template, methods] =
      Object.entries(this.paths).find(([, all]) => all[method.toLowerCase()]?.operationId === operation) ?? [];
    if (template === undefined || !methods) throw new Error(`${operation} is not described`);
    const { parameters = [] } = methods[method.toLowerCase()]!;
    const names = Array.from(template.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
    const values = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(path)?.slice(1) ?? [];
    const given = [...names.map((name, at) => [name, values[at] ?? '']), ...new URLSearchParams(query)] as [
      string,
      string,
    ][];
    const typed = given.map(([name, value]) => {
      return [name, typedValue(value, parameters.find((one) => one.name === name)?.schema ?? {})];
    });
    this.examples[operation] = this.#plain({
      parameters: Object.fromEntries(typed),
      ...(body !== undefined && { body }),
      ...(answer !== undefined && { answer: operation.startsWith('operations.openapi') ? beginOf(answer) : answer }),
    }) as Example;
  }

  /** Without what is of this run alone, and short. */
  #plain(value: unknown, name = ''): unknown {
    if (Array.isArray(value)) return value.slice(0, maxEntries).map((entry) => this.#plain(entry, name));
    if (typeof value === 'object' && value !== null) {
      const fields = Object.entries(value).slice(0, maxFields);
      return Object.fromEntries(fields.map(([field, inner]) => [this.#text(field), this.#plain(inner, field)]));
    }
    if (typeof value === 'number') return usual[name] ?? value;
    return typeof value === 'string' ? this.#text(value) : value;
  }

  #text(text: string): string {
    const named = text
      .replaceAll(`${this.sandbox.directory}-home/root`, '/home/user')
      .replaceAll(this.sandbox.directory, '/home/user/work')
      .replaceAll(new RegExp(`${repositoryRoot}\\S*/(\\w+)`, 'g'), '/usr/bin/$1')
      .replaceAll(/\/tmp\/\.boxkeep-\w+\/\w+/g, '/tmp/.boxkeep-1/1')
      .replaceAll(new RegExp(`\\b${hostname()}\\b`, 'g'), 'sandbox')
      .replaceAll(this.origin, 'http://127.0.0.1:8000')
      .replaceAll(new URL(this.sandbox.url).host, '127.0.0.1:18091')
      .replaceAll(/\b(\d+\.\d+\.\d+)-alpha\.\d+/g, '$1')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-11-20T12:00:00.000Z')
      .replaceAll(/\b(cmd|pty|watch|code|one|req|sbx|ses)_(?=[a-z]*\d)[a-z\d_]+/g, '$1_1');
    return named.length > maxCharacters ? `${named.slice(0, maxCharacters)}…` : named;
  }
}

interface ValueSchema {
  readonly type?: string;
  readonly anyOf?: readonly ValueSchema[];
}

function typedValue(text: string, { type, anyOf = [] }: ValueSchema): unknown {
  const types = new Set([type, ...anyOf.map((one) => one.type)]);
  if (types.has('boolean')) return text === 'true';
  return types.has('integer') || types.has('number') ? Number(text) : text;
}

/** A description of half a megabyte is no example. */
function beginOf(document: unknown): unknown {
  const { openapi, info } = document as Record<string, unknown>;
  return { openapi, info };
}

const [maxEntries, maxFields, maxCharacters] = [2, 60, 200];

/** Numbers that differ from run to run. */
const usual: Readonly<Record<string, number>> = {
  ...{ pid: 812, process_id: 900, duration_ms: 3, uptime_s: 12.5, inode: 4711, uid: 1000, gid: 1000 },
  ...{ timestamp: 1_763_640_000.5, mtime: 1_763_640_000.5 },
};

/** Bytes are no example. */
async function answerOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json') && !type.includes('asciicast')) return await response.json();
  const text = await response.text();
  return type.startsWith('text/') || type.includes('asciicast') ? text : undefined;
}
