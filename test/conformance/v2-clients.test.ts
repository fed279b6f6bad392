/**
 * What programs send that were written for another 2.x daemon, and what they read: a test suite in Python, command
 * lines in Go and Zig, and a supervisor that speaks MCP. Their requests pass unchanged.
 */
import { afterAll } from 'bun:test';
import { hostname } from 'node:os';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { form, formType } from '../harness/form.ts';
import { callTool, rpc } from '../harness/mcp-client.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { startSite } from '../harness/site.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { until } from '../harness/until.ts';

const chromium = await Chromium.start();
const display = await TestDisplay.start();
const worker = await ComputerWorker.start({ env: display.environment });

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
  await chromium[Symbol.asyncDispose]();
});

/** The request, its body, and what the client reads of `data`. `%name` is a field of an answer before. */
type Call = readonly [route: string, body: object | null, reads: unknown];

/** The Go client sends the key twice; the Zig client names its header in capitals. */
const headers = { authorization: 'Bearer none', 'X-API-KEY': 'none' };

/** `given` are the first values of the names. */
async function replay(sandbox: Sandbox, calls: readonly Call[], given: JsonObject = {}): Promise<void> {
  const said: Record<string, unknown> = { directory: sandbox.directory, ...given };
  const filled = (text: string) => text.replaceAll(/%([a-z_]+)/g, (_all, name: string) => String(said[name]));
  for (const [route, body, reads] of calls) {
    const sent = body === null ? undefined : filled(JSON.stringify(body));
    const { status, body: answer } = await sandbox.request(filled(route), sent, headers);
    const seen = reads === null ? expect.anything() : matching(reads, filled);
    expect([route, status, answer.success, answer.data]).toEqual([route, 200, true, seen]);
    for (const [name, value] of Object.entries(answer.data ?? {})) if (typeof value === 'string') said[name] = value;
  }
}

/** Objects may have more fields than are read, and lists more entries. */
function matching(reads: unknown, filled: (text: string) => string): unknown {
  if (typeof reads === 'string') return filled(reads);
  if (Array.isArray(reads)) return expect.arrayContaining(reads.map((one) => matching(one, filled)));
  if (typeof reads !== 'object' || reads === null) return reads;
  const fields = Object.entries(reads).map(([name, inner]) => [name, matching(inner, filled)]);
  return expect.objectContaining(Object.fromEntries(fields) as object);
}

const commands: readonly Call[] = [
  ['POST /v2/commands', { command: 'echo v2-ok; id -u >/dev/null', timeout: 30 }, { stdout: 'v2-ok\n', exit_code: 0 }],
  ['GET /v2/commands/%command_id?offset=0&stderr_offset=0', null, { stdout: 'v2-ok\n', command: { exit_code: 0 } }],
  ['POST /v2/commands', { command: 'pwd; echo $MARK', cwd: '/', env: { MARK: '42' } }, { stdout: '/\n42\n' }],
  ['POST /v2/commands', { command: 'sleep 0.1; echo done', mode: 'async' }, { status: 'running' }],
  ['GET /v2/commands/%command_id?offset=0&stderr_offset=0&wait=true&wait_timeout=8', null, { stdout: 'done\n' }],
  ['POST /v2/commands', { command: 'read line; echo got:$line', mode: 'async' }, null],
  ['POST /v2/commands/%command_id/stdin', { input: 'hello\n' }, null],
  ['GET /v2/commands/%command_id?wait=true&wait_timeout=5', null, { stdout: 'got:hello\n' }],
  ['POST /v2/commands', { command: 'sleep 120', mode: 'async' }, null],
  ['POST /v2/commands/%command_id/kill', { signal: 'SIGKILL' }, null],
  ['GET /v2/commands/%command_id?wait=true', null, { command: { status: 'killed', exit_code: 137 } }],
  ['POST /v2/commands', { command: 'sleep 2', timeout: 1 }, { status: 'running' }],
  ['POST /v2/commands', { command: 'yes x | head -c 20000', max_output_length: 100 }, null],
  ['POST /v2/commands', { command: 'echo out; echo err >&2' }, { stdout: 'out\n', stderr: 'err\n' }],
  ['POST /v2/commands/sessions', { id: 's1', cwd: '/etc' }, null],
  ['POST /v2/commands', { command: 'cd /var; pwd', session: 's1' }, { stdout: '/var\n' }],
  ['POST /v2/commands', { command: 'pwd', session: 's1' }, { stdout: '/etc\n' }],
  ['GET /v2/commands/sessions', null, { sessions: [{ session_id: 's1' }] }],
  ['DELETE /v2/commands/sessions/s1', null, null],
  ['POST /v2/commands', { command: 'echo $0', shell: 'sh' }, null],
  ['POST /v2/commands', { command: '/bin/echo', args: ['as argv'], shell: 'none' }, { stdout: 'as argv\n' }],
];

