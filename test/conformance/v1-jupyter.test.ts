/** The behavior of Python in a Jupyter kernel for 1.x clients. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withoutInterpreters } from '../harness/hidden-interpreters.ts';
import { withKernels } from '../harness/kernels.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

function execute(sandbox: Sandbox, code: string, more: object = {}): Promise<JsonObject> {
  return sandbox.ok('POST /v1/jupyter/execute', { code, ...more });
}

/** As the Python client sends a call without arguments. */
const emptyBody = (sandbox: Sandbox, route: string) => sandbox.ok(route, '', { 'content-type': 'application/json' });

const empty = {
  ...{ name: null, text: null, data: null, metadata: null, execution_count: null },
  ...{ ename: null, evalue: null, traceback: null },
};

test(
  'V1CODE-3 the guide’s cells run: alone, and in a session that keeps its variables',
  async ({ sandbox }) => {
    const code = 'x = 40 + 2\nprint(x)\nx';
    expect(await execute(sandbox, code)).toEqual({
      ...{ kernel_name: 'python3', session_id: null, status: 'ok', execution_count: 1, code },
      msg_id: expect.any(String),
      outputs: [
        { ...empty, output_type: 'stream', name: 'stdout', text: '42\n' },
        { ...empty, output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '42' }, metadata: {} },
      ],
    });
    await execute(sandbox, 'data = [1, 2, 3]', { session_id: 'analysis' });
    const sum = await execute(sandbox, 'print(sum(data))', { session_id: 'analysis' });
    expect(sum).toMatchObject({ session_id: 'analysis', execution_count: 2, outputs: [{ text: '6\n' }] });

    const { sessions } = await sandbox.ok('GET /v1/jupyter/sessions');
    expect(sessions).toEqual({
      analysis: { kernel_name: 'python3', last_used: expect.any(Number), age_seconds: expect.any(Number) },
    });
    expect(await sandbox.ok('GET /v1/jupyter/sessions/analysis')).toEqual({
      ...sessions.analysis,
      session_id: 'analysis',
      age_seconds: expect.any(Number),
    });
    expect(Math.abs(sessions.analysis.last_used - Date.now() / 1000)).toBeLessThan(60);
    const gone = await sandbox.request('DELETE /v1/jupyter/sessions/analysis');
    expect(gone).toMatchObject({ status: 200, body: { success: true, data: null } });
    const unknown = await sandbox.request('DELETE /v1/jupyter/sessions/analysis');
    expect(unknown).toMatchObject({ status: 200, body: { success: false, data: null } });
    expect(await sandbox.request('GET /v1/jupyter/sessions/analysis')).toMatchObject({
      status: 404,
      body: { message: 'no session has the id analysis', hint: expect.stringContaining('GET /v1/jupyter/sessions') },
    });
  },
  withKernels(),
);

test(
  'V1CODE-3 the example’s sequence runs with the default kernel and with one named by Python version',
  async ({ sandbox }) => {
    const created = await sandbox.ok('POST /v1/jupyter/sessions/create', { kernel_name: 'python3' });
    const { session_id: id } = created;
    expect(created).toEqual({ session_id: id, kernel_name: 'python3', message: expect.any(String) });
    await execute(sandbox, 'foo=1', { kernel_name: 'python3', session_id: id });
    const { outputs } = await execute(sandbox, 'print(foo)', { session_id: id, kernel_name: 'python3' });
    expect((outputs as JsonObject[])[0]?.['text']).toBe('1\n');

    const info = await sandbox.ok('GET /v1/jupyter/info');
    expect(info).toEqual({
      ...{ default_kernel: 'python3', active_sessions: 1, session_timeout_seconds: 1800, max_sessions: 5 },
      ...{ description: expect.any(String), kernel_detection: expect.any(String) },
      available_kernels: expect.arrayContaining(['python3']),
    });
    const version = (info['available_kernels'] as string[]).find((name) => /^python3\.\d+$/.test(name)) ?? '';
    const code = 'import sys\nprint("python%d.%d" % sys.version_info[:2])';
    expect(await execute(sandbox, code, { kernel_name: version, session_id: 'by version' })).toMatchObject({
      ...{ kernel_name: version, session_id: 'by version' },
      outputs: [{ text: `${version}\n` }],
    });

    const unknown = await sandbox.request('POST /v1/jupyter/execute', { code: '1', kernel_name: 'python2' });
    expect([unknown.status, unknown.body.errors]).toEqual([
      422,
      [{ location: 'body.kernel_name', message: expect.stringContaining('python3'), type: 'enum' }],
    ]);
    const refused = await sandbox.request('POST /v1/jupyter/sessions/create', { kernel_name: 'ruby' });
    expect([refused.status, refused.body.errors?.[0]?.location]).toEqual([422, 'body.kernel_name']);
  },
  withKernels(),
);

