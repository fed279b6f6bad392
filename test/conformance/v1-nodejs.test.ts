/** The behavior of JavaScript for 1.x clients. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { withoutInterpreters } from '../harness/hidden-interpreters.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

beforeAll(() => needPrograms('node'));

function execute(sandbox: Sandbox, code: string, more: object = {}): Promise<JsonObject> {
  return sandbox.ok('POST /v1/nodejs/execute', { code, ...more });
}

/** As the Python client sends a call without arguments. */
const emptyBody = (sandbox: Sandbox, route: string) => sandbox.ok(route, '', { 'content-type': 'application/json' });

test('V1CODE-4 a program runs alone, and every field of its answer is set', async ({ sandbox }) => {
  const code = 'console.log(process.version); console.log(JSON.stringify({ ok: true }));';
  const answer = await execute(sandbox, code);
  const text = `${(await sandbox.ok('GET /v1/nodejs/info'))['node_version']}\n{"ok":true}\n`;
  expect(answer).toEqual({
    ...{ language: 'javascript', status: 'ok', execution_count: 1, code, exit_code: 0, session_id: null },
    ...{ stdout: text, stderr: '' },
    outputs: [
      {
        ...{ output_type: 'stream', name: 'stdout', text, data: null, metadata: null },
        ...{ ename: null, evalue: null, traceback: null },
      },
    ],
  });
});

test('V1CODE-4 a program has its own directory with its files, which is removed with it', async ({ sandbox }) => {
  const code = `
    const fs = require('fs');
    console.log(process.cwd());
    console.log(JSON.stringify(fs.readdirSync('.').sort()), require('./lib/add.js')(1, JSON.parse(fs.readFileSync('two.json'))));
    fs.mkdirSync('left/behind', { recursive: true });
    fs.symlinkSync('/etc', 'link');`;
  const files = { 'two.json': '2', 'lib/add.js': 'module.exports = (a, b) => a + b;' };
  const { stdout } = await execute(sandbox, code, { files });
  const [directory = '', rest] = (stdout as string).split('\n');
  expect(rest).toBe('["lib","two.json"] 3');
  await until('it is gone', () => !existsSync(directory));
  expect(existsSync('/etc/passwd')).toBe(true);
  const other = await execute(sandbox, 'console.log(process.cwd(), require("fs").readdirSync(".").length)');
  expect(other['stdout']).not.toContain(directory);
  expect(other['stdout']).toMatch(/ 0\n$/);
  await until('nothing is left', () =>
    readdirSync(join(sandbox.directory, 'tmp')).every((name) => !name.startsWith('code_')),
  );
});

test(
  'V1CODE-4 only the default account can enter the directory of a program',
  async ({ sandbox }) => {
    const code =
      'const s = require("fs").statSync("."); console.log((s.mode & 0o777).toString(8), s.uid === process.getuid())';
    const more = { files: { a: 'text' } };
    expect((await execute(sandbox, code, more))['stdout']).toBe('700 true\n');
    expect((await execute(sandbox, 'require("fs").appendFileSync("a", "!"); console.log("ok")', more))['stdout']).toBe(
      'ok\n',
    );
  },
  asTestAccount(),
);

test('V1CODE-4 files of code that runs elsewhere are written there, and stay', async ({ sandbox }) => {
  const place = join(sandbox.directory, 'place');
  mkdirSync(place);
  const read = 'console.log(require("fs").readFileSync("a.txt", "utf8"))';
  expect((await execute(sandbox, read, { cwd: place, files: { 'a.txt': 'one' } }))['stdout']).toBe('one\n');
  expect(readFileSync(join(place, 'a.txt'), 'utf8')).toBe('one');
  await execute(sandbox, `process.chdir(${JSON.stringify(place)})`, { session_id: 's', cwd: place });
  expect((await execute(sandbox, read, { session_id: 's', files: { 'a.txt': 'two' } }))['stdout']).toBe('two\n');
  for (const name of ['../a', '/etc/a', '', 'a//b', './a', 'a\0']) {
    const reply = await sandbox.request('POST /v1/nodejs/execute', { code: 'throw 1', files: { [name]: '' } });
    expect([name, reply.status, reply.body.message]).toEqual([name, 400, expect.stringContaining('files: ')]);
  }
  const both = await sandbox.request('POST /v1/nodejs/execute', { code: '1', files: { a: '', 'a/b': '' } });
  expect(both.status).toBe(400);
  await until('nothing is left', () =>
    readdirSync(join(sandbox.directory, 'tmp')).every((name) => !name.startsWith('code_')),
  );
});