const files: readonly Call[] = [
  ['POST /v2/fs/mkdir', { path: '%directory/fs', parents: true }, null],
  ['POST /v2/fs/write', { path: '%directory/fs/a.txt', content: 'one\ntwo\nthree\n' }, null],
  ['GET /v2/fs/read?path=%directory/fs/a.txt', null, { content: 'one\ntwo\nthree\n' }],
  ['GET /v2/fs/read?path=%directory/fs/a.txt&start_line=1&end_line=2', null, { content: 'two\n' }],
  ['GET /v2/fs/stat?path=%directory/fs/a.txt', null, { size: 14 }],
  ['GET /v2/fs/list?path=%directory/fs&recursive=true&show_hidden=false', null, null],
  ['POST /v2/fs/edit', { path: '%directory/fs/a.txt', command: 'str_replace', old_str: 'two', new_str: '2' }, null],
  ['POST /v2/fs/copy', { source: '%directory/fs/a.txt', destination: '%directory/fs/b.txt' }, null],
  ['POST /v2/fs/move', { source: '%directory/fs/b.txt', destination: '%directory/fs/c.txt' }, null],
  ['POST /v2/fs/grep', { path: '%directory/fs', pattern: '^2$', recursive: true }, null],
  ['GET /v2/fs/search?path=%directory/fs&pattern=**/*.txt', null, { files: ['%directory/fs/a.txt'] }],
  ['POST /v2/fs/delete', { path: '%directory/fs/c.txt' }, null],
];

const others: readonly Call[] = [
  ['POST /v2/pty/sessions', { id: 'v2pty', cols: 100, rows: 30, cwd: '/tmp' }, { session_id: 'v2pty' }],
  ['POST /v2/pty/sessions/v2pty/exec', { command: 'echo pty-ok' }, { output: 'pty-ok\n', exit_code: 0 }],
  ['POST /v2/pty/sessions/v2pty/input', { input: 'true', press_enter: true }, null],
  ['PATCH /v2/pty/sessions/v2pty', { cols: 120, rows: 40 }, { cols: 120, rows: 40 }],
  ['GET /v2/pty/sessions/v2pty/screen', null, null],
  ['POST /v2/pty/sessions/v2pty/signal', { signal: 'SIGINT' }, null],
  ['GET /v2/pty/sessions', null, { sessions: { v2pty: { session_id: 'v2pty' } } }],
  ['DELETE /v2/pty/sessions/v2pty', null, null],
  ['POST /v2/watch', { path: '%directory', recursive: true }, { reused: false }],
  ['POST /v2/watch', { path: '%directory', recursive: true }, { watcher_id: '%watcher_id', reused: true }],
  ['GET /v2/watch', null, [{ watcher_id: '%watcher_id', status: 'active', recursive: true, path: '%directory' }]],
  ['DELETE /v2/watch/%watcher_id', null, null],
  ['GET /v2/code/info', null, null],
  ['POST /v2/code/execute', { language: 'python', code: 'print(6*7)', timeout: 30 }, { status: 'ok' }],
  ['POST /v2/code/execute', { language: 'javascript', code: 'console.log(7*6)' }, { status: 'ok' }],
  ['POST /v2/code/sessions', { language: 'python' }, { language: 'python' }],
  ['POST /v2/code/execute', { language: 'python', code: 'x = 11', session_id: '%session_id' }, { status: 'ok' }],
  [
    'POST /v2/code/execute',
    { language: 'python', code: 'print(x*2)', session_id: '%session_id' },
    { outputs: [{ text: '22\n' }] },
  ],
  ['DELETE /v2/code/sessions/%session_id', null, null],
  ['GET /v2/sandbox?_=1', null, { hostname: hostname() }],
  ['GET /v2/sandbox?api_key=none', null, null],
];

