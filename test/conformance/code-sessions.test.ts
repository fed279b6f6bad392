/** The behavior of stateful code sessions. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { backends, Session, value } from '../harness/cells.ts';
import { KeptConnection } from '../harness/kept-connection.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

async function run(sandbox: Sandbox, code: string, more: Record<string, Json> = {}): Promise<JsonObject> {
  const body = { language: 'python', session_id: 'state', code, ...more };
  return (await sandbox.request('POST /v2/code/execute', body)).body.data;
}

const session = (sandbox: Sandbox) => sandbox.ok('GET /v2/code/sessions/state');

test('CODE-1 CODE-19 code runs alone, and its state and processes end with it', async ({ sandbox }) => {
  const first = await sandbox.ok('POST /v2/code/execute', { language: 'python3', code: 'kept = 6 * 7\nkept' });
  expect(first).toMatchObject({ language: 'python', session_id: null, status: 'ok', exit_code: 0, execution_count: 1 });
  expect(first['outputs']).toEqual([
    { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '42' }, metadata: {} },
  ]);
  const second = await sandbox.request('POST /v2/code/execute', { language: 'python', code: 'kept' });
  expect(second).toMatchObject({ status: 200, body: { success: false, data: { status: 'error', exit_code: 1 } } });
  expect((second.body.data['outputs'] as JsonObject[]).at(-1)).toMatchObject({
    output_type: 'error',
    ename: 'NameError',
  });
  expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
});

test('CODE-4 CODE-5 CODE-12 the first cell creates a session, which keeps its state, and is listed, read and deleted', async ({
  sandbox,
}) => {
  await run(sandbox, 'import os\nnumber = 1\nprint("seen")');
  expect(await run(sandbox, 'number + 1')).toMatchObject({ session_id: 'state', execution_count: 2 });
  expect(await sandbox.ok('GET /v2/code/sessions')).toMatchObject({
    sessions: { state: { language: 'python', backend: 'native', state: 'idle', execution_count: 2 } },
  });
  const read = await session(sandbox);
  expect(read['last_execution']).toMatchObject({ code: 'number + 1', status: 'ok' });
  const { pid } = read;
  expect(await run(sandbox, 'os.getpid()')).toMatchObject({ outputs: [{ data: { 'text/plain': String(pid) } }] });
  expect(await sandbox.request('POST /v2/code/sessions', { id: 'state' })).toMatchObject({
    body: { data: { pid, created: false }, hint: expect.stringContaining('was there already') },
  });
  expect(await sandbox.request('POST /v2/code/sessions', { id: 'state', env: { A: '1' } })).toMatchObject({
    status: 409,
    body: { message: 'session state exists already, with other values of A', data: { code: 'session_exists' } },
  });
  expect(await sandbox.request('POST /v2/code/sessions', { id: 'state', language: 'javascript' })).toMatchObject({
    status: 409,
    body: { message: 'session state runs python', data: { code: 'session_exists' } },
  });
  expect(await sandbox.ok('DELETE /v2/code/sessions/state')).toEqual({ session_id: 'state' });
  expect((await sandbox.request('GET /v2/code/sessions/state')).status).toBe(404);
});

test('CODE-1 the hint for a module that is missing names its installer', async ({ sandbox }) => {
  const hintOf = async (language: string, code: string) =>
    (await sandbox.request('POST /v2/code/execute', { language, code })).body.hint;
  expect(await hintOf('python', 'import no_such.module')).toContain('python3 -m pip install no_such.');
  expect(await hintOf('javascript', 'await import("no-such-package/part")')).toContain('npm install no-such-package.');
  expect(await hintOf('javascript', 'require("./own")')).toBeNull();
});

test('CODE-2 cells of one session run one after another, each exactly once', async ({ sandbox }) => {
  await run(sandbox, 'import time\norder = []');
  const cells = Array.from({ length: 8 }, (_, n) =>
    run(sandbox, `begun = len(order)\ntime.sleep(0.02)\norder.append(${n})\n[begun, len(order), order[-1]]`),
  );
  const shown = (await Promise.all(cells)).map((cell) => JSON.parse(value(cell) as string) as number[]);
  // Requests on several connections arrive in any order.
  expect(shown.map(([, , n]) => n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(shown.map(([begun]) => begun).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  for (const [begun = 0, ended] of shown) expect(ended).toBe(begun + 1);
});

test('CODE-18 an interpreter that dies is reported at once, and the session continues with a new one', async ({
  sandbox,
}) => {
  await run(sandbox, 'import os, signal\nkept = 1');
  const started = performance.now();
  const died = await run(sandbox, 'print("last words")\nos.kill(os.getpid(), signal.SIGKILL)');
  expect(performance.now() - started).toBeLessThan(1000);
  expect(died).toMatchObject({
    status: 'error',
    exit_code: null,
    stdout: 'last words\n',
    kernel: { signal: 'SIGKILL', restarted: true, before_cell: false },
  });
  expect((died['outputs'] as JsonObject[]).at(-1)).toMatchObject({ output_type: 'error', ename: 'KernelDied' });
  expect(await run(sandbox, '"kept" in globals()')).toMatchObject({
    kernel: { signal: 'SIGKILL', before_cell: true },
    execution_count: 1,
    outputs: [{ data: { 'text/plain': 'False' } }],
  });
  expect(await run(sandbox, 'import os\nos._exit(3)')).toMatchObject({ exit_code: 3, kernel: { signal: null } });
  const gone = join(sandbox.directory, 'gone');
  mkdirSync(gone);
  await run(sandbox, 'import os', { cwd: gone });
  rmSync(gone, { recursive: true });
  await run(sandbox, 'os._exit(3)');
  const lost = await sandbox.request('POST /v2/code/execute', { language: 'python', session_id: 'state', code: '1' });
  expect([lost.status, lost.body.message]).toEqual([400, expect.stringContaining(gone)]);
  expect(await run(sandbox, '"here"', { cwd: sandbox.directory })).toMatchObject({ status: 'ok' });
});

test('CODE-7 a timeout interrupts the code, and kills an interpreter that ignores the interrupt', async ({
  sandbox,
}) => {
  await run(sandbox, 'import time, signal\nkept = 1');
  const slow = await sandbox.request('POST /v2/code/execute', {
    ...{ language: 'python', session_id: 'state', timeout: 0.3 },
    code: 'print("begun")\ntime.sleep(30)',
  });
  expect(slow.body).toMatchObject({ success: false, data: { status: 'timeout', stdout: 'begun\n', kernel: null } });
  expect(await run(sandbox, 'kept')).toMatchObject({ status: 'ok' });
  const deaf = await run(sandbox, 'while True:\n  try: time.sleep(30)\n  except BaseException: pass', { timeout: 0.2 });
  expect(deaf).toMatchObject({ status: 'timeout', kernel: { restarted: true } });
  expect(await run(sandbox, '"kept" in globals()')).toMatchObject({ outputs: [{ data: { 'text/plain': 'False' } }] });
});

test('CODE-10 CODE-12 a session can be interrupted, restarted and deleted while it is busy', async ({ sandbox }) => {
  await run(sandbox, 'import time\nkept = 1');
  const busy = async () => (await session(sandbox))['state'] === 'busy';
  const interrupted = run(sandbox, 'time.sleep(60)');
  await until('it runs', busy);
  expect((await session(sandbox))['last_execution']).toMatchObject({ status: 'running', exit_code: null });
  await until(
    'it is interrupted',
    async () => (await sandbox.ok('POST /v2/code/sessions/state/interrupt'))['interrupted'] === true,
  );
  expect(await interrupted).toMatchObject({ status: 'error', outputs: [{ ename: 'KeyboardInterrupt' }] });
  const restarted = run(sandbox, 'time.sleep(60)');
  await until('it runs', busy);
  expect(await sandbox.ok('POST /v2/code/sessions/state/restart')).toMatchObject({ execution_count: 0 });
  expect(await restarted).toMatchObject({ status: 'error', outputs: [{ ename: 'SessionRestarted' }] });
  expect(await run(sandbox, '"kept" in globals()')).toMatchObject({ outputs: [{ data: { 'text/plain': 'False' } }] });
  using other = await KeptConnection.open(sandbox.url);
  const deleted = run(sandbox, 'import time; time.sleep(60)');
  await until('it runs', busy);
  const usedAt = async () => (await session(sandbox))['last_used_at'];
  const begunAt = await usedAt();
  const waiting = other.request('POST /v2/code/execute', { language: 'python', session_id: 'state', code: '1' });
  await until('the second cell waits', async () => (await usedAt()) !== begunAt);
  await sandbox.ok('DELETE /v2/code/sessions/state');
  expect(await deleted).toMatchObject({ status: 'error', outputs: [{ ename: 'SessionClosed' }] });
  expect((await waiting).status).toBe(404);
});

test(
  'CODE-21 PROMISE-1 a session, its state and the output of its cell outlive the daemon',
  async ({ sandbox }) => {
    await run(sandbox, 'import time\nkept = 1');
    const cut = sandbox.request('POST /v2/code/execute', {
      ...{ language: 'python', session_id: 'state' },
      code: 'for n in range(40):\n  print(n)\n  time.sleep(0.05)\nkept = 2\n"over"',
    });
    cut.catch(() => null); // Its connection ends with the daemon.
    await until('it prints', async () => JSON.stringify(await session(sandbox)).includes('5\\n'));
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await cut.catch(() => null);
    await sandbox.served();
    await until('the session is idle', async () => (await session(sandbox))['state'] === 'idle', 10_000);
    const { last_execution: last } = await session(sandbox);
    expect(last).toMatchObject({ status: 'ok', execution_count: 2, partial: false });
    expect((last as JsonObject)['stdout']).toBe(Array.from({ length: 40 }, (_, n) => `${n}\n`).join(''));
    expect(await run(sandbox, 'kept')).toMatchObject({ outputs: [{ data: { 'text/plain': '2' } }] });
    const { pid } = await session(sandbox);
    process.kill(sandbox.daemonPid, 'SIGSTOP'); // The stopped daemon sees nothing of this.
    process.kill(Number(pid), 'SIGKILL');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    const after = { language: 'python', session_id: 'state', code: '"kept" in globals()' };
    expect((await sandbox.request('POST /v2/code/execute', after)).body).toMatchObject({
      success: true,
      message: expect.stringContaining('had died'),
      data: { kernel: { restarted: true }, outputs: [{ data: { 'text/plain': 'False' } }] },
    });
  },
  { expectedWarnings: ['started again by init'] },
);

test(
  'CODE-21 a session that was deleted is gone, also when the daemon is killed right after its answer',
  async ({ sandbox }) => {
    await run(sandbox, 'kept = 1');
    await sandbox.ok('DELETE /v2/code/sessions/state');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect((await sandbox.request('GET /v2/code/sessions/state')).status).toBe(404);
  },
  { expectedWarnings: ['started again by init'] },
);

test('CODE-21 PROMISE-1 an upgrade loses no cell: running and queued cells are answered', async ({ sandbox }) => {
  const slow = 'import time\nfor n in range(20): print(n); time.sleep(0.1)\n"over"';
  await sandbox.ok('POST /v2/code/sessions', { language: 'python', id: 'state' });
  const alone = sandbox.request('POST /v2/code/execute', { language: 'python', code: slow });
  const running = run(sandbox, `kept = 1\n${slow}`);
  await until('it prints', async () => JSON.stringify(await session(sandbox)).includes('2\\n'));
  const waiting = run(sandbox, 'kept + 1');
  const served = sandbox.served();
  expect(await sandbox.upgrade()).toMatchObject({ code: 0, stderr: '' });
  await served;
  const stdout = Array.from({ length: 20 }, (_, n) => `${n}\n`).join('');
  expect((await alone).body.data).toMatchObject({ status: 'ok', stdout });
  expect(await running).toMatchObject({ status: 'ok', stdout });
  expect(await waiting).toMatchObject({ outputs: [{ data: { 'text/plain': '2' } }] });
  expect(await run(sandbox, 'kept + 2')).toMatchObject({ outputs: [{ data: { 'text/plain': '3' } }] });
});

for (const backend of backends) {
  const { language, name } = backend;
  test(
    `CODE-18 ${language} (${name}): a cell after a crash between two cells runs in a new interpreter and has its own outcome`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const run = (code: string) =>
        sandbox.request('POST /v2/code/execute', { language, session_id: 'state', code, timeout: 20 });
      const cases = [
        [
          '1',
          'The code has run in a new interpreter: the one before it had died',
          { status: 'ok', execution_count: 1 },
        ],
        ['kept', 'The code ended with an error in a new interpreter: the one before it had died', { status: 'error' }],
      ] as const;
      for (let round = 0; round < 3; round++) {
        for (const [code, message, data] of cases) {
          await session.run('kept = 1');
          process.kill(Number((await session.read())['pid']), 'SIGKILL');
          const { body } = await run(code);
          expect(body).toMatchObject({ message, hint: expect.stringContaining('state'), data });
          expect(body.data['kernel']).toMatchObject({ signal: 'SIGKILL', restarted: true, before_cell: true });
          expect((await run('2')).body.data).toMatchObject({ status: 'ok', kernel: null });
        }
      }
    },
    backend.options,
  );
}

for (const backend of backends) {
  const { language, name } = backend;
  test(
    `CODE-21 ${language} (${name}): a session survives a stop of the daemon, and its next cell reports that the state is lost`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      await session.run('kept = 1');
      const { created_at: created } = await session.read();
      expect(await sandbox.stop()).toBe(0);
      await sandbox.launch();

      expect(await session.read()).toMatchObject({ state: 'idle', pid: null, execution_count: 0, created_at: created });
      const code = language === 'python' ? '"kept" in globals()' : 'typeof kept';
      const next = await sandbox.request('POST /v2/code/execute', { language, code, session_id: 'state' });
      expect(next.body).toMatchObject({
        success: true,
        message: expect.stringContaining('had died'),
        data: { status: 'ok', execution_count: 1, kernel: { restarted: true } },
      });
      expect(value(next.body.data)).toBe(language === 'python' ? 'False' : "'undefined'");
      expect(await session.run('1')).toMatchObject({ status: 'ok', kernel: null });
    },
    backend.options,
  );
}
