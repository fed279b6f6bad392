/** Each built-in tool of `POST /mcp`: what it does, and what an agent reads. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { callTool, followTool, rpc, toolReply, type ToolReply } from '../harness/mcp-client.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';

const bash = (sandbox: Sandbox, input: object): Promise<ToolReply> => callTool(sandbox, 'sandbox_execute_bash', input);
const code = (sandbox: Sandbox, input: object): Promise<ToolReply> => callTool(sandbox, 'sandbox_execute_code', input);
const files = (sandbox: Sandbox, input: object): Promise<ToolReply> =>
  callTool(sandbox, 'sandbox_file_operations', input);
const edit = (sandbox: Sandbox, input: object): Promise<ToolReply> =>
  callTool(sandbox, 'sandbox_str_replace_editor', input);

/** Files with cut output, which stay for the agent to read. */
function removeOutputs(reply: ToolReply): void {
  if (typeof reply.data.output_file === 'string') rmSync(reply.data.output_file);
}

test('MCP-TOOLS bash keeps its directory and variables between calls, and reports exit code and directory', async ({
  sandbox,
}) => {
  mkdirSync(join(sandbox.directory, 'there'));
  const first = await bash(sandbox, { cmd: 'cd there && export COLOR=blue; false', cwd: sandbox.directory });
  expect(first.data).toMatchObject({ exit_code: 1, cwd: join(sandbox.directory, 'there'), status: 'completed' });
  expect(first.isError).toBe(false);
  const second = await bash(sandbox, { cmd: 'echo $COLOR; pwd' });
  expect(second.text).toBe(
    `blue\n${sandbox.directory}/there\n[echo $COLOR; pwd · exit 0 · cwd ${sandbox.directory}/there]`,
  );

  const other = await bash(sandbox, { cmd: 'echo "[$COLOR]"', new_session: true });
  expect(other.data.output).toBe('[]\n');
  expect(other.text).toContain(`session_id ${other.data.session_id}]`);
  const same = await bash(sandbox, { cmd: 'export COLOR=red', session_id: other.data.session_id });
  expect(same.data.session_id).toBe(other.data.session_id);
  expect((await bash(sandbox, { cmd: 'echo $COLOR' })).data.output).toBe('blue\n');
});

test('MCP-TOOLS bash prints through no pager and keeps a shell that exits usable', async ({ sandbox }) => {
  const env = await bash(sandbox, { cmd: 'echo $PAGER $GIT_PAGER $npm_config_progress' });
  expect(env.data.output).toBe('cat cat false\n');
  expect((await bash(sandbox, { cmd: 'exit 3' })).data.exit_code).toBe(3);
  expect((await bash(sandbox, { cmd: 'echo back' })).data.output).toBe('back\n');
});

test('MCP-TOOLS a command that takes longer than its timeout goes on, and can be awaited or ended', async ({
  sandbox,
}) => {
  const gate = join(sandbox.directory, 'gate');
  const slow = `echo begun; while [ ! -e ${gate} ]; do sleep 0.05; done; echo ended`;
  const started = await bash(sandbox, { cmd: slow, timeout: 1 });
  expect(started.data).toMatchObject({ status: 'running', exit_code: null });
  expect(started.text).toContain('still running');
  expect(started.text).toContain('with an empty cmd');

  const from = performance.now();
  const busy = await bash(sandbox, { cmd: 'echo never', timeout: 300 });
  expect(performance.now() - from).toBeLessThan(60_000);
  expect(busy.isError).toBe(true);
  expect(busy.text).toMatch(/session mcp runs "echo begun; .*" since \d{4}-\S+Z; the command did not begin/);
  for (const way of ['an empty cmd', 'interrupt', 'new_session']) expect(busy.text).toContain(way);

  writeFileSync(gate, '');
  const awaited = await bash(sandbox, { cmd: '' });
  expect(awaited.data).toMatchObject({ status: 'completed', exit_code: 0, output: 'begun\nended\n' });

  await bash(sandbox, { cmd: 'sleep 1000', timeout: 0.5 });
  const ended = await bash(sandbox, { cmd: 'echo free', interrupt: true });
  expect(ended.data).toMatchObject({ status: 'completed', output: 'free\n' });
});