test('V2-CLIENTS commands, files, terminals, watchers and code are called and read as before', async ({ sandbox }) => {
  await replay(sandbox, [...commands, ...files, ...others]);
});

test('V2-CLIENTS bytes go up in a form and come down whole, also by ranges and with any Accept', async ({
  sandbox,
}) => {
  const bytes = Buffer.from(Array.from({ length: 4096 }, (_, i) => i % 256));
  const parts = [{ name: 'file', content: bytes, fileName: 'bin.dat' }];
  const path = `${sandbox.directory}/bin.dat`;
  const upload = await sandbox.fetch(`POST /v2/fs/upload?path=${path}`, undefined, {
    body: form(parts) as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': formType },
  });
  expect(((await upload.json()) as JsonObject)['data']).toMatchObject({ file_path: path, file_size: 4096 });
  const accept = { headers: { accept: 'application/json' } };
  const whole = await sandbox.fetch(`GET /v2/fs/download?path=${path}`, undefined, accept);
  expect(Buffer.from(await whole.arrayBuffer())).toEqual(bytes);
  const ranged = { headers: { ...accept.headers, range: 'bytes=0-0' } };
  const first = await sandbox.fetch(`GET /v2/fs/download?path=${path}`, undefined, ranged);
  expect([first.status, first.headers.get('content-range')]).toEqual([206, 'bytes 0-0/4096']);
  await first.arrayBuffer();
  const tree = await sandbox.fetch(`GET /v2/fs/tree?path=${sandbox.directory}`, undefined, accept);
  expect([tree.status, (await tree.arrayBuffer()).byteLength > 4096]).toEqual([200, true]);
});

test('V2-CLIENTS a program that fails is an answer, and JSON is compact', async ({ sandbox }) => {
  const failed = await sandbox.request('POST /v2/code/execute', { language: 'python', code: '1/0' });
  expect([failed.status, failed.body.success]).toEqual([200, false]);
  expect(failed.body.data).toMatchObject({
    status: 'error',
    outputs: expect.arrayContaining([
      expect.objectContaining({ ename: 'ZeroDivisionError', evalue: 'division by zero', traceback: expect.anything() }),
    ]),
  });
  const text = await (await sandbox.fetch('POST /v2/commands', { command: 'true' })).text();
  expect(text).toContain('"exit_code":0');
});

test('V2-CLIENTS a refused field is named in the message, and no refusal mentions replace_mode', async ({
  sandbox,
}) => {
  const tooLong = await sandbox.request('POST /v2/code/execute', { language: 'python', code: '1', timeout: 30_000 });
  expect([tooLong.status, tooLong.body.message]).toEqual([422, expect.stringContaining('timeout')]);
  expect(tooLong.body.hint === null || typeof tooLong.body.hint === 'string').toBe(true);
  const place = { path: `${sandbox.directory}/none`, command: 'str_replace' };
  for (const wanted of [{ old_str: 'a', new_str: 'b', replace_mode: 'ALL' }, { new_str: 'b' }, { old_str: 1 }]) {
    const refused = await sandbox.request('POST /v2/fs/edit', { ...place, ...wanted });
    expect([refused.body.success, JSON.stringify(refused.body)]).toEqual([
      false,
      expect.not.stringContaining('replace_mode'),
    ]);
  }
});

