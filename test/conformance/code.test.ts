/** The behavior of code runs: the answer, the stream, and invalid requests. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { inControlGroup } from '../harness/control-group.ts';
import { withoutInterpreters } from '../harness/hidden-interpreters.ts';
import { KeptConnection } from '../harness/kept-connection.ts';
import { needPrograms } from '../harness/programs.ts';
import {
  expect,
  readProcess,
  test,
  type Json,
  type JsonObject,
  type Sandbox,
  type SandboxOptions,
} from '../harness/sandbox.ts';
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

test('CODE-1 CODE-8 CODE-9 outputs are streamed as they are printed, each with the keys of its kind, then one last line', async ({
  sandbox,
}) => {
  const gate = join(sandbox.directory, 'gate');
  const wait = `while not os.path.exists(${JSON.stringify(gate)}): time.sleep(0.01)`;
  const code = `import os, sys, time\nprint("a")\n${wait}\nprint("b", file=sys.stderr)\n7`;
  const init = { headers: { accept: 'application/x-ndjson' } };
  const response = await sandbox.fetch('POST /v2/code/execute', { language: 'python', code }, init);
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    // The cell ends only after its first output has arrived here.
    if (text.includes('"a\\n"')) writeFileSync(gate, '');
  }
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  expect(events[0]).toEqual({ type: 'start', session_id: null, language: 'python' });
  const outputs = events.filter(({ type }) => type === 'output').map(({ output }) => output as JsonObject);
  expect(outputs.at(-1)).toEqual({
    output_type: 'execute_result',
    execution_count: 1,
    data: { 'text/plain': '7' },
    metadata: {},
  });
  const printed = (name: string) =>
    outputs.map((output) => (output['name'] === name ? (output['text'] as string) : '')).join('');
  expect([printed('stdout'), printed('stderr')]).toEqual(['a\n', 'b\n']);
  expect(events.at(-1)).toMatchObject({ type: 'end', status: 'ok', exit_code: 0, reason: 'ended' });
});

/** The keys of every answer that the contract lists; `moreKeys` are the additional ones. */
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

