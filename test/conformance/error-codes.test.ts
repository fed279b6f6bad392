/** Every error code, provoked through each surface that can raise it. v1 has no codes, so its status counts. */
import { afterAll, beforeAll, expect } from 'bun:test';
import { existsSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chromium } from '../harness/chromium.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { fillDisk, onSmallDisk } from '../harness/full-disk.ts';
import { withoutInterpreters } from '../harness/hidden-interpreters.ts';
import { callTool, post, rpc } from '../harness/mcp-client.ts';
import { test, type Sandbox, type SandboxOptions } from '../harness/sandbox.ts';
import { startSite, type Site } from '../harness/site.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  chromium = await Chromium.start();
  site = startSite({ '/never': () => new Promise<Response>(() => null) });
});

afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  site.stop();
});

type Headers = Record<string, string>;

/** In calls and bodies, `@` is the directory of the test and `$` the site. */
type Route = readonly [status: number, call: string, body?: object | string | undefined, headers?: Headers];

/** A code with the routes and the tool calls that provoke it. */
interface Row {
  readonly code: string;
  readonly routes: readonly Route[];
  /** A failed file operation of v1, which is 200 as in 1.x. */
  readonly handled?: readonly (readonly [call: string, body: object])[];
  readonly tools?: readonly (readonly [tool: string, input: object])[];
}

const files = 'sandbox_file_operations';
const editor = 'sandbox_str_replace_editor';
const bash = 'sandbox_execute_bash';
const foreign = { origin: 'http://evil.example' };
const packed = { 'content-encoding': 'br' };
const many = Array.from({ length: 10_001 }, () => 1);
const missing = '/nowhere/x';

const general: readonly Row[] = [
  {
    code: 'malformed_request',
    routes: [
      [400, 'POST /v2/commands', '{'],
      [400, 'POST /v1/bash/exec', '{'],
    ],
  },
  {
    code: 'forbidden',
    routes: [
      [403, 'GET /v2/commands', undefined, foreign],
      [403, 'GET /v1/bash/sessions', undefined, foreign],
    ],
  },
  {
    code: 'route_not_found',
    routes: [
      [404, 'GET /v2/nothing'],
      [404, 'GET /v1/nothing'],
    ],
  },
  {
    code: 'method_not_allowed',
    routes: [
      [405, 'PUT /v2/commands'],
      [405, 'PUT /v1/bash/sessions'],
    ],
  },
  {
    code: 'body_too_large',
    routes: [
      [413, 'POST /v2/commands', { args: many }],
      [413, 'POST /v1/bash/exec', { args: many }],
    ],
  },
  {
    code: 'unsupported_coding',
    routes: [
      [415, 'POST /v2/commands', {}, packed],
      [415, 'POST /v1/bash/exec', {}, packed],
    ],
  },
  {
    code: 'invalid_input',
    routes: [
      [422, 'POST /v2/commands', {}],
      [422, 'POST /v1/bash/exec', {}],
    ],
    tools: [[files, {}]],
  },
  {
    code: 'upgrade_required',
    routes: [
      [426, 'GET /v2/pty/ws'],
      [426, 'GET /v1/shell/ws'],
    ],
  },
  {
    code: 'bad_argument',
    routes: [
      [400, 'POST /v2/commands', { command: 'a', cwd: missing }],
      [400, 'POST /v1/bash/exec', { command: 'a', exec_dir: missing }],
    ],
    tools: [[bash, { cmd: 'true', cwd: missing, new_session: true }]],
  },
  { code: 'command_not_found', routes: [[404, 'GET /v2/commands/absent']] },
  {
    code: 'session_not_found',
    routes: [
      [404, 'DELETE /v2/commands/sessions/absent'],
      [404, 'POST /v1/bash/output', { session_id: 'absent' }],
    ],
  },
  {
    code: 'watcher_not_found',
    routes: [
      [404, 'DELETE /v2/watch/absent'],
      [404, 'DELETE /v1/file/watch/absent'],
    ],
  },
  {
    code: 'terminal_not_found',
    routes: [
      [404, 'DELETE /v2/pty/sessions/absent'],
      [404, 'DELETE /v1/shell/sessions/absent'],
    ],
    tools: [[bash, { cmd: 'true', session_id: 'absent' }]],
  },
  {
    code: 'kernel_unknown',
    routes: [[422, 'POST /v2/code/execute', { language: 'python', code: '1', kernel: 'absent' }]],
  },
  {
    code: 'unavailable',
    routes: [
      [503, 'POST /v2/commands', { command: 'a', shell: 'powershell' }],
      [503, 'GET /v1/browser/info'],
    ],
    tools: [['browser_get_info', {}]],
  },
  {
    code: 'file_not_found',
    routes: [
      [404, `GET /v2/fs/read?path=${missing}`],
      [404, `GET /v1/file/download?path=${missing}`],
    ],
    handled: [['POST /v1/file/read', { file: missing }]],
    tools: [[files, { action: 'read', path: missing }]],
  },
  {
    code: 'file_exists',
    routes: [[409, 'POST /v2/fs/mkdir', { path: '@' }]],
    handled: [['POST /v1/file/mkdir', { path: '@' }]],
  },
  {
    code: 'file_invalid_target',
    routes: [
      [400, 'GET /v2/fs/read?path=@'],
      [400, 'GET /v1/file/download?path=@'],
    ],
    handled: [['POST /v1/file/read', { file: '@' }]],
    tools: [[files, { action: 'read', path: '@' }]],
  },
  {
    code: 'file_invalid_path',
    routes: [
      [400, 'GET /v2/fs/read?path=@/text/x'],
      [400, 'GET /v1/file/download?path=@/text/x'],
    ],
    handled: [['POST /v1/file/read', { file: '@/text/x' }]],
    tools: [[files, { action: 'read', path: '@/text/x' }]],
  },
  {
    code: 'file_bad_request',
    routes: [[400, 'POST /v2/fs/edit', { path: '@/text', command: 'str_replace', old_str: 'absent', new_str: '' }]],
    tools: [[editor, { path: '@/text', command: 'str_replace', old_str: 'absent', new_str: '' }]],
  },
  {
    code: 'file_not_text',
    routes: [[422, 'GET /v2/fs/read?path=@/binary']],
    handled: [['POST /v1/file/read', { file: '@/binary' }]],
    tools: [[files, { action: 'read', path: '@/binary' }]],
  },
  {
    code: 'file_too_large',
    routes: [[413, 'GET /v2/fs/read?path=@/huge']],
    handled: [['POST /v1/file/read', { file: '@/huge' }]],
  },
  {
    code: 'file_io_error',
    routes: [
      [500, 'GET /v2/fs/download?path=/proc/self/mem'],
      [500, 'GET /v1/file/download?path=/proc/self/mem'],
    ],
  },
  {
    code: 'precondition_failed',
    routes: [[409, 'POST /v2/fs/write', { path: '@/text', content: '', if_match: '"other"' }]],
  },
  {
    code: 'range_not_satisfiable',
    routes: [
      [416, 'GET /v2/fs/download?path=@/text', undefined, { range: 'bytes=100-' }],
      [416, 'GET /v1/file/download?path=@/text', undefined, { range: 'bytes=100-' }],
    ],
  },
];