test('V2-CLIENTS a terminal is attached by frames, and changes of files arrive as events', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/pty/sessions', { id: 'shared', cols: 80, rows: 24 });
  const query = 'protocol=json&durable=true&restore=true&replay_bytes=1048576';
  const client = await TerminalClient.attach(sandbox, 'shared', query);
  client.type('echo $((40 + 2))\n');
  await client.sees('42\r\n');
  expect(client.messages.map(({ type }) => type).slice(0, 2)).toEqual(['ready', 'restore_output']);
  await client.close();

  const { watcher_id: id } = await sandbox.ok('POST /v2/watch', { path: sandbox.directory });
  const leaving = new AbortController();
  const events = await sandbox.fetch(`GET /v2/watch/${String(id)}/events`, undefined, { signal: leaving.signal });
  let text = '';
  const reading = (async () => {
    for await (const piece of events.body as unknown as AsyncIterable<Uint8Array>)
      text += Buffer.from(piece).toString();
  })().catch(() => null); // Ends with the signal.
  await sandbox.ok('POST /v2/fs/write', { path: `${sandbox.directory}/new.txt`, content: 'x' });
  await until('the file is reported', () => /event: watch_started[^]*event: file_change[^]*new\.txt/.test(text));
  leaving.abort();
  await reading;
});

const page = `<title>Form</title><h1 id=h>t</h1><input id=i>
  <button id=b onclick="document.getElementById('h').textContent='clicked'">go</button>`;

test(
  'V2-CLIENTS the browser is called and read as before',
  async ({ sandbox }) => {
    const site = startSite({ '/': () => new Response(page, { headers: { 'content-type': 'text/html' } }) });
    const [url, other] = [site.url('/'), site.otherUrl('/')];
    const cookies = {
      cookies: [
        { name: 'v2c', value: '1', url },
        { name: 'far', value: '2', url: other },
      ],
    };
    await replay(
      sandbox,
      [
        ['GET /v2/browser/info', null, null],
        ['POST /v2/browser/navigate', { url: '%site', timeout: 30 }, { url: '%site', title: 'Form' }],
        ['POST /v2/browser/navigate', { url: '%site', wait_until: 'commit' }, { url: '%site' }],
        ['POST /v2/browser/evaluate', { expression: '1+1' }, null],
        ['POST /v2/browser/snapshot', { interactive_only: true }, null],
        ['POST /v2/browser/fill', { selector: '#i', value: 'hello' }, null],
        ['POST /v2/browser/click', { selector: '#b' }, null],
        ['POST /v2/browser/evaluate', { expression: "document.getElementById('h').textContent" }, { value: 'clicked' }],
        ['POST /v2/browser/tabs', { url: 'about:blank' }, { url: 'about:blank' }],
        ['POST /v2/browser/tabs/%tab_id/activate', {}, null],
        ['POST /v2/browser/tabs/%tab_id/activate', null, null],
        ['DELETE /v2/browser/tabs/%tab_id', null, null],
        ['POST /v2/browser/cookies', cookies, { count: 2 }],
        ['POST /v2/browser/cdp', { method: 'Browser.getVersion', browser: true }, null],
      ],
      { site: url },
    );
    const named = async (query: string) =>
      ((await sandbox.ok(`GET /v2/browser/cookies?${query}`)) as unknown as JsonObject[]).map(({ name }) => name);
    expect(await named(`url=${url}&domain=`)).toEqual(['v2c']);
    await sandbox.ok(`DELETE /v2/browser/cookies?name=v2c&url=${url}&domain=&all=false`);
    expect([await named(`url=${url}`), await named(`url=${other}`)]).toEqual([[], ['far']]);

    const { tab_id: back } = await sandbox.ok('POST /v2/browser/tabs', { url });
    await sandbox.ok('POST /v2/browser/tabs', {});
    await sandbox.ok(`POST /v2/browser/tabs/${String(back)}/activate`);
    const [first] = (await sandbox.ok('GET /v2/browser/tabs')) as unknown as JsonObject[];
    expect(first).toMatchObject({ id: back, url });
    const requests = (await sandbox.ok(
      'GET /v2/browser/network/requests?limit=10&clear=false',
    )) as unknown as JsonObject[];
    expect(requests).toContainEqual(expect.objectContaining({ method: 'GET', url, status: 200 }));
    site.stop();
  },
  { env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }) },
);