test('CODE-7 CODE-8 an answer has all its fields however the code ends, and each output has the keys of its kind', async ({
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

test('CODE-6 a language has aliases, and the answer names the language itself', async ({ sandbox }) => {
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

test('CODE-11 info reports the backends with their versions and limits', async ({ sandbox }) => {
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
      kernels: { max_sessions: 5, idle_timeout: 1800 },
    },
  });
});

test('CODE-12 a session is created, described and deleted, and creating it again returns the same session', async ({
  sandbox,
}) => {
  const asked = { language: 'python', id: 'mine', cwd: '/usr' };
  const { created, ...made } = await sandbox.ok('POST /v2/code/sessions', asked);
  expect(created).toBe(true);
  expect(made).toMatchObject({
    ...{ session_id: 'mine', id: 'mine', language: 'python', state: 'idle', cwd: '/usr', execution_count: 0 },
    ...{ created_at: expect.stringMatching(/^\d{4}-.*Z$/), last_used_at: expect.stringMatching(/^\d{4}-.*Z$/) },
  });
  expect(await sandbox.ok('POST /v2/code/sessions', asked)).toMatchObject({
    created_at: made['created_at'],
    pid: made['pid'],
    created: false,
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

/** The address of a Jupyter server at a port without a listener. */
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
      // A helper of the daemon may have ended since the list; its files then read as empty.
      const seen = pids.flatMap((pid) => ['cmdline', 'environ'].map((name) => readProcess(`${pid}`, name)));
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

test('CODE-9 CODE-17 output is cut with a note at two million characters, and the end of the cell is reported', async ({
  sandbox,
}) => {
  const { body } = await python(sandbox, 'for n in range(30000): print("x" * 99)\n"over"');
  expect(body.data).toMatchObject({ status: 'ok', truncated: true });
  const stdout = body.data['stdout'] as string;
  expect(stdout.slice(2_000_000)).toBe('\n[the output was cut after 2000000 characters]\n');
  const streamed = await lines(sandbox, { language: 'python', code: 'for n in range(30000): print("x" * 99)' });
  expect(streamed.at(-1)).toMatchObject({ type: 'end', truncated: true, status: 'ok' });
});

test('CODE-17 a value too large for an answer is in a file', async ({ sandbox }) => {
  const { data } = (await python(sandbox, `'a' * 1_500_000`)).body;
  const bundle = (data['outputs'] as JsonObject[])[0]?.['data'] as JsonObject;
  const { path, size } = bundle['application/vnd.boxkeep.file+json'] as { path: string; size: number };
  expect([size, bundle['text/plain']]).toEqual([1_500_002, `<text/plain, 1500002 bytes: ${path}>`]);
  const file = await sandbox.ok(`GET /v2/fs/read?path=${path}`);
  expect(file['content']).toBe(`'${'a'.repeat(1_500_000)}'`);
});

test('CODE-2 CODE-6 an invalid request names its problem and the valid choices', async ({ sandbox }) => {
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
  for (const [timeout, bound] of [
    [0, 'more than 0'],
    [-1, 'more than 0'],
    [901, 'at most 900'],
  ] as const) {
    const { status, body } = await python(sandbox, '1', { timeout });
    expect([status, body.errors?.[0]]).toMatchObject([422, { location: 'body.timeout', message: `must be ${bound}` }]);
  }
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

test('CODE-12 a session without a language is a Python session', async ({ sandbox }) => {
  expect(await sandbox.ok('POST /v2/code/sessions', {})).toMatchObject({ language: 'python', state: 'idle' });
});

test('CODE-2 a session of one language refuses code of another', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/code/sessions', { language: 'python', id: 'mine' });
  expect(await execute(sandbox, { language: 'js', code: '1', session_id: 'mine' })).toMatchObject({
    status: 400,
    body: { message: 'session mine runs python' },
  });
});

test(
  'CODE-15 the number of sessions is limited, and one more is 429; code that runs alone does not count',
  async ({ sandbox }) => {
    for (const id of ['one', 'two']) await sandbox.ok('POST /v2/code/sessions', { language: 'python', id });
    const more = await sandbox.request('POST /v2/code/sessions', { language: 'python' });
    expect([more.status, more.headers.get('retry-after')]).toEqual([429, '1']);
    expect(more.body.hint).toContain('SVC_CODE_MAX_SESSIONS');
    const alone = await Promise.all(Array.from({ length: 8 }, (_, n) => python(sandbox, `print(${n})`)));
    expect(alone.map(({ body }) => body.data['stdout'])).toEqual(Array.from({ length: 8 }, (_, n) => `${n}\n`));
    await sandbox.ok('DELETE /v2/code/sessions/one');
    await sandbox.ok('POST /v2/code/sessions', { language: 'python', id: 'three' });
  },
  { env: { SVC_CODE_MAX_SESSIONS: '2', SVC_CODE_BACKEND: 'native' } },
);

test(
  'CODE-15 ERR-429 code that runs alone queues for at most its timeout, and is then 429 without having run',
  async ({ sandbox }) => {
    const [gate, trace] = [join(sandbox.directory, 'gate'), join(sandbox.directory, 'trace')];
    const wait = `import os, time\nopen(${JSON.stringify(trace)}, "a").close()\nwhile not os.path.exists(${JSON.stringify(gate)}): time.sleep(0.01)`;
    const first = python(sandbox, wait);
    await until('the first one runs', () => existsSync(trace));
    const patient = python(sandbox, 'print("patient")');
    const hasty = await python(sandbox, `open(${JSON.stringify(gate)}, "w")`, { timeout: 0.3 });
    expect([hasty.status, hasty.headers.get('retry-after'), existsSync(gate)]).toEqual([429, '1', false]);
    expect(hasty.body.message).toBe('1 interpreters were busy with other single runs; the code did not run');
    expect(hasty.body.hint).toContain('SVC_CODE_MAX_SESSIONS');
    await Bun.write(gate, '');
    expect((await first).body).toMatchObject({ success: true });
    expect((await patient).body.data).toMatchObject({ stdout: 'patient\n' });
  },
  { env: { SVC_CODE_MAX_SESSIONS: '1', SVC_CODE_BACKEND: 'native' } },
);

test(
  'CODE-15 RUN-STOP queued code is refused when the daemon closes',
  async ({ sandbox }) => {
    const busy = python(sandbox, 'import time; print("runs", flush=True); time.sleep(600)', { timeout: 600 });
    busy.catch(() => null); // Its connection may end with the daemon.
    const cells = join(sandbox.runtimeDirectory, 'cells');
    await until('the first one runs', () => existsSync(cells) && readdirSync(cells).length > 0);
    using other = await KeptConnection.open(sandbox.url);
    const waiting = other.request('POST /v2/code/execute', { language: 'python', code: '1', timeout: 600 });
    expect((await python(sandbox, '1', { timeout: 0.1 })).status).toBe(429);
    expect(await sandbox.stop()).toBe(0);
    expect(await waiting).toMatchObject({ status: 503, body: expect.stringContaining('did not run') });
  },
  { env: { SVC_CODE_MAX_SESSIONS: '1', SVC_CODE_BACKEND: 'native' } },
);

test(
  'CODE-15 CODE-21 sessions whose interpreters ended with a stop are listed, and give way to new sessions',
  async ({ sandbox }) => {
    for (const id of ['one', 'two']) await sandbox.ok('POST /v2/code/sessions', { language: 'python', id });
    await python(sandbox, '1', { session_id: 'one' });
    expect(await sandbox.stop()).toBe(0);
    await sandbox.launch();
    await sandbox.ok('POST /v2/code/sessions', { language: 'python', id: 'three' });
    const { sessions } = await sandbox.ok('GET /v2/code/sessions');
    expect(Object.keys(sessions as object)).toEqual(['one', 'three']);
    expect((await python(sandbox, '1', { session_id: 'one' })).body.data).toMatchObject({
      kernel: { restarted: true },
    });
    expect((await sandbox.request('POST /v2/code/sessions', { language: 'python' })).status).toBe(429);
  },
  { env: { SVC_CODE_MAX_SESSIONS: '2', SVC_CODE_BACKEND: 'native' } },
);

test(
  'CODE-15 an idle session is closed, and a session in use is not',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v2/code/sessions', { language: 'python', id: 'idle' });
    const busy = python(sandbox, 'import time; time.sleep(2.5); "still here"', { session_id: 'busy' });
    await until('it is closed', async () => (await sandbox.request('GET /v2/code/sessions/idle')).status === 404);
    expect((await busy).body.data).toMatchObject({ status: 'ok' });
  },
  { env: { SVC_CODE_SESSION_TIMEOUT_SECS: '1', SVC_CODE_BACKEND: 'native' } },
);

/** Programs of the test come before those of the image. */
const withTools: SandboxOptions = {
  env: (sandbox) => ({ PATH: `${join(sandbox.directory, 'tools')}:/usr/bin:/bin`, SVC_CODE_BACKEND: 'native' }),
  prepare: (sandbox) => mkdirSync(join(sandbox.directory, 'tools')),
};

test(
  'CODE-3 CODE-13 each request searches PATH anew, and a missing interpreter is named',
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
  { ...withTools, launcher: withoutInterpreters },
);

test(
  'CODE-13 an interpreter that is killed for want of memory while it starts is refused for that, and the next one runs',
  async ({ sandbox }) => {
    const started = join(sandbox.directory, 'started');
    const greedy = `[ -e ${started} ] || { touch ${started}; exec tail /dev/zero; }`;
    await tool(sandbox, 'python3', `#!/bin/sh\n${greedy}\nexec ${realpathSync('/usr/bin/python3')} "$@"\n`);
    const { status, body, headers } = await python(sandbox, '1');
    expect([status, body.message]).toEqual([
      429,
      'python3 was killed by signal 9 because the memory was used up: it printed nothing',
    ]);
    expect(body.data).toEqual({ code: 'capacity_reached', retryable: true });
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await python(sandbox, 'print(1)')).toMatchObject({ status: 200, body: { data: { stdout: '1\n' } } });
  },
  inControlGroup({ memoryBytes: 192 * 1024 * 1024 }, withTools),
);

async function tool(sandbox: Sandbox, name: string, text: string): Promise<void> {
  await Bun.write(join(sandbox.directory, 'tools', name), text);
  chmodSync(join(sandbox.directory, 'tools', name), 0o755);
}

test('V2CMD-TERM a call that waits for code is answered that the daemon is stopping', async ({ sandbox }) => {
  const began = join(sandbox.directory, 'began');
  const code = `import time; open('began', 'a').write('x'); time.sleep(1000)`;
  const calls = ['POST /v2/code/execute', 'POST /v1/code/execute'] as const;
  const answers = calls.map((call) => sandbox.request(call, { language: 'python', code, cwd: sandbox.directory }));
  await until('both run', () => statSync(began, { throwIfNoEntry: false })?.size === 2);
  sandbox.signal('SIGTERM');

  const message = 'The code is running; the daemon is stopping and did not wait for the end';
  for (const answer of answers) expect(await answer).toMatchObject({ status: 200, body: { message } });
  expect(await sandbox.exited()).toBe(0);
});
