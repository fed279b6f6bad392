/** What a client may rely on when it runs code: the answer, the stream, and what becomes of bad input. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { withoutInterpreters } from '../harness/hidden-interpreters.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

beforeAll(() => needPrograms('python3', 'node'));

const execute = (sandbox: Sandbox, body: Record<string, Json>) => sandbox.request('POST /v2/code/execute', body);
const python = (sandbox: Sandbox, code: string, more: Record<string, Json> = {}) =>
  execute(sandbox, { language: 'python', code, ...more });

async function lines(sandbox: Sandbox, body: Record<string, Json>): Promise<JsonObject[]> {
  const init = { headers: { accept: 'application/x-ndjson' } };
  const response = await sandbox.fetch('POST /v2/code/execute', body, init);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const text = await response.text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
}

test('CODE-1 CODE-8 CODE-9 outputs come as they are printed, each with the keys of its kind, and one last line', async ({
  sandbox,
}) => {
  const code = 'import sys, time\nprint("a")\ntime.sleep(0.3)\nprint("b", file=sys.stderr)\n7';
  const init = { headers: { accept: 'application/x-ndjson' } };
  const response = await sandbox.fetch('POST /v2/code/execute', { language: 'python', code }, init);
  let text = '';
  let firstMs: number | null = null;
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes('"a\\n"')) firstMs ??= performance.now();
  }
  expect(performance.now() - (firstMs ?? Infinity)).toBeGreaterThan(200);
  const told = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  expect(told[0]).toEqual({ type: 'start', session_id: null, language: 'python' });
  const outputs = told.filter(({ type }) => type === 'output').map(({ output }) => output as JsonObject);
  expect(outputs.at(-1)).toEqual({
    output_type: 'execute_result',
    execution_count: 1,
    data: { 'text/plain': '7' },
    metadata: {},
  });
  const printed = (name: string) =>
    outputs.map((output) => (output['name'] === name ? (output['text'] as string) : '')).join('');
  expect([printed('stdout'), printed('stderr')]).toEqual(['a\n', 'b\n']);
  expect(told.at(-1)).toMatchObject({ type: 'end', status: 'ok', exit_code: 0, reason: 'ended' });
});

/** Of every answer, beside what is in the contract: `+` there is what is more here. */
const answerKeys = [
  'code',
  'language',
  'status',
  'execution_count',
  'exit_code',
  'outputs',
  'stdout',
  'stderr',
  'session_id',
];
const moreKeys = ['backend', 'truncated', 'duration_ms', 'kernel', 'late_outputs', 'partial'];
const outputKeys = {
  stream: ['name', 'output_type', 'text'],
  display_data: ['data', 'metadata', 'output_type'],
  execute_result: ['data', 'execution_count', 'metadata', 'output_type'],
  error: ['ename', 'evalue', 'output_type', 'traceback'],
} as const;

test('CODE-7 CODE-8 an answer has its fields whatever becomes of the code, and each output the keys of its kind', async ({
  sandbox,
}) => {
  const seen = new Set<string>();
  for (const [code, status, isSuccess] of [
    ['print("a")\ndisplay("b")\n"c"', 'ok', true],
    ['1 / 0', 'error', false],
    ['import time; time.sleep(30)', 'timeout', false],
    ['import os; os._exit(1)', 'error', false],
  ] as const) {
    const { body, status: http } = await python(sandbox, code, { timeout: 1 });
    expect([http, body.success, body.data['status']]).toEqual([200, isSuccess, status]);
    expect(Object.keys(body.data).toSorted()).toEqual([...answerKeys, ...moreKeys].toSorted());
    expect(body.data).toMatchObject({ code, language: 'python', session_id: null });
    for (const output of body.data['outputs'] as JsonObject[]) {
      const kind = output['output_type'] as keyof typeof outputKeys;
      seen.add(kind);
      expect(Object.keys(output).toSorted()).toEqual([...outputKeys[kind]]);
    }
  }
  expect([...seen].toSorted()).toEqual(Object.keys(outputKeys).toSorted());
});

test('CODE-6 a language has its names, and each of them is answered with the one', async ({ sandbox }) => {
  for (const [word, language] of [
    ['python', 'python'],
    ['python3', 'python'],
    ['javascript', 'javascript'],
    ['js', 'javascript'],
    ['node', 'javascript'],
    ['nodejs', 'javascript'],
  ] as const) {
    expect((await execute(sandbox, { language: word, code: '6 * 7' })).body.data).toMatchObject({
      ...{ language, status: 'ok', outputs: [{ data: { 'text/plain': '42' } }] },
    });
  }
});