/** As the command lines name them: `action_type` is added to the keys that a person has given. */
const plain: readonly { readonly action: string; readonly [field: string]: unknown }[] = [
  { action: 'MOVE_TO', x: 20, y: 20 },
  { action: 'MOVE_REL', x_offset: 5, y_offset: 5 },
  { action: 'CLICK', x: 20, y: 20 },
  { action: 'MOUSE_DOWN', button: 'left' },
  { action: 'MOUSE_UP', button: 'left' },
  { action: 'RIGHT_CLICK', x: 20, y: 20 },
  { action: 'DOUBLE_CLICK', x: 20, y: 20 },
  { action: 'DRAG_TO', x: 30, y: 30 },
  { action: 'DRAG_REL', x_offset: 2, y_offset: 2 },
  { action: 'SCROLL', dx: 0, dy: 1 },
  { action: 'TYPING', text: 'a' },
  { action: 'PRESS', key: 'a' },
  { action: 'KEY_DOWN', key: 'shift' },
  { action: 'KEY_UP', key: 'shift' },
  { action: 'HOTKEY', keys: ['ctrl', 'a'] },
  { action: 'WAIT', duration: 0.01 },
  { action: 'SET_CLIPBOARD', text: 'a' },
];
const acts = plain.map((given) => ({ ...given, action_type: given.action }));

test(
  'V2-CLIENTS the desktop takes each action with the name that a person has given beside the type',
  async ({ sandbox }) => {
    const status = { status: 'success' };
    const batch = { actions: acts, include_screenshot: true };
    await replay(sandbox, [
      ['GET /v2/computer/info', null, null],
      ...acts.map((act): Call => ['POST /v2/computer/actions', act, status]),
      ['POST /v2/computer/actions', { action_type: 'CLICK', x: 20, y: 20, coordinate: [20, 20] }, status],
      ['POST /v2/computer/actions/batch', batch, { performed: acts.length, failed_index: null }],
      ['GET /v2/computer/clipboard', null, { text: 'a' }],
      ['GET /v2/computer/windows', null, null],
    ]);
    for (const { action, ...given } of plain) {
      const act = { ...given, action_type: action };
      const called = await callTool(sandbox, 'browser_gui_execute_action', { action: act });
      expect([act, called.isError, called.text]).toEqual([act, false, expect.any(String)]);
    }
  },
  { env: () => worker.environment },
);

test('V2-CLIENTS without a desktop, the refusal says so in a way that programs look for', async ({ sandbox }) => {
  const refused = await sandbox.request('GET /v2/computer/info');
  expect([refused.status, refused.body.message]).toEqual([503, expect.stringMatching(/503|not available/)]);
});

test('V2-CLIENTS MCP begins with the revision of the client, whatever its header says', async ({ sandbox }) => {
  for (const protocolVersion of ['2025-06-18', '2025-11-25']) {
    const begun = await rpc(sandbox, 'initialize', {
      ...{ protocolVersion, capabilities: {} },
      clientInfo: { name: 'client', version: '1' },
    });
    expect(begun.body.result).toMatchObject({ protocolVersion });
  }
  const listed = await rpc(sandbox, 'tools/list', {});
  expect(listed.body.result.tools.length).toBeGreaterThan(5);
});
