/** Calls as a language model misspells them: each is refused, and the answer names what was meant. */
import { expect } from 'bun:test';
import { callTool, rpc } from '../harness/mcp-client.ts';
import { test } from '../harness/sandbox.ts';

/** A call, its body, and what its answer says. */
type Row = readonly [call: string, body: object | null, meant: string];

const fields: readonly Row[] = [
  ['POST /v2/commands', { cmd: 'ls' }, 'cmd is not a field; did you mean command?'],
  ['POST /v2/commands', { command: 'ls', workdir: '/tmp' }, 'workdir is not a field; did you mean cwd?'],
  ['POST /v2/commands', { command: 'ls', working_directory: '/tmp' }, 'did you mean cwd?'],
  ['POST /v2/commands', { command: 'ls', environment: {} }, 'did you mean env?'],
  ['POST /v2/commands', { command: 'ls', timeout_ms: 1000 }, 'did you mean timeout?'],
  ['POST /v2/commands', { command: 'ls', timeout_seconds: 10 }, 'did you mean timeout?'],
  ['POST /v2/commands', { command: 'ls', background: true }, 'did you mean mode?'],
  ['POST /v2/commands', { command: 'cat', input: 'x' }, 'did you mean stdin?'],
  ['POST /v2/commands', { command: 'ls', sessionId: 'a' }, 'did you mean session_id?'],
  ['POST /v2/commands', { command: 'ls', argv: ['-l'], shell: 'none' }, 'did you mean args?'],
  ['POST /v2/commands', { command: 'ls', limits: { memory: 1 } }, 'did you mean memory_bytes?'],
  ['POST /v2/commands/any/stdin', { data: 'x' }, 'data is not a field; did you mean input?'],
  ['POST /v2/commands/any/kill', { sig: 'SIGTERM' }, 'did you mean signal?'],
  ['POST /v2/commands/sessions', { name: 'a' }, 'did you mean session_id?'],
  ['GET /v2/commands/any?since=5', null, 'did you mean offset?'],
  ['POST /v2/fs/write', { file: '/tmp/a', content: '' }, 'did you mean path?'],
  ['POST /v2/fs/write', { path: '/tmp/a', contents: '' }, 'did you mean content?'],
  ['GET /v2/fs/read?file_path=/tmp/a', null, 'did you mean path?'],
  ['GET /v2/fs/read?path=/etc/hostname&start=1', null, 'did you mean start_line?'],
  ['POST /v2/fs/edit', { path: '/a', command: 'str_replace', old_string: 'a', new_str: 'b' }, 'did you mean old_str?'],
  ['POST /v2/fs/edit', { path: '/a', command: 'str_replace', old_str: 'a', replace: 'b' }, 'did you mean new_str?'],
  ['POST /v2/fs/grep', { path: '/tmp', query: 'x' }, 'did you mean pattern?'],
  ['POST /v2/fs/grep', { path: '/tmp', pattern: 'x', ignore_case: true }, 'did you mean case_insensitive?'],
  ['POST /v2/fs/grep', { path: '/tmp', pattern: 'x', glob: '*.ts' }, 'did you mean include?'],
  ['GET /v2/fs/list?path=/tmp&depth=2', null, 'did you mean max_depth?'],
  ['GET /v2/fs/search?path=/tmp&glob=*.ts', null, 'did you mean pattern?'],
  ['POST /v2/fs/copy', { src: '/a', dst: '/b' }, 'did you mean source?'],
  ['POST /v2/fs/move', { source: '/a', to: '/b' }, 'did you mean destination?'],
  ['POST /v2/fs/mkdir', { path: '/tmp/a', recursive: true }, 'did you mean parents?'],
  ['POST /v2/watch', { path: '/tmp', ignore: ['a'] }, 'did you mean exclude?'],
  ['POST /v2/pty/sessions', { columns: 80 }, 'did you mean cols?'],
  ['POST /v2/pty/sessions/any/input', { text: 'ls\n' }, 'did you mean input?'],
  ['POST /v2/pty/sessions/any/exec', { cmd: 'ls' }, 'did you mean command?'],
  ['POST /v2/code/execute', { lang: 'python', code: '1' }, 'did you mean language?'],
  ['POST /v2/code/execute', { language: 'python', source: '1' }, 'did you mean code?'],
  ['POST /v2/browser/navigate', { uri: 'about:blank' }, 'did you mean url?'],
  ['POST /v2/browser/navigate', { url: 'about:blank', waitUntil: 'load' }, 'did you mean wait_until?'],
  ['POST /v2/browser/click', { element: 'e1' }, 'did you mean ref?'],
  ['POST /v2/browser/evaluate', { script: '1' }, 'did you mean expression?'],
  ['GET /v2/browser/screenshot?fullPage=true', null, 'did you mean full_page?'],
  ['POST /v2/computer/actions', { action_type: 'CLICK', clicks: 2 }, 'did you mean num_clicks?'],
  ['POST /v2/commands', { command: 'cat', stdin: { dta: 'x' } }, 'dta is not a field; did you mean data?'],
  ['POST /v2/code/execute', { language: 'python', code: '1', lang: 'x' }, 'language is given already'],
  ['POST /v2/browser/cookies', { cookies: [{ name: 'a', value: 'b', htp_only: true }] }, 'did you mean http_only?'],
  ['POST /v2/code/sessions/any/restart', { cwd: '/tmp' }, 'cwd is not a field; there are none'],
  ['DELETE /v2/commands/any', { force: true }, 'force is not a field; there are none'],
  ['POST /v2/computer/actions/batch', { actions: [{ action_type: 'PRESS', keysym: 'a' }] }, 'did you mean key?'],
];