test('CODE-11 what runs code is told, with its versions and its limits', async ({ sandbox }) => {
  await until('versions are known', async () => {
    const { languages } = (await sandbox.ok('GET /v2/code/info')) as { languages: Record<string, JsonObject> };
    return Object.values(languages).every(({ version }) => /^\d+\.\d+/.test(String(version)));
  });
  const info = await sandbox.ok('GET /v2/code/info');
  expect(info).toMatchObject({
    languages: {
      python: {
        available: true,
        aliases: ['python3'],
        backends: [{ name: 'kernel' }, { name: 'native', missing: null }],
      },
      javascript: {
        available: true,
        aliases: ['js', 'node', 'nodejs'],
        backend: 'node',
        backends: [{ name: 'node' }, { name: 'kernel' }],
      },
    },
    limits: {
      ...{ default_timeout: 30, max_timeout: 900, max_output_length: 2_000_000 },
      interpreters: { max_sessions: 20, idle_timeout: 1800 },
      kernels: { max_sessions: 5, idle_timeout: 300 },
    },
  });
});

test('CODE-12 a session is made, told and deleted, and one that is there is answered again', async ({ sandbox }) => {
  const asked = { language: 'python', id: 'mine', cwd: '/usr' };
  const made = await sandbox.ok('POST /v2/code/sessions', asked);
  expect(made).toMatchObject({
    ...{ session_id: 'mine', id: 'mine', language: 'python', state: 'idle', cwd: '/usr', execution_count: 0 },
    ...{ created_at: expect.stringMatching(/^\d{4}-.*Z$/), last_used_at: expect.stringMatching(/^\d{4}-.*Z$/) },
  });
  expect(await sandbox.ok('POST /v2/code/sessions', asked)).toMatchObject({
    created_at: made['created_at'],
    pid: made['pid'],
  });
  expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({
    sessions: { mine: expect.objectContaining({ id: 'mine' }) },
  });
  expect(await sandbox.ok('GET /v2/code/sessions/mine')).toEqual({ ...made, last_execution: null });
  expect(await sandbox.ok('DELETE /v2/code/sessions/mine')).toEqual({ session_id: 'mine' });
  const minted = await sandbox.ok('POST /v2/code/sessions', { language: 'js' });
  expect(minted['session_id']).toBeString();
  await sandbox.ok(`DELETE /v2/code/sessions/${minted['session_id']}`);
  expect((await sandbox.request('GET /v2/code/sessions/mine')).status).toBe(404);
  expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
});

/** The address of a Jupyter server, where nobody listens. */
const endpoint = 'http://127.0.0.1:1/?token=hush-hush';

for (const [how, options] of [
  ['in a flag', { args: ['--jupyter-endpoint', endpoint] }],
  ['in a variable', { env: { SVC_JUPYTER_ENDPOINT: endpoint } }],
] as const) {
  test(
    `CODE-13 the token of a Jupyter server, ${how}, is in no process list, no environment and no answer`,
    async ({ sandbox }) => {
      const { stdout } = await sandbox.run({ command: 'env' });
      const code = await python(sandbox, 'import os; print(dict(os.environ))');
      const info = await sandbox.request('GET /v2/code/info');
      expect((info.body.data['languages'] as JsonObject)['python']).toMatchObject({
        backends: [
          { name: 'jupyter', available: false, missing: 'no Jupyter server answers at http://127.0.0.1:1' },
          {},
          {},
        ],
      });
      const pids = [...sandbox.processes().map(({ pid }) => pid), ...sandbox.keepers(), ...sandbox.spareKeepers()];
      expect(pids).toContain(sandbox.daemonPid);
      const seen = pids.flatMap((pid) =>
        ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8')),
      );
      for (const text of [
        ...seen,
        stdout as string,
        JSON.stringify(code.body),
        JSON.stringify(info.body),
        sandbox.stdout,
      ])
        expect(text).not.toContain('hush-hush');
    },
    options,
  );
}

test('CODE-9 CODE-17 output is cut with a note at two million characters, and the end is told', async ({ sandbox }) => {
  const { body } = await python(sandbox, 'for n in range(30000): print("x" * 99)\n"over"');
  expect(body.data).toMatchObject({ status: 'ok', truncated: true });
  const stdout = body.data['stdout'] as string;
  expect(stdout.slice(2_000_000)).toBe('\n[the output was cut after 2000000 characters]\n');
  const streamed = await lines(sandbox, { language: 'python', code: 'for n in range(30000): print("x" * 99)' });
  expect(streamed.at(-1)).toMatchObject({ type: 'end', truncated: true, status: 'ok' });
});

test('CODE-17 a value that is too large for an answer is in a file', async ({ sandbox }) => {
  const { data } = (await python(sandbox, `'a' * 1_500_000`)).body;
  const bundle = (data['outputs'] as JsonObject[])[0]?.['data'] as JsonObject;
  const { path, size } = bundle['application/vnd.sandboxd.file+json'] as { path: string; size: number };
  expect([size, bundle['text/plain']]).toEqual([1_500_002, `<text/plain, 1500002 bytes: ${path}>`]);
  const file = await sandbox.ok(`GET /v2/fs/read?path=${path}`);
  expect(file['content']).toBe(`'${'a'.repeat(1_500_000)}'`);
});