test('V1CODE-4 a program runs until its timers and handles are done, as with node', async ({ sandbox }) => {
  const code = `
    setTimeout(() => console.log('timer'), 50);
    require('child_process').exec('echo child', (_, out) => process.stdout.write(out));
    console.log('code');`;
  const { stdout } = await execute(sandbox, code);
  expect((stdout as string).split('\n').toSorted()).toEqual(['', 'child', 'code', 'timer']);
  const late = await execute(sandbox, 'setTimeout(() => { throw new TypeError("late") }, 20); void 0');
  expect(late).toMatchObject({ status: 'error', exit_code: 1, outputs: [{ ename: 'TypeError', evalue: 'late' }] });
  const coded = await execute(sandbox, 'setTimeout(() => { process.exitCode = 4 }, 20); void 0');
  expect(coded).toMatchObject({ status: 'error', exit_code: 4 });
  const left = await execute(sandbox, 'setTimeout(() => process.exit(5), 20); setInterval(() => 0, 1000); void 0');
  expect(left).toMatchObject({ status: 'error', exit_code: 5 });
  const stalled = await execute(sandbox, 'await new Promise(() => 0)');
  expect(stalled).toMatchObject({ status: 'error', exit_code: 1, outputs: [{ ename: 'Stalled' }] });
  const server = await execute(sandbox, 'require("http").createServer().listen(0); console.log("on")', { timeout: 1 });
  expect(server).toMatchObject({ status: 'timeout', exit_code: 124, stdout: 'on\n' });
  const failed = await execute(sandbox, 'setInterval(() => 0, 1000); throw new Error("at once")');
  expect(failed).toMatchObject({ status: 'error', exit_code: 1, outputs: [{ evalue: 'at once' }] });
});

/** A program that records its directory, and prints after its wait. */
function slowProgram(sandbox: Sandbox, waitMs: number) {
  const note = join(sandbox.directory, 'note');
  const path = JSON.stringify(note);
  const code = `require('fs').writeFileSync(${path}, process.cwd()); setTimeout(() => console.log('late'), ${waitMs})`;
  const directory = () => (existsSync(note) ? readFileSync(note, 'utf8') : '');
  return { answer: execute(sandbox, code), directory, runs: () => until('it runs', () => directory() !== '') };
}

test(
  'V1CODE-4 a program survives a daemon crash, and its directory does not',
  async ({ sandbox }) => {
    const { answer, directory, runs } = slowProgram(sandbox, 500);
    await runs();
    const lost = answer.catch(() => null);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await lost;
    await sandbox.served();
    await until('its directory is gone', () => !existsSync(directory()), 20_000);
  },
  { expectedWarnings: ['started again by init'] },
);

test('V1CODE-4 a program is answered across an upgrade of the daemon', async ({ sandbox }) => {
  const { answer, directory, runs } = slowProgram(sandbox, 2000);
  await runs();
  expect((await sandbox.upgrade()).code).toBe(0);
  await sandbox.served();
  expect(await answer).toMatchObject({ status: 'ok', stdout: 'late\n' });
  await until('its directory is gone', () => !existsSync(directory()), 20_000);
});

test('V1CODE-4 a daemon that stops ends its programs, and leaves nothing of them', async ({ sandbox }) => {
  const { answer, directory, runs } = slowProgram(sandbox, 60_000);
  await runs();
  expect(await sandbox.stop()).toBe(0);
  expect(await answer).toMatchObject({ status: 'timeout' });
  expect(existsSync(directory())).toBe(false);
});

test('V1CODE-4 the guide’s session keeps its state, with only a session_id', async ({ sandbox }) => {
  await execute(sandbox, 'globalThis.count = 1', { session_id: 'js-repl' });
  const more = await execute(sandbox, 'globalThis.count += 1; console.log(globalThis.count)', {
    session_id: 'js-repl',
  });
  expect(more).toMatchObject({ stdout: '2\n', session_id: 'js-repl', execution_count: 2 });
  const { sessions } = await sandbox.ok('GET /v1/nodejs/sessions');
  expect(sessions).toEqual({
    'js-repl': {
      ...{ session_id: 'js-repl', cwd: expect.any(String), max_idle_time: 1_800_000, age_seconds: 0, state: 'IDLE' },
      ...{ created_at: expect.any(Number), last_used: expect.any(Number) },
    },
  });
  expect(sessions['js-repl'].created_at).toBeGreaterThan(1.6e12);
  expect(await sandbox.ok('DELETE /v1/nodejs/sessions/js-repl')).toEqual({ deleted: true });
  for (const method of ['DELETE', 'GET']) {
    expect(await sandbox.request(`${method} /v1/nodejs/sessions/js-repl`)).toMatchObject({
      status: 404,
      body: {
        success: false,
        message: 'no session of Node.js has the id js-repl',
        hint: expect.stringContaining('POST'),
      },
    });
  }
});