const browser: readonly Row[] = [
  {
    code: 'tab_not_found',
    routes: [
      [404, 'DELETE /v2/browser/tabs/absent'],
      [404, 'DELETE /v1/browser/tabs/absent'],
    ],
  },
  {
    code: 'ref_stale',
    routes: [
      [409, 'POST /v2/browser/click', { ref: 'e1' }],
      [409, 'POST /v1/browser/click', { ref: 'e1' }],
    ],
  },
  {
    code: 'ref_malformed',
    routes: [
      [409, 'POST /v2/browser/click', { ref: 'Sign in' }],
      [409, 'POST /v1/browser/click', { ref: 'Sign in' }],
    ],
  },
  {
    code: 'page_timeout',
    routes: [
      [504, 'POST /v2/browser/navigate', { url: '$/never', timeout: 0.5 }],
      [504, 'POST /v1/browser/navigate', { url: '$/never', timeout: 0.5 }],
    ],
  },
  {
    code: 'navigation_failed',
    routes: [
      [502, 'POST /v2/browser/navigate', { url: 'http://127.0.0.1:1/' }],
      [502, 'POST /v1/browser/navigate', { url: 'http://127.0.0.1:1/' }],
    ],
  },
];

const capacity: Row = {
  code: 'capacity_reached',
  routes: [
    [429, 'POST /v2/pty/sessions', { id: 'two' }],
    [429, 'POST /v1/shell/sessions/create', { id: 'two' }],
  ],
  tools: [[bash, { cmd: 'true', new_session: true }]],
};

const denied: Row = {
  code: 'file_permission_denied',
  routes: [
    [403, 'GET /v2/fs/read?path=@/closed/x'],
    [403, 'GET /v1/file/download?path=@/closed/x'],
  ],
  handled: [['POST /v1/file/read', { file: '@/closed/x' }]],
  tools: [[files, { action: 'read', path: '@/closed/x' }]],
};