test('CODE-2 CODE-6 what is wrong with a request is told, with the choices', async ({ sandbox }) => {
  const unknown = await execute(sandbox, { language: 'cobol', code: '1' });
  expect(unknown).toMatchObject({ status: 422, body: { errors: [{ location: 'body.language', type: 'enum' }] } });
  expect(unknown.body.message).toContain('javascript');
  expect(await execute(sandbox, { language: 'python' })).toMatchObject({
    status: 422,
    body: { errors: [{ location: 'body.code', type: 'missing' }] },
  });
  expect(await execute(sandbox, { language: 'python', code: 7 })).toMatchObject({
    status: 422,
    body: { errors: [{ location: 'body.code', type: 'string_type' }] },
  });
  expect(await python(sandbox, '1', { kernel: 'no-such-kernel' })).toMatchObject({
    status: 422,
    body: { errors: [{ location: 'body.kernel', type: 'enum' }], message: expect.stringContaining('no-such-kernel') },
  });
  for (const timeout of [0, -1, 901]) expect((await python(sandbox, '1', { timeout })).status).toBe(422);
  expect((await python(sandbox, '1', { session_id: '../etc' })).status).toBe(422);
  expect(await python(sandbox, '1', { cwd: '/no/such/place' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('/no/such/place') },
  });
  expect(await python(sandbox, '1', { user: 'nobody-of-that-name' })).toMatchObject({ status: 400 });
  for (const route of ['GET', 'DELETE']) {
    expect((await sandbox.request(`${route} /v2/code/sessions/none`)).status).toBe(404);
  }
  for (const verb of ['interrupt', 'restart']) {
    expect((await sandbox.request(`POST /v2/code/sessions/none/${verb}`)).status).toBe(404);
  }
});

test('CODE-2 a session of one language takes no other', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/code/sessions', { language: 'python', id: 'mine' });
  expect(await execute(sandbox, { language: 'js', code: '1', session_id: 'mine' })).toMatchObject({
    status: 400,
    body: { message: 'session mine runs python' },
  });
});

test(
  'CODE-15 sessions and code that runs alone are bounded, and one more is 429',
  async ({ sandbox }) => {
    for (const id of ['one', 'two']) await sandbox.ok('POST /v2/code/sessions', { language: 'python', id });
    const more = await sandbox.request('POST /v2/code/sessions', { language: 'python' });
    expect([more.status, more.headers.get('retry-after')]).toEqual([429, '1']);
    expect(more.body.hint).toContain('SVC_CODE_MAX_SESSIONS');
    expect((await python(sandbox, '1')).status).toBe(429);
    await sandbox.ok('DELETE /v2/code/sessions/one');
    expect(await python(sandbox, '1')).toMatchObject({ status: 200, body: { success: true } });
  },
  { env: { SVC_CODE_MAX_SESSIONS: '2', SVC_CODE_BACKEND: 'native' } },
);

test(
  'CODE-15 an idle session is closed, and one that is used is not',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/code/sessions', { language: 'python', id: 'idle' });
    const busy = python(sandbox, 'import time; time.sleep(2.5); "still here"', { session_id: 'busy' });
    await until('it is closed', async () => (await sandbox.request('GET /v2/code/sessions/idle')).status === 404);
    expect((await busy).body.data).toMatchObject({ status: 'ok' });
  },
  { env: { SVC_CODE_SESSION_TIMEOUT_SECS: '1', SVC_CODE_BACKEND: 'native' } },
);

test(
  'CODE-3 CODE-13 what is on PATH is looked at with each request, and what is missing is named',
  async ({ sandbox }) => {
    const none = await python(sandbox, '1');
    expect(none).toMatchObject({ status: 503, body: { message: expect.stringContaining('python3') } });
    expect(none.body.hint).toContain('Install');
    const before = await sandbox.ok('GET /v2/code/info');
    expect(before).toMatchObject({ languages: { python: { available: false, backend: null, path: null } } });
    await tool(sandbox, 'python3', '#!/usr/bin/python3');
    expect(await python(sandbox, '1')).toMatchObject({ status: 503 });
    const found = realpathSync('/usr/bin/python3');
    expect(spawnSync('nsenter', ['-t', `${sandbox.daemonPid}`, '-m', 'umount', found]).status).toBe(0);
    await tool(sandbox, 'python3', `#!/bin/sh\nexec ${found} "$@"\n`);
    expect(await python(sandbox, '1')).toMatchObject({ status: 200, body: { success: true } });
    const after = await sandbox.ok('GET /v2/code/info');
    expect(after).toMatchObject({ languages: { python: { available: true, backend: 'native' } } });
    await tool(sandbox, 'node', '#!/bin/sh\necho "no such library" >&2\nexit 1\n');
    expect(await execute(sandbox, { language: 'node', code: '1' })).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('no such library') },
    });
  },
  {
    env: (sandbox) => ({ PATH: `${join(sandbox.directory, 'tools')}:/usr/bin:/bin`, SVC_CODE_BACKEND: 'native' }),
    prepare: (sandbox) => mkdirSync(join(sandbox.directory, 'tools')),
    launcher: withoutInterpreters,
  },
);

async function tool(sandbox: Sandbox, name: string, text: string): Promise<void> {
  await Bun.write(join(sandbox.directory, 'tools', name), text);
  chmodSync(join(sandbox.directory, 'tools', name), 0o755);
}