test('V1CODE-4 a session is created with its limits, found again, inspected while it runs, and closed', async ({
  sandbox,
}) => {
  const created = await sandbox.ok('POST /v1/nodejs/sessions', { session_id: 's', cwd: '/', max_idle_time: 60 });
  expect(created).toMatchObject({ session_id: 's', created: true, message: null });
  expect(created['session']).toMatchObject({ session_id: 's', cwd: '/', max_idle_time: 60_000, state: 'IDLE' });
  const again = await sandbox.ok('POST /v1/nodejs/sessions?version=node22', { session_id: 's' });
  expect(again).toMatchObject({
    session_id: 's',
    created: false,
    message: expect.stringContaining('s was there already'),
  });
  const named = await emptyBody(sandbox, 'POST /v1/nodejs/sessions');
  expect(named).toMatchObject({ created: true, session: { max_idle_time: 86_400_000 } });

  const busy = execute(sandbox, 'await new Promise((r) => setTimeout(r, 600)); 1', { session_id: 's', stateful: true });
  await until('it runs', async () => (await sandbox.ok('GET /v1/nodejs/sessions/s'))['session'].state === 'EXECUTING');
  await busy;
  expect((await sandbox.ok('GET /v1/nodejs/sessions/s?version=20'))['session']).toMatchObject({
    state: 'IDLE',
    cwd: '/',
  });
  const minted = await execute(sandbox, 'let a = 1', { stateful: true, session_id: '' });
  expect(Object.keys((await sandbox.ok('GET /v1/nodejs/sessions'))['sessions'])).toEqual([
    's',
    named['session_id'],
    minted['session_id'],
  ]);
});

test('V1CODE-4 a session whose Node.js dies reports that, and continues with a new one', async ({ sandbox }) => {
  const died = await execute(sandbox, 'console.log("last"); process.kill(process.pid, "SIGKILL")', { session_id: 's' });
  expect(died).toMatchObject({ status: 'error', exit_code: 137, stdout: 'last\n', session_id: 's' });
  expect((died['outputs'] as JsonObject[]).at(-1)).toMatchObject({ output_type: 'error', ename: 'KernelDied' });
  expect(await execute(sandbox, '1', { session_id: 's' })).toMatchObject({ status: 'ok', execution_count: 1 });
});

test('V1CODE-4 an invalid session is refused', async ({ sandbox }) => {
  const refused = async (body: object) => {
    const reply = await sandbox.request('POST /v1/nodejs/sessions', body);
    return [reply.status, reply.body.errors?.map(({ location, type }) => `${location} ${type}`)];
  };
  expect(await refused({ max_idle_time: 59 })).toEqual([422, ['body.max_idle_time too_small']]);
  expect(await refused({ max_idle_time: 86_401 })).toEqual([422, ['body.max_idle_time too_large']]);
  expect(await refused({ session_id: 1 })).toEqual([422, ['body.session_id string_type']]);
  expect(await refused({ cwd: '/nowhere' })).toEqual([400, undefined]);
  const patch = await sandbox.request('PATCH /v1/nodejs/sessions/s', { max_idle_time: 100 });
  expect([patch.status, patch.body.hint]).toEqual([404, expect.stringContaining('gone')]);
});

test('V1CODE-6 stdin and other unused 1.x fields of the body are ignored', async ({ sandbox }) => {
  const more = { stdin: 'typed', version: 'node20', files: null, stateful: null, session_id: null, cwd: null };
  const code = 'console.log(JSON.stringify(require("fs").readFileSync(0, "utf8")))';
  expect(await execute(sandbox, code, { ...more, timeout: null })).toMatchObject({ status: 'ok', stdout: '""\n' });
  const wrong = await sandbox.request('POST /v1/nodejs/execute', { code: '1', files: { a: 1 }, timeout: 0 });
  expect(wrong.body.errors?.map(({ location }) => location)).toEqual(['body.timeout', 'body.files.a']);
});

test('V1CODE-4 Node.js is described with its version and its packages', async ({ sandbox }) => {
  const info = await sandbox.ok('GET /v1/nodejs/info');
  expect(info).toMatchObject({
    node_version: expect.stringMatching(/^v\d+\.\d+\.\d+$/),
    npm_version: expect.any(String),
    supported_languages: ['javascript'],
    ...{ runtime_directory: null, global_npm_directory: null, runtime_packages: [] },
    global_packages: expect.any(Array),
    current_version: expect.stringMatching(/^node\d+$/),
  });
  expect(info['available_versions']).toEqual([info['current_version']]);
});

test(
  'V1CODE-4 without Node.js the description says so, and nothing runs',
  async ({ sandbox }) => {
    expect(await sandbox.ok('GET /v1/nodejs/info')).toMatchObject({
      ...{ node_version: '', npm_version: '', error: 'no node on PATH', current_version: null, available_versions: [] },
    });
    expect((await sandbox.request('POST /v1/nodejs/execute', { code: '1' })).status).toBe(503);
    expect(readdirSync(join(sandbox.directory, 'tmp'))).toEqual([]);
  },
  { env: { PATH: '/usr/bin:/bin' }, launcher: withoutInterpreters },
);