test('MCP-TOOLS an empty cmd in a session without commands says so', async ({ sandbox }) => {
  const looked = await bash(sandbox, { cmd: '' });

  expect(looked.text).toContain('nothing has run yet');
  expect(looked.data).toMatchObject({ command: null, output: '' });
});

test('MCP-TOOLS long output is cut in the middle and saved whole in a file; truncate false answers all', async ({
  sandbox,
}) => {
  const cut = await bash(sandbox, { cmd: 'seq 1 20000' });
  const whole = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('');
  expect(cut.data.truncated).toBe(true);
  expect(cut.text.length).toBeLessThan(31_000);
  expect(cut.text).toStartWith('1\n2\n');
  expect(cut.text).toContain('\n20000\n');
  expect(readFileSync(cut.data.output_file, 'utf8')).toBe(whole);

  // The note names the lines that are missing, in the numbers of the read action.
  const [, path = '', from = '', to = ''] =
    /: (\S+) has all; read it with start_line (\d+) and end_line (\d+)\]/.exec(cut.text) ?? [];
  const rest = await files(sandbox, { action: 'read', path, start_line: Number(from), end_line: Number(to) });
  const head = cut.data.output.slice(0, cut.data.output.indexOf('\n… ['));
  expect(`${head}${rest.data.content}`).toStartWith(whole.slice(0, head.length + 1000));
  removeOutputs(cut);

  const all = await bash(sandbox, { cmd: 'seq 1 20000', truncate: false });
  expect(all.data).toMatchObject({ output: whole, truncated: false, output_file: null });
});

test('MCP-TOOLS at most 32 files with cut output are kept', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'long');
  writeFileSync(path, `${'x'.repeat(40_000)}\n`);
  const saved: string[] = [];
  for (let i = 0; i < 34; i++) saved.push((await bash(sandbox, { cmd: `cat ${path}` })).data.output_file);

  expect(saved.map((file) => existsSync(file))).toEqual(saved.map((_, i) => i >= 2));
  for (const file of saved.slice(2)) rmSync(file);
});

test('MCP-TOOLS code answers what was printed, the value and the exception, under every alias', async ({ sandbox }) => {
  for (const language of ['py', 'python', 'python3']) {
    const result = await code(sandbox, { code: 'print("out")\n6 * 7', language });
    expect(result.data).toMatchObject({ language: 'python', status: 'ok', stdout: 'out\n', result: '42', error: null });
    expect(result.text).toBe('out\n42\n[python · exit 0]');
  }
  for (const language of ['node', 'js', 'javascript']) {
    const result = await code(sandbox, { code: 'console.log("out"); await 42', language });
    expect(result.data).toMatchObject({ language: 'javascript', stdout: 'out\n', result: '42' });
  }
  const failed = await code(sandbox, { code: 'raise ValueError("no")' });
  expect([failed.isError, failed.data.status]).toEqual([true, 'error']);
  expect(failed.text).toContain('ValueError: no');
});

test('MCP-TOOLS code and bash name the installer of what is missing', async ({ sandbox }) => {
  expect((await bash(sandbox, { cmd: 'no-such-program' })).text).toContain('apt-get install no-such-program');
  expect((await code(sandbox, { code: 'import no_such_module' })).text).toContain('pip install no_such_module');
  const node = await code(sandbox, { code: 'require("no-such-module")', language: 'javascript' });
  expect(node.text).toContain('npm install no-such-module');
});

test('MCP-TOOLS code keeps its state in a session, and nowhere else', async ({ sandbox }) => {
  await code(sandbox, { code: 'x = 5', session_id: 'mine' });
  expect((await code(sandbox, { code: 'x + 1', session_id: 'mine' })).data).toMatchObject({
    result: '6',
    session_id: 'mine',
  });
  expect((await code(sandbox, { code: 'x' })).isError).toBe(true);
});