test('HTTP-UNKNOWN-FIELD a misspelt field is refused with the name that was meant, before anything is done', async ({
  sandbox,
}) => {
  for (const [call, body, meant] of fields) {
    const reply = await sandbox.request(call, body ?? undefined);
    const { data, errors = [], message } = reply.body;
    expect([call, reply.status, data?.code, errors[0]?.type]).toEqual([call, 422, 'invalid_input', 'unknown_field']);
    expect(message).toContain(meant);
    expect(errors[0]?.location).toMatch(/^(body|query)\./);
  }
});

const routes: readonly Row[] = [
  ['POST /v2/exec', { command: 'ls' }, 'POST /v2/commands'],
  ['GET /v2/files/read?path=/tmp/a', null, 'GET /v2/fs/read'],
  ['GET /v2/file/list?path=/tmp', null, 'GET /v2/fs/list'],
  ['POST /v2/fs/remove', { path: '/tmp/a' }, 'POST /v2/fs/delete'],
  ['POST /v2/terminals', {}, 'POST /v2/pty/sessions'],
  ['POST /v2/browser/goto', { url: 'about:blank' }, 'POST /v2/browser/navigate'],
  ['POST /v2/python/run', { code: '1' }, 'POST /v2/code/execute'],
  ['GET /v2/desktop/screenshot', null, 'GET /v2/computer/screenshot'],
  ['GET /v2/info', null, 'GET /v2/sandbox'],
  ['POST /v2/comands', { command: 'ls' }, 'POST /v2/commands'],
  ['GET /v2/sanbox', null, 'GET /v2/sandbox'],
  ['POST /v2/cod/execute', { code: '1' }, 'POST /v2/code/execute'],
  ['GET /v2/fs/tre', null, 'GET /v2/fs/tree'],
  ['GET /v2/compter/info', null, 'GET /v2/computer/info'],
];

test('HTTP-NEAREST-ROUTE an unknown path is answered with the nearest operations, one line each', async ({
  sandbox,
}) => {
  for (const [call, body, meant] of routes) {
    const reply = await sandbox.request(call, body ?? undefined);
    expect([call, reply.status, reply.body.data?.code]).toEqual([call, 404, 'route_not_found']);
    const lines = (reply.body.hint as string).split('\n').slice(1);
    expect(lines.length).toBeLessThanOrEqual(3);
    expect([call, lines.map((line) => line.split(/:? /, 2).join(' ')).includes(meant)]).toEqual([call, true]);
  }
  const asId = await sandbox.request('POST /v2/commands/run', { command: 'ls' });
  expect([asId.status, asId.body.hint]).toEqual([405, expect.stringContaining('\nPOST /v2/commands {command}: ')]);
});

test('MCP-ERRORS a misspelt tool or argument is refused with the name that was meant', async ({ sandbox }) => {
  const tools = {
    execute_bash: 'sandbox_execute_bash',
    read_file: 'sandbox_file_operations',
    computer: 'browser_gui_execute_action',
  };
  for (const [given, meant] of Object.entries(tools)) {
    const { error } = (await rpc(sandbox, 'tools/call', { name: given, arguments: {} })).body;
    expect(error).toMatchObject({ code: -32602, message: `unknown tool: ${given}; did you mean ${meant}?` });
    expect(error.data).toMatchObject({ code: 'tool_not_found', tools: expect.arrayContaining([meant]) });
  }
  const calls = [
    ['sandbox_execute_bash', { command: 'ls' }, 'command is not a field; did you mean cmd?'],
    ['sandbox_execute_code', { script: '1' }, 'script is not a field; did you mean code?'],
    ['sandbox_file_operations', { operation: 'read', path: '/' }, 'operation is not a field; did you mean action?'],
  ] as const;
  for (const [tool, input, meant] of calls) {
    const reply = await callTool(sandbox, tool, input);
    expect(reply.isError).toBe(true);
    expect(reply.text).toContain(meant);
    expect(reply.data).toMatchObject({ code: 'invalid_input', retryable: false });
  }
});
