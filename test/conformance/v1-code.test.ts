/** The behavior of 1.x code runs in any language. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { withoutInterpreters } from '../harness/hidden-interpreters.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { testAccount, withTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

beforeAll(() => needPrograms('python3', 'node'));

const native = { env: { PATH: process.env['PATH'] ?? '', SVC_CODE_BACKEND: 'native' } };

function execute(sandbox: Sandbox, body: object): Promise<JsonObject> {
  return sandbox.ok('POST /v1/code/execute', body);
}

test(
  'V1CODE-1 the guide’s programs of both languages run, and return their output',
  async ({ sandbox }) => {
    const python = { language: 'python', code: 'print(sum([1, 2, 3]))' };
    expect(await execute(sandbox, python)).toEqual({
      ...python,
      status: 'ok',
      outputs: [
        {
          ...{ output_type: 'stream', name: 'stdout', text: '6\n', data: null, metadata: null },
          ...{ execution_count: null, ename: null, evalue: null, traceback: null },
        },
      ],
      stdout: '6\n',
      stderr: '',
      exit_code: 0,
      traceback: null,
      session_id: null,
    });
    const code = 'console.log([1, 2, 3].reduce((a, b) => a + b, 0));';
    expect(await execute(sandbox, { language: 'javascript', code })).toMatchObject({
      ...{ language: 'javascript', status: 'ok', stdout: '6\n', exit_code: 0, session_id: null },
      outputs: [{ output_type: 'stream', text: '6\n' }],
    });
  },
  native,
);

test(
  'V1CODE-1 printed output is the first output, in one piece, however it arrived',
  async ({ sandbox }) => {
    const code = 'import sys\nfor n in range(3):\n  print(n)\n  print("no", file=sys.stderr)\n  display(n)\n40 + 2';
    const { outputs } = await execute(sandbox, { language: 'python', code });
    expect(outputs).toMatchObject([
      { output_type: 'stream', name: 'stdout', text: '0\n1\n2\n' },
      { output_type: 'stream', name: 'stderr', text: 'no\nno\nno\n' },
      { output_type: 'display_data', data: { 'text/plain': '0' } },
      { output_type: 'display_data', data: { 'text/plain': '1' } },
      { output_type: 'display_data', data: { 'text/plain': '2' } },
      { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '42' } },
    ]);
  },
  native,
);

test(
  'V1CODE-1 code that fails or is too slow is a handled request, with the failure in its status',
  async ({ sandbox }) => {
    const failed = await execute(sandbox, { language: 'python', code: 'print("before")\n1 / 0' });
    expect(failed).toMatchObject({ status: 'error', exit_code: 1, stdout: 'before\n' });
    expect(failed['outputs']).toMatchObject([
      { text: 'before\n' },
      { output_type: 'error', ename: 'ZeroDivisionError' },
    ]);
    expect((failed['traceback'] as string[]).join('\n')).toContain('1 / 0');
    const slow = { language: 'python', code: 'import time\nprint("begun", flush=True)\ntime.sleep(60)', timeout: 1 };
    const timedOut = await sandbox.request('POST /v1/code/execute', slow);
    expect(timedOut).toMatchObject({
      status: 200,
      body: { success: true, message: expect.stringContaining('1 s'), data: { status: 'timeout', stdout: 'begun\n' } },
    });
    const { exit_code: code } = await execute(sandbox, { language: 'javascript', code: 'process.exit(3)' });
    expect(code).toBe(3);
  },
  native,
);

test(
  'V1CODE-1 stateful keeps variables in a session of its own or a named one, separately for each language',
  async ({ sandbox }) => {
    const first = await execute(sandbox, { language: 'python', code: 'kept = 1', stateful: true });
    expect(first['session_id']).toEqual(expect.any(String));
    const again = { language: 'python', code: 'kept + 1', stateful: true, session_id: first['session_id'] };
    expect(await execute(sandbox, again)).toMatchObject({ outputs: [{ data: { 'text/plain': '2' } }] });

    // The same name is a separate session in each language, and any text is a name.
    for (const name of ['chat', 'user 42/ü', 'javascript.x', '__proto__']) {
      await execute(sandbox, { language: 'python', code: 'x = "of python"', session_id: name });
      await execute(sandbox, { language: 'javascript', code: 'const x = "of javascript"', session_id: name });
      expect(await execute(sandbox, { language: 'python', code: 'print(x)', session_id: name })).toMatchObject({
        session_id: name,
        stdout: 'of python\n',
      });
      const read = { language: 'javascript', code: 'console.log(x)', session_id: name };
      expect(await execute(sandbox, read)).toMatchObject({ session_id: name, stdout: 'of javascript\n' });
    }
    // The first session with a name has that name on every route.
    const { sessions } = await sandbox.ok('GET /v2/code/sessions');
    expect(sessions).toMatchObject({ chat: { language: 'python' }, 'javascript.chat': { language: 'javascript' } });
    const made = { language: 'javascript', session_id: 'shared', code: 'const y = 1' };
    await execute(sandbox, made);
    const seen = await sandbox.ok('POST /v2/code/execute', { ...made, code: 'console.log(y)' });
    expect(seen['stdout']).toBe('1\n');
    const long = await sandbox.request('POST /v1/code/execute', {
      ...{ language: 'python', code: '1', session_id: 'x'.repeat(129) },
    });
    expect([long.status, long.body.message]).toEqual([400, expect.stringContaining('128')]);
  },
  native,
);

test(
  'V1CODE-1 CODE-12 a session with any 1.x name is listed by v2, and deleted under the id of that list',
  async ({ sandbox }) => {
    for (const id of ['chat', 'sessions', 'user 42/ü', 'ü'.repeat(64), 'x'.repeat(128)])
      for (const language of ['python', 'javascript']) await execute(sandbox, { language, code: '1', session_id: id });
    const { sessions } = await sandbox.ok('GET /v2/code/sessions');
    expect(Object.keys(sessions)).toHaveLength(10);
    for (const id of Object.keys(sessions)) {
      expect(await sandbox.ok(`GET /v2/code/sessions/${id}`)).toMatchObject({ session_id: id });
      expect(await sandbox.ok(`DELETE /v2/code/sessions/${id}`)).toEqual({ session_id: id });
    }
    expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
  },
  native,
);

test(
  'V1CODE-1 the value of the last expression is an output, and is not printed',
  async ({ sandbox }) => {
    expect(await execute(sandbox, { language: 'python', code: '2**10' })).toMatchObject({
      stdout: '',
      outputs: [{ output_type: 'execute_result', data: { 'text/plain': '1024' } }],
    });
  },
  native,
);

test(
  'V1CODE-1 code runs in the requested directory, and a missing directory is an error of the code',
  async ({ sandbox }) => {
    const place = join(sandbox.directory, 'place');
    mkdirSync(place);
    const there = { language: 'python', code: 'import os\nprint(os.getcwd())', cwd: place };
    expect((await execute(sandbox, there))['stdout']).toBe(`${place}\n`);
    for (const language of ['python', 'javascript']) {
      for (const session of [null, 'kept']) {
        const reply = await sandbox.request('POST /v1/code/execute', {
          ...{ language, code: '1', cwd: '/nowhere', session_id: session },
        });
        expect(reply).toMatchObject({ status: 200, body: { success: false, data: { status: 'error' } } });
        expect(reply.body.message).toMatch(/^cwd \/nowhere: .*no such file or directory/i);
        expect(reply.body.data['outputs']).toMatchObject([{ output_type: 'error', ename: 'DirectoryError' }]);
      }
    }
    const own = `class DirectoryError(Exception): pass\nraise DirectoryError("working directory ${place}: of the code")`;
    const thrown = await sandbox.request('POST /v1/code/execute', { language: 'python', code: own, cwd: place });
    expect(thrown).toMatchObject({ status: 200, body: { success: true, data: { status: 'error' } } });
    expect(thrown.body.message).toBe('The code ended with an error');
    const impossible = await sandbox.request('POST /v1/code/execute', { language: 'python', code: '1', cwd: 'a\0b' });
    expect(impossible.status).toBe(400);
  },
  native,
);

test(
  'V1CODE-1 optional fields may be null or unknown, and an invalid field is named',
  async ({ sandbox }) => {
    const nothing = { timeout: null, cwd: null, session_id: null, unheard_of: 1 };
    expect(await execute(sandbox, { language: 'python', code: '', ...nothing })).toMatchObject({
      ...{ status: 'ok', outputs: [], stdout: '', stderr: '', session_id: null },
    });
    const wrong = async (body: object) => {
      const reply = await sandbox.request('POST /v1/code/execute', body);
      return [reply.status, reply.body.errors?.map(({ location, type }) => `${location} ${type}`)];
    };
    expect(await wrong({})).toEqual([422, ['body.language missing', 'body.code missing']]);
    expect(await wrong({ language: 'ruby', code: '1' })).toEqual([422, ['body.language enum']]);
    expect(await wrong({ language: 'python', code: 1, timeout: 301 })).toEqual([
      422,
      ['body.code string_type', 'body.timeout too_large'],
    ]);
    expect(await wrong({ language: 'python', code: '1', timeout: 0.5 })).toEqual([422, ['body.timeout int_type']]);
  },
  native,
);

test(
  'V1CODE-2 both languages are described with their versions and times',
  async ({ sandbox }) => {
    const { languages } = await sandbox.ok('GET /v1/code/info');
    const version = expect.stringMatching(/^\d+\.\d+\.\d+$/);
    const times = { description: expect.any(String), default_timeout: 30, max_timeout: 300 };
    expect(languages).toEqual([
      {
        ...times,
        language: 'python',
        runtime_version: version,
        details: expect.objectContaining({ backend: 'native' }),
      },
      {
        ...times,
        language: 'javascript',
        runtime_version: version,
        details: expect.objectContaining({ backend: 'node' }),
      },
    ]);
  },
  native,
);

test(
  'V1CODE-1 a language that is not installed is 503, before anything starts',
  async ({ sandbox }) => {
    const reply = await sandbox.request('POST /v1/code/execute', { language: 'javascript', code: '1' });
    expect([reply.status, reply.body.hint]).toEqual([503, expect.stringContaining('Install Node.js')]);
    const { languages } = await sandbox.ok('GET /v1/code/info');
    expect(languages).toMatchObject([
      { runtime_version: null },
      { runtime_version: null, details: { available: false } },
    ]);
  },
  { env: { PATH: '/usr/bin:/bin' }, launcher: withoutInterpreters },
);

test(
  'V1CODE-1 a busy session queues its next cell, and an unused one is closed in time',
  async ({ sandbox }) => {
    const slow = execute(sandbox, { language: 'python', code: 'import time\ntime.sleep(0.3)\nx = 1', session_id: 's' });
    await until(
      'it is there',
      async () => Object.keys((await sandbox.ok('GET /v2/code/sessions'))['sessions']).length > 0,
    );
    expect(await execute(sandbox, { language: 'python', code: 'print(x)', session_id: 's' })).toMatchObject({
      stdout: '1\n',
    });
    await slow;
    await until(
      'it is closed',
      async () => Object.keys((await sandbox.ok('GET /v2/code/sessions'))['sessions']).length === 0,
    );
  },
  { env: { ...native.env, SVC_CODE_SESSION_TIMEOUT_SECS: '1' } },
);

test(
  'V1CODE-1 an account without a home that it can enter runs code at the root',
  async ({ sandbox }) => {
    for (const [language, code] of [
      ['python', 'import os; print(os.getcwd())'],
      ['javascript', 'console.log(process.cwd())'],
    ]) {
      const ran = await execute(sandbox, { language, code, stateful: true });
      expect(ran).toMatchObject({ language, stdout: '/\n' });
    }
  },
  withTestAccount({
    ...native,
    args: ['--default-user', testAccount.name],
    prepare: (sandbox) => chmodSync(sandbox.directory, 0o700),
  }),
);