test(
  'V1CODE-3 a kernel of a 1.x image that is not installed is replaced by python3, with a hint',
  async ({ sandbox }) => {
    const { available_kernels: installed } = await sandbox.ok('GET /v1/jupyter/info');
    for (const name of ['python3.10', 'python3.11', 'python3.12']) {
      const isInstalled = (installed as string[]).includes(name);
      const kernel = isInstalled ? name : 'python3';
      const hint = isInstalled ? undefined : expect.stringContaining(`${name} is not installed`);
      const { body } = await sandbox.request('POST /v1/jupyter/execute', { code: '6 * 7', kernel_name: name });
      expect(body).toMatchObject({ success: true, data: { kernel_name: kernel, status: 'ok' }, ...(hint && { hint }) });
      const created = await sandbox.request('POST /v1/jupyter/sessions/create', { kernel_name: name });
      expect(created.body).toMatchObject({ data: { kernel_name: kernel }, ...(hint && { hint }) });
      await sandbox.ok(`DELETE /v1/jupyter/sessions/${created.body.data.session_id}`);
    }
    const never = await sandbox.request('POST /v1/jupyter/execute', { code: '1', kernel_name: 'python3.9' });
    expect(never.status).toBe(422);
  },
  withKernels(),
);

test(
  'V1CODE-3 errors, timeouts and a missing directory are reported in the outputs',
  async ({ sandbox }) => {
    const failed = await execute(sandbox, 'print("before")\n1 / 0', { session_id: 's' });
    expect(failed).toMatchObject({ status: 'error', outputs: [{ text: 'before\n' }, { ename: 'ZeroDivisionError' }] });
    expect(Object.keys((failed['outputs'] as JsonObject[])[1] ?? {}).toSorted()).toEqual(
      [...Object.keys(empty), 'output_type'].toSorted(),
    );
    const slow = await execute(sandbox, 'import time\nprint("begun")\ntime.sleep(60)', { session_id: 's', timeout: 1 });
    expect(slow).toMatchObject({ status: 'timeout', outputs: [{ text: 'begun\n' }, { ename: 'KeyboardInterrupt' }] });

    const place = join(sandbox.directory, 'place');
    mkdirSync(place);
    const there = await execute(sandbox, 'import os; print(os.getcwd())', { cwd: place });
    expect(there).toMatchObject({ outputs: [{ text: `${place}\n` }] });
    for (const session of [null, 's']) {
      const body = { code: 'print(1)', cwd: '/nowhere', session_id: session };
      const reply = await sandbox.request('POST /v1/jupyter/execute', body);
      expect(reply).toMatchObject({ status: 200, body: { success: false, data: { status: 'error' } } });
      expect(reply.body.message).toMatch(/^cwd \/nowhere: .*no such file or directory/i);
      expect(reply.body.data['outputs']).toMatchObject([{ output_type: 'error', ename: 'DirectoryError' }]);
    }
    const reply = await sandbox.request('POST /v1/jupyter/sessions/create', { cwd: '/nowhere' });
    expect(reply.status).toBe(400);
  },
  withKernels(),
);

test(
  'V1CODE-3 sessions are created without arguments, found by name, and all ended in one call',
  async ({ sandbox }) => {
    const first = await emptyBody(sandbox, 'POST /v1/jupyter/sessions/create');
    const named = { session_id: 'thread/ü 1', kernel_name: null, cwd: '/' };
    const second = await sandbox.ok('POST /v1/jupyter/sessions/create', named);
    expect(await sandbox.ok('POST /v1/jupyter/sessions/create', named)).toMatchObject({
      ...{ session_id: 'thread/ü 1', message: expect.not.stringMatching(second['message'] as string) },
    });
    expect(await execute(sandbox, 'import os; os.getcwd()', { session_id: 'thread/ü 1' })).toMatchObject({
      outputs: [{ data: { 'text/plain': "'/'" } }],
    });
    // The route for all languages uses the same kernels for Python.
    await sandbox.ok('POST /v1/code/execute', { language: 'python', code: 'y = 1', session_id: 'shared' });
    expect(await execute(sandbox, 'y', { session_id: 'shared' })).toMatchObject({ status: 'ok', execution_count: 2 });
    expect(await sandbox.ok('POST /v1/code/execute', { language: 'python', code: 'y' })).toMatchObject({
      exit_code: null,
      status: 'error',
    });
    const { sessions } = await sandbox.ok('GET /v1/jupyter/sessions');
    expect(Object.keys(sessions)).toEqual([first['session_id'], 'thread/ü 1', 'shared']);
    await sandbox.ok(`DELETE /v1/jupyter/sessions/${encodeURIComponent('thread/ü 1')}`);
    expect(await sandbox.ok('DELETE /v1/jupyter/sessions')).toEqual({ cleaned_sessions: 2 });
    expect(await sandbox.ok('GET /v1/jupyter/sessions')).toEqual({ sessions: {} });
  },
  withKernels(),
);