const readOnly: Row = {
  code: 'file_read_only',
  routes: [[403, 'POST /v2/fs/write', { path: '@/disk/x', content: '' }]],
  handled: [['POST /v1/file/write', { file: '@/disk/x', content: '' }]],
  tools: [[files, { action: 'write', path: '@/disk/x', content: '' }]],
};

const full: Row = {
  code: 'no_space_left',
  routes: [
    [507, 'POST /v2/commands', { command: 'true' }],
    [507, 'POST /v1/bash/exec', { command: 'true' }],
  ],
  tools: [[bash, { cmd: 'true' }]],
};

/** On v2, only the routes that need Linux answer this code, on Windows (linux-only.test.ts). */
const noKernels: Row = {
  code: 'not_implemented',
  routes: [[501, 'POST /v1/jupyter/execute', { code: '1' }]],
};

const bug: Row = {
  code: 'internal_error',
  routes: [
    [500, 'POST /v2/commands', { command: 'true' }],
    [500, 'POST /v1/bash/exec', { command: 'true' }],
  ],
};

const keyless: Row = {
  code: 'unauthorized',
  routes: [
    [401, 'GET /v2/commands'],
    [401, 'GET /v1/bash/sessions'],
  ],
};

async function expectRefusals(sandbox: Sandbox, rows: readonly Row[]): Promise<void> {
  const filled = (text: string) =>
    text.replaceAll('@', sandbox.directory).replaceAll('$', site.url('').replace(/\/$/, ''));
  const input = (body: object) => JSON.parse(filled(JSON.stringify(body))) as object;
  for (const { code, routes, handled = [], tools = [] } of rows) {
    for (const [status, call, body, headers = {}] of routes) {
      const given = typeof body === 'object' ? input(body) : body;
      const reply = await sandbox.request(filled(call), given, headers);
      expect([call, reply.status, reply.body.success]).toEqual([call, status, false]);
      if (call.includes(' /v2/')) expect([call, reply.body.data]).toMatchObject([call, { code }]);
      else expect([call, Object.keys(reply.body.data ?? {})]).toEqual([call, expect.not.arrayContaining(['code'])]);
    }
    for (const [call, body] of handled) {
      const reply = await sandbox.request(call, input(body));
      expect([call, reply.status, reply.body]).toMatchObject([
        call,
        200,
        { success: false, data: { errno_name: expect.stringMatching(/^E/) } },
      ]);
    }
    for (const [tool, fields] of tools) {
      const { isError, data } = await callTool(sandbox, tool, input(fields));
      const failure = { code, message: expect.any(String), retryable: expect.any(Boolean) };
      expect([tool, fields, isError, data]).toMatchObject([tool, fields, true, failure]);
    }
  }
}

test('HTTP-CODE requests, commands and files', async ({ sandbox }) => await expectRefusals(sandbox, general), {
  prepare({ directory }) {
    writeFileSync(join(directory, 'text'), 'text\n');
    writeFileSync(join(directory, 'binary'), Buffer.from([0, 1, 0xff]));
    writeFileSync(join(directory, 'huge'), '');
    truncateSync(join(directory, 'huge'), 16 * 1024 ** 2 + 1);
  },
});

test('HTTP-CODE what runs, and what has ended', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/commands', { command: 'true', command_id: 'once' });
  await expectRefusals(sandbox, [
    { code: 'command_id_reused', routes: [[409, 'POST /v2/commands', { command: 'false', command_id: 'once' }]] },
    { code: 'stdin_closed', routes: [[409, 'POST /v2/commands/once/stdin', { input: 'a' }]] },
  ]);

  await sandbox.ok('POST /v2/pty/sessions', { id: 'shell' });
  const reading = join(sandbox.directory, 'reading');
  const typed = sandbox.ok('POST /v2/pty/sessions/shell/exec', { command: `: > ${reading}; read line` });
  // A shell that still reads its command, as that of BusyBox, takes what is typed behind it for the next command.
  await until('the command runs', () => existsSync(reading));
  await expectRefusals(sandbox, [
    {
      code: 'terminal_busy',
      routes: [[409, 'POST /v2/pty/sessions/shell/exec', { command: 'true', on_busy: 'fail' }]],
    },
  ]);
  await sandbox.ok('POST /v2/pty/sessions/shell/input', { input: 'a', press_enter: true });
  await typed;
  // In a session of its own: an end before the prompt would be that of the command, and another shell would follow.
  await sandbox.ok('POST /v2/pty/sessions', { id: 'ended' });
  await sandbox.ok('POST /v2/pty/sessions/ended/input', { input: 'exit', press_enter: true });
  await until('the shell has ended', async () => {
    return (await sandbox.ok('GET /v2/pty/sessions/ended'))['status'] === 'terminated';
  });
  await expectRefusals(sandbox, [
    { code: 'terminal_ended', routes: [[409, 'POST /v2/pty/sessions/ended/input', { input: 'a' }]] },
  ]);
});