test('MCP-TOOLS code that takes longer than its timeout is interrupted', async ({ sandbox }) => {
  const late = await code(sandbox, { code: 'while True: pass', timeout: 1 });

  expect([late.isError, late.data.status]).toEqual([true, 'timeout']);
  expect(late.text).toContain('Interrupted after 1 s');
});

test('MCP-TOOLS files are written, read in parts, replaced, listed and searched', async ({ sandbox }) => {
  const at = join(sandbox.directory, 'project');
  const path = join(at, 'src/a.txt');
  const written = await files(sandbox, { action: 'write', path, content: 'one\ntwo\nthree\n' });
  expect(written.data).toMatchObject({ path, bytes_written: 14, size: 14 });
  await files(sandbox, { action: 'write', path, content: 'four\n', append: true });
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\nfour\n');

  const part = await files(sandbox, { action: 'read', path, start_line: 1, end_line: 3 });
  expect(part.data).toMatchObject({ content: 'two\nthree\n', line_count: 4, truncated: false });
  expect(part.text).toBe(`two\nthree\n[${path} · lines 2-3 of 4: start_line 1, end_line 3 · 19 bytes]`);
  const whole = await files(sandbox, { action: 'read', path });
  expect(whole.text).toBe(`one\ntwo\nthree\nfour\n[${path} · lines 1-4 of 4 · 19 bytes]`);
  const replaced = await files(sandbox, { action: 'replace', path, old_str: 'two', new_str: '2' });
  expect(replaced.text).toContain('     2\t2');

  for (const action of ['find', 'glob']) {
    const found = await files(sandbox, { action, path: at, pattern: '*.txt' });
    expect([action, found.data.files, found.data.total_count]).toEqual([action, [path], 1]);
  }
  const listed = await files(sandbox, { action: 'list', path: at, recursive: true });
  expect(listed.data.files).toEqual([`${join(at, 'src')}/`, path]);
  for (const action of ['search', 'grep']) {
    const found = await files(sandbox, { action, path: action === 'grep' ? at : path, pattern: 'thr..', context: 1 });
    expect([action, found.data.matches.length]).toEqual([action, 1]);
    expect(found.text).toStartWith(`${path}\n2-2\n3:three\n4-four\n[`);
  }
  const missing = await files(sandbox, { action: 'read', path: join(at, 'none') });
  expect([missing.isError, missing.text]).toEqual([
    true,
    `${join(at, 'none')}: No such file or directory\nsandbox_file_operations with action list shows what a directory contains.`,
  ]);
});

test('MCP-TOOLS results beyond a limit name the offset of the next call', async ({ sandbox }) => {
  const long = join(sandbox.directory, 'long.txt');
  writeFileSync(long, Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join(''));
  const seen: string[] = [];
  for (let start: number | null = 0; start !== null;) {
    const part: ToolReply = await files(sandbox, { action: 'read', path: long, start_line: start });
    seen.push(part.data.content);
    const next = /continue with start_line (\d+)/.exec(part.text)?.[1];
    expect(part.data.truncated).toBe(next !== undefined);
    start = next === undefined ? null : Number(next);
  }
  expect(seen.join('')).toBe(readFileSync(long, 'utf8'));

  const tree = join(sandbox.directory, 'many');
  mkdirSync(tree);
  for (let i = 0; i < 5; i++) writeFileSync(join(tree, `f${i}`), 'word\n');
  for (const [action, pattern] of [
    ['list', undefined],
    ['find', 'f*'],
    ['grep', 'word'],
  ]) {
    const page = await files(sandbox, { action, path: tree, pattern, max_results: 3 });
    expect([action, page.data.truncated]).toEqual([action, true]);
    expect(page.text).toContain('continue with offset 3');
    const rest = await files(sandbox, { action, path: tree, pattern, max_results: 3, offset: 3 });
    expect([action, (rest.data.files ?? rest.data.matches).length, rest.data.truncated]).toEqual([action, 2, false]);
  }
});