test(
  'V1CODE-3 kernels are used whatever is pinned, up to their limit, and end when idle',
  async ({ sandbox }) => {
    await execute(sandbox, 'get_ipython()', { session_id: 's' });
    const plain = await sandbox.ok('POST /v1/code/execute', { language: 'python', code: '1' });
    expect(plain['exit_code']).toBe(0);
    const more = await sandbox.request('POST /v1/jupyter/sessions/create', {});
    expect([more.status, more.headers.get('retry-after')]).toEqual([429, '1']);
    const other = await sandbox.request('PATCH /v1/jupyter/sessions/s', {});
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD']);
    for (const verb of ['interrupt', 'restart']) {
      expect((await sandbox.request(`POST /v1/jupyter/sessions/s/${verb}`, {})).status).toBe(404);
    }
    await until(
      'it is closed',
      async () => Object.keys((await sandbox.ok('GET /v1/jupyter/sessions'))['sessions']).length === 0,
    );
  },
  withKernels({ SVC_CODE_BACKEND: 'native', SVC_KERNEL_MAX_SESSIONS: '1', SVC_KERNEL_SESSION_TIMEOUT_SECS: '2' }),
);

test(
  'V1CODE-3 a kernel started in advance runs the first cell at once, also when named',
  async ({ sandbox }) => {
    const kernels = () => sandbox.processes().filter(({ command }) => command.includes('-m ipykernel_launcher -f'));
    await until('a kernel waits', () => kernels().length === 1);
    const [waiting] = kernels();
    const { outputs } = await execute(sandbox, 'import os; os.getpid()', { kernel_name: 'python3', cwd: '/' });
    expect(outputs).toMatchObject([{ data: { 'text/plain': String(waiting?.pid) } }]);
    await until('another one waits', () => kernels().length === 1 && kernels()[0]?.pid !== waiting?.pid);
  },
  withKernels({ SVC_CODE_BACKEND: 'native', SVC_KERNEL_PREWARM: '1' }),
);

test(
  'V1CODE-5 without ipykernel every route is 501, before anything starts',
  async ({ sandbox }) => {
    for (const [route, body] of [
      ['POST /v1/jupyter/execute', { code: 'open("/tmp/never", "w")' }],
      ['POST /v1/jupyter/execute', { code: '1', kernel_name: 'python3.11', session_id: 's' }],
      ['POST /v1/jupyter/sessions/create', {}],
      ['GET /v1/jupyter/info', undefined],
      ['GET /v1/jupyter/sessions', undefined],
      ['DELETE /v1/jupyter/sessions', undefined],
      ['DELETE /v1/jupyter/sessions/s', undefined],
    ] as const) {
      const reply = await sandbox.request(route, body);
      expect([route, reply.status, reply.body.success]).toEqual([route, 501, false]);
      expect([reply.body.message, reply.body.hint]).toEqual([
        expect.stringContaining('kernel'),
        expect.stringMatching(/pip install ipykernel\. POST \/v1\/code\/execute runs Python without a kernel\.$/),
      ]);
    }
    expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
  },
  { env: { PATH: '/usr/bin:/bin' }, launcher: withoutInterpreters },
);

test(
  'V1CODE-3 invalid input of a 1.x client is reported in v1 terms',
  async ({ sandbox }) => {
    const wrong = await sandbox.request('POST /v1/jupyter/execute', { timeout: 301, session_id: 1 });
    expect([wrong.status, wrong.body.errors?.map(({ location, type }) => `${location} ${type}`)]).toEqual([
      422,
      ['body.code missing', 'body.timeout too_large', 'body.session_id string_type'],
    ]);
    const long = await sandbox.request('POST /v1/jupyter/execute', { code: '1', session_id: 'ü'.repeat(65) });
    expect(long.status).toBe(400);
    expect((await sandbox.request(`DELETE /v1/jupyter/sessions/${'x'.repeat(300)}`)).body.success).toBe(false);
  },
  withKernels(),
);