test('HTTP-CODE a session that runs another cell', async ({ sandbox }) => {
  const cell = (code: string, timeout: number) => ({ language: 'python', session_id: 's', code, timeout });
  const running = sandbox.request('POST /v2/code/execute', cell('import time\ntime.sleep(1000)', 100));
  await until(
    'the session is busy',
    async () => (await sandbox.request('GET /v2/code/sessions/s')).body.data?.['state'] === 'busy',
  );
  await expectRefusals(sandbox, [
    {
      code: 'session_busy',
      routes: [[409, 'POST /v2/code/execute', cell('1', 0.5)]],
      tools: [['sandbox_execute_code', cell('1', 0.5)]],
    },
  ]);
  await sandbox.ok('POST /v2/code/sessions/s/interrupt');
  await running;
});

test('HTTP-CODE pages of the browser', async ({ sandbox }) => await expectRefusals(sandbox, browser), {
  env: () => ({ ...chromium.environment, SVC_BROWSER_IDLE_SECONDS: '1' }),
});

const alone: readonly (readonly [what: string, row: Row, options: SandboxOptions])[] = [
  ['a terminal too many', capacity, { env: { SVC_SHELL_MAX_SESSIONS: '1' } }],
  [
    'an account that may not read',
    denied,
    asTestAccount({
      prepare({ directory }) {
        mkdirSync(join(directory, 'closed'), { mode: 0o700 });
        writeFileSync(join(directory, 'closed/x'), '');
      },
    }),
  ],
  [
    'a read-only file system',
    readOnly,
    {
      launcher: ['unshare', '--mount', 'sh', '-c', 'mkdir disk && mount -t tmpfs -o ro tmpfs disk && exec "$@"', 'sh'],
    },
  ],
  ['no room on the disk', full, onSmallDisk({ expectedWarnings: ['the runtime directory'] })],
  ['no kernels', noKernels, { env: { PATH: '/usr/bin:/bin' }, launcher: withoutInterpreters }],
  ['a bug', bug, { expectedWarnings: ['a bug'] }],
  ['no key', keyless, { env: { SVC_API_KEY: 'secret' } }],
];

for (const [what, row, options] of alone) {
  test(
    `HTTP-CODE ${what}`,
    async ({ sandbox }) => {
      if (row === capacity) await sandbox.ok('POST /v2/pty/sessions', { id: 'one' });
      if (row === full) fillDisk(sandbox);
      if (row === bug) rmSync(join(sandbox.runtimeDirectory, 'commands'), { recursive: true });
      await expectRefusals(sandbox, [row]);
    },
    options,
  );
}

test('HTTP-CODE errors of JSON-RPC and of the endpoint of tools', async ({ sandbox }) => {
  const messages: readonly (readonly [code: string, message: unknown])[] = [
    ['malformed_request', '{'],
    ['malformed_request', { jsonrpc: '1.0', id: 1, method: 'ping' }],
    ['body_too_large', { jsonrpc: '2.0', id: 1, method: 'ping', params: { many } }],
    ['route_not_found', { jsonrpc: '2.0', id: 1, method: 'no/such' }],
    ['tool_not_found', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'none' } }],
    ['invalid_input', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }],
  ];
  for (const [code, message] of messages) {
    expect((await post(sandbox, message)).body).toMatchObject({
      error: { message: expect.any(String), data: { code } },
    });
  }
  for (const [code, headers] of [['forbidden', foreign] as const, ['unsupported_coding', packed] as const]) {
    expect((await rpc(sandbox, 'ping', {}, headers)).body).toMatchObject({ data: { code, retryable: false } });
  }
  expect((await sandbox.request('GET /mcp')).body.data).toMatchObject({ code: 'method_not_allowed' });
});

test('HTTP-CODE a body that a page could send to the worker without asking', async () => {
  await using worker = await ComputerWorker.start();
  const body = { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } };
  const response = await fetch(`${worker.url}/v2/computer/actions`, body);
  expect([response.status, await response.json()]).toMatchObject([415, { data: { code: 'unsupported_media_type' } }]);
});