test('MCP-TOOLS the editor views, creates, replaces, inserts and undoes', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'note.txt');
  expect((await edit(sandbox, { command: 'create', path, file_text: 'a\nb\n' })).text).toBe(`[${path} · created]`);
  expect((await edit(sandbox, { command: 'create', path, file_text: '' })).isError).toBe(true);
  const viewed = await edit(sandbox, { command: 'view', path, view_range: [2, -1] });
  expect(viewed.data).toMatchObject({ output: '     2\tb', line_count: 2 });
  await edit(sandbox, { command: 'insert', path, insert_line: 1, new_str: 'between' });
  await edit(sandbox, { command: 'str_replace', path, old_str: 'b\n', new_str: 'B\n' });
  expect(readFileSync(path, 'utf8')).toBe('a\nbetween\nB\n');
  await edit(sandbox, { command: 'undo_edit', path });
  expect(readFileSync(path, 'utf8')).toBe('a\nbetween\nb\n');
  const absent = await edit(sandbox, { command: 'str_replace', path, old_str: 'zzz', new_str: '' });
  expect(absent.text).toStartWith('old_str not found in file');
  expect((await edit(sandbox, { command: 'view', path: sandbox.directory })).data.output).toContain(path);
});

test('MCP-TOOLS the context names the system, the workspace and what works', async ({ sandbox }) => {
  const { data, text } = await callTool(sandbox, 'sandbox_get_context');
  const info = await sandbox.ok('GET /v2/sandbox');

  expect(data).toMatchObject({ version: info['version'], workspace_dir: info['workspace_dir'] });
  expect(data.capabilities.mcp.status).toBe('ready');
  expect(text).toContain(`workspace ${info['workspace_dir'] as string}`);
  expect(text).toMatch(/^computer absent: computer-use worker is not available at \S+: nothing listens there$/m);
});

test('MCP-TOOLS packages are those of the language', async ({ sandbox }) => {
  const { data, text } = await callTool(sandbox, 'sandbox_get_packages', { language: 'py' });

  expect(data.packages.map(({ name }: JsonObject) => name)).toContain('pip');
  const found = await callTool(sandbox, 'sandbox_get_packages', { name: 'PI' });
  expect(found.data.packages).toEqual(data.packages.filter(({ name }: JsonObject) => /pi/i.test(String(name))));
  expect((await callTool(sandbox, 'sandbox_get_packages', { name: 'no such package' })).data.packages).toEqual([]);
  expect(text).toContain('pip==');
});

test(
  'MCP-3 skills are listed and loaded, and invalid ones are named',
  async ({ sandbox }) => {
    const listed = await callTool(sandbox, 'sandbox_load_skill');
    expect(listed.data.skills).toEqual([{ name: 'greet', description: 'How to greet.' }]);
    expect(listed.data.invalid).toEqual([{ folder: 'broken', reason: expect.any(String) }]);
    const loaded = await callTool(sandbox, 'sandbox_load_skill', { name: 'greet' });
    expect(loaded.data).toMatchObject({ content: 'Say hello.', files: ['words.txt'] });
    expect(loaded.text).toContain('words.txt');
    const unknown = await callTool(sandbox, 'sandbox_load_skill', { name: 'other' });
    expect([unknown.isError, unknown.text.includes('greet')]).toEqual([true, true]);
  },
  {
    env: (sandbox) => ({ SVC_SKILLS_PATH: join(sandbox.directory, 'skills') }),
    prepare(sandbox) {
      const folder = join(sandbox.directory, 'skills/greet');
      mkdirSync(folder, { recursive: true });
      mkdirSync(join(sandbox.directory, 'skills/broken'));
      writeFileSync(join(folder, 'SKILL.md'), '---\nname: greet\ndescription: How to greet.\n---\nSay hello.\n');
      writeFileSync(join(folder, 'words.txt'), 'hello\n');
    },
  },
);

test('MCP-TOOLS the browser tools say what is missing and what to do', async ({ sandbox }) => {
  const info = await callTool(sandbox, 'browser_get_info');
  expect([info.isError, info.text.includes('127.0.0.1:9:')]).toEqual([true, true]);
  for (const [name, input] of [
    ['browser_gui_screenshot', {}],
    ['browser_gui_execute_action', { action_type: 'CLICK' }],
  ] as const) {
    const reply = await callTool(sandbox, name, input);
    expect([name, reply.isError, reply.text.split('\n').length]).toEqual([name, true, 2]);
  }
});

test(
  'MCP-TOOLS by default an answer has its text once, and a failure its code beside the text',
  async ({ sandbox }) => {
    const { body } = await rpc(sandbox, 'tools/list');
    expect(body.result.tools.filter((tool: JsonObject) => 'outputSchema' in tool)).toEqual([]);
    const path = join(sandbox.directory, 'long');
    writeFileSync(path, 'long text\n'.repeat(1000));
    const read = await rpc(sandbox, 'tools/call', {
      name: 'sandbox_file_operations',
      arguments: { action: 'read', path },
    });
    expect(Object.keys(read.body.result)).toEqual(['content']);
    expect(JSON.stringify(read.body).split('long text').length).toBe(1001);
    const failed = await callTool(sandbox, 'sandbox_file_operations', { action: 'read', path: `${path}er` });
    expect([failed.isError, failed.data]).toMatchObject([true, { code: 'file_not_found', retryable: false }]);
  },
  { env: { SVC_MCP_ANSWERS: 'text' } },
);

test('MCP-TOOLS structured content fits the output schema of each tool', async ({ sandbox }) => {
  const tools = (await rpc(sandbox, 'tools/list')).body.result.tools as JsonObject[];
  const calls: Record<string, object> = {
    sandbox_execute_bash: { cmd: 'true' },
    sandbox_execute_code: { code: '1' },
    sandbox_file_operations: { action: 'grep', path: sandbox.directory, pattern: 'x' },
    sandbox_str_replace_editor: { command: 'view', path: sandbox.directory },
    sandbox_get_context: {},
    sandbox_get_packages: {},
  };
  for (const [name, input] of Object.entries(calls)) {
    const schema = tools.find((tool) => tool['name'] === name)?.['outputSchema'] as Parameters<
      typeof z.fromJSONSchema
    >[0];
    const checked = z.fromJSONSchema(schema).safeParse((await callTool(sandbox, name, input)).data);
    expect([name, checked.error?.issues]).toEqual([name, undefined]);
  }
});

test('MCP-PROGRESS output arrives while the command runs, in order and within its answer', async ({ sandbox }) => {
  const gate = join(sandbox.directory, 'gate');
  const cmd = `echo first; while [ ! -e ${gate} ]; do sleep 0.05; done; echo second`;
  const seen: JsonObject[] = [];
  for await (const message of followTool(sandbox, { name: 'sandbox_execute_bash', input: { cmd } })) {
    seen.push(message);
    if (message['method'] === 'notifications/progress') writeFileSync(gate, '');
  }

  const notifications = seen.slice(0, -1).map((message) => message['params']);
  expect(notifications.every((params) => params.progressToken === 'p')).toBe(true);
  expect(notifications.map((params) => params.message).join('')).toBe('first\nsecond\n');
  const amounts = notifications.map((params) => params.progress);
  expect(amounts).toEqual([...new Set(amounts as number[])].toSorted((a, b) => a - b));
  expect(toolReply(seen.at(-1)?.['result']).data.output).toBe('first\nsecond\n');
});

test('MCP-PROGRESS printed text of code arrives while the code runs', async ({ sandbox }) => {
  const gate = join(sandbox.directory, 'gate');
  const program = `import os, time\nprint("first", flush=True)\nwhile not os.path.exists(${JSON.stringify(gate)}): time.sleep(0.05)\nprint("second")`;
  const messages: string[] = [];
  for await (const message of followTool(sandbox, { name: 'sandbox_execute_code', input: { code: program } })) {
    if (message['method'] !== 'notifications/progress') continue;
    messages.push(message['params'].message);
    writeFileSync(gate, '');
  }

  expect(messages.join('')).toBe('first\nsecond\n');
});
