/** The behavior of the interpreters themselves, through the daemon. */
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { many } from '../harness/counts.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';
import { testAccount } from '../harness/test-account.ts';

beforeAll(() => needPrograms('python3', 'node'));

const native = { env: { SVC_CODE_BACKEND: 'native' } };

async function run(sandbox: Sandbox, language: string, code: string, more: Record<string, Json> = {}) {
  return (await sandbox.request('POST /v2/code/execute', { language, code, ...more })).body.data;
}

const python = (sandbox: Sandbox, code: string, more = {}) =>
  run(sandbox, 'python', code, { session_id: 'py', ...more });
const node = (sandbox: Sandbox, code: string, more = {}) => run(sandbox, 'js', code, { session_id: 'js', ...more });

/** The value of the last expression, as text. */
function value({ outputs }: JsonObject): Json {
  const result = (outputs as JsonObject[]).find((output) => output['output_type'] === 'execute_result');
  return (result?.['data'] as JsonObject | undefined)?.['text/plain'] ?? null;
}

test(
  'CODE-1 Python supports values, await, child processes and errors with line numbers, and refuses unsupported fields',
  async ({ sandbox }) => {
    expect(value(await python(sandbox, 'import asyncio\nawait asyncio.sleep(0, "awaited")'))).toBe("'awaited'");
    const children = await python(
      sandbox,
      'import os\nprint("one", flush=True)\nos.system("echo two; echo three >&2")',
    );
    expect([children['stdout'], children['stderr']]).toEqual(['one\ntwo\n', 'three\n']);
    const failed = await python(sandbox, 'def half(n):\n  return 1 / n\nhalf(0)');
    expect(failed).toMatchObject({ status: 'error', exit_code: 1 });
    const { ename, traceback } = (failed['outputs'] as JsonObject[]).at(-1) ?? {};
    expect([ename, (traceback as string[]).join('\n')]).toEqual([
      'ZeroDivisionError',
      expect.stringMatching(/line 3[^]*half\(0\)[^]*line 2[^]*return 1 \/ n/),
    ]);
    for (const code of ['input("name? ")', 'import sys; sys.stdin.read()']) {
      const asked = await python(sandbox, code);
      expect(asked).toMatchObject({ status: 'error' });
      expect(JSON.stringify(asked['outputs'])).toMatch(/input|stdin/i);
    }
    expect(await python(sandbox, 'import sys; sys.exit(3)')).toMatchObject({
      status: 'error',
      exit_code: 3,
      kernel: null,
    });
    expect(await python(sandbox, 'x = "\\0"\nlen(x)')).toMatchObject({ status: 'ok' });
    expect(await python(sandbox, 'if True print(1)')).toMatchObject({ outputs: [{ ename: 'SyntaxError' }] });
    expect(value(await python(sandbox, `x = "${'y'.repeat(10_000_000)}"\nlen(x)`))).toBe('10000000');
    const html = await python(sandbox, 'class Table:\n  def _repr_html_(self): return "<b>1</b>"\nTable()');
    expect((html['outputs'] as JsonObject[])[0]?.['data']).toMatchObject({ 'text/html': '<b>1</b>' });
    expect(await python(sandbox, 'import sys\nsys.stdout.close()')).toMatchObject({ status: 'ok' });
    expect(await python(sandbox, 'print("still printed")')).toMatchObject({ stdout: 'still printed\n' });
  },
  native,
);

test('CODE-1 CODE-14 JavaScript supports values, await, modules, errors and process.exit', async ({ sandbox }) => {
  expect(value(await node(sandbox, 'const kept = { a: [1, 2] }; kept'))).toBe('{ a: [ 1, 2 ] }');
  expect(value(await node(sandbox, 'await Promise.resolve(kept.a.length)'))).toBe('2');
  expect(value(await node(sandbox, 'const kept = 7; kept'))).toBe('7');
  const modules = await node(
    sandbox,
    'import { basename } from "node:path";\nrequire("fs").existsSync("/") && basename("/a/b")',
  );
  expect(value(modules)).toBe("'b'");
  const printed = await node(sandbox, 'console.log("one"); console.error("two"); process.stdout.write("three")');
  expect([printed['stdout'], printed['stderr']]).toEqual(['one\nthree', 'two\n']);
  expect(await node(sandbox, 'null.x')).toMatchObject({ status: 'error', outputs: [{ ename: 'TypeError' }] });
  const rejected = await node(
    sandbox,
    'Promise.reject(new Error("unheard")); await new Promise((done) => setTimeout(done, 50))',
  );
  expect(JSON.stringify(rejected['outputs'])).toContain('unheard');
  expect(await node(sandbox, 'process.exit(4)')).toMatchObject({ exit_code: 4 });
  expect(value(await node(sandbox, 'kept'))).toBe('7');
  const loop = node(sandbox, 'for (;;);');
  await until('it runs', async () => (await sandbox.ok('GET /v2/code/sessions/js'))['state'] === 'busy');
  await sandbox.ok('POST /v2/code/sessions/js/interrupt');
  expect(await loop).toMatchObject({ status: 'error', kernel: null });
  expect(value(await node(sandbox, 'kept'))).toBe('7');
});

test(
  'CODE-1 output of a thread or a timer after the end of its cell is reported with the next cell, apart from its outputs',
  async ({ sandbox }) => {
    const cells = [
      [
        python,
        'import threading, time\ngo = threading.Event()\nthreading.Thread(target=lambda: (go.wait(), print("late"))).start()',
        'go.set(); time.sleep(0.2)',
      ],
      [
        node,
        'let go; new Promise((done) => (go = done)).then(() => console.log("late")); 1',
        'go(); await new Promise((done) => setTimeout(done, 100))',
      ],
    ] as const;
    for (const [cell, first, second] of cells) {
      await cell(sandbox, first);
      expect(await cell(sandbox, second)).toMatchObject({ stdout: '' });
      expect(await cell(sandbox, '1')).toMatchObject({ late_outputs: [{ output_type: 'stream', text: 'late\n' }] });
    }
  },
  native,
);

test(
  'CODE-1 CODE-12 code runs with the requested cwd, env and account',
  async ({ sandbox }) => {
    const where = 'import os; (os.getcwd(), os.environ.get("GIVEN"), os.getuid())';
    const { uid } = testAccount;
    const alone = await run(sandbox, 'python', where, { cwd: '/usr', env: { GIVEN: 'yes' }, user: String(uid) });
    expect(value(alone)).toBe(`('/usr', 'yes', ${uid})`);
    await python(sandbox, '1', { cwd: '/usr', env: { GIVEN: 'kept' } });
    expect(value(await python(sandbox, 'import os; (os.getcwd(), os.environ["GIVEN"])'))).toBe("('/usr', 'kept')");
    const other = await sandbox.request('POST /v2/code/execute', {
      language: 'python',
      code: '1',
      session_id: 'py',
      user: String(uid),
    });
    expect([other.status, other.body.message]).toEqual([400, expect.stringContaining('runs as')]);
    const script = '({ cwd: process.cwd(), given: process.env.GIVEN, uid: process.getuid() })';
    const js = await run(sandbox, 'node', script, { cwd: '/usr', env: { GIVEN: 'yes' }, user: String(uid) });
    expect(value(js)).toBe(`{ cwd: '/usr', given: 'yes', uid: ${uid} }`);
    expect(await python(sandbox, '1', { cwd: '/no/such' })).toMatchObject({ status: 'error', exit_code: 1 });
  },
  native,
);

test(
  'CODE-2 PROMISE-10 hundreds of sessions opened and closed leave nothing behind',
  async ({ sandbox }) => {
    const round = async (count: number) => {
      const ids = Array.from({ length: count }, (_, n) => `s${n}`);
      const all = ids.map(async (id, n) => {
        const language = n % 10 === 0 ? 'javascript' : 'python';
        const answer = await run(sandbox, language, '6 * 7', { session_id: id });
        expect([answer['status'], value(answer)]).toEqual(['ok', '42']);
        await sandbox.ok(`DELETE /v2/code/sessions/${id}`);
      });
      await Promise.all(all);
    };
    await round(10);
    const before = { descriptors: sandbox.descriptors().length, processes: sandbox.processes().length };
    for (let rounds = 0; rounds < many(25); rounds++) await round(20);
    await until('no descriptor is left', () => sandbox.descriptors().length <= before.descriptors);
    await until('no process is left', () => sandbox.processes().length <= before.processes);
  },
  { env: { SVC_CODE_BACKEND: 'native' }, timeoutMs: 180_000 },
);

const residentMib = (sandbox: Sandbox) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${sandbox.daemonPid}/status`, 'utf8'))?.[1]) / 1024;
const maxGrowthMib = 32;

test(
  'CODE-19 PROMISE-10 hundreds of single runs leave memory, descriptors, processes and files unchanged',
  async ({ sandbox }) => {
    const runs = async (count: number) => {
      for (let n = 0; n < count; n += 4) {
        const all = Array.from({ length: 4 }, () => run(sandbox, 'python', 'print("x" * 10_000)'));
        for (const { status } of await Promise.all(all)) expect(status).toBe('ok');
      }
    };
    const look = () => ({
      descriptors: sandbox.descriptors().length,
      processes: sandbox.processes().length,
      files: readdirSync(sandbox.runtimeDirectory, { recursive: true }).length,
    });
    await runs(many(100));
    let before = look();
    let sinceMs = performance.now();
    // A spare interpreter that is being made has some of its files and descriptors.
    await until('spare ones are there, and nothing has changed for a second', () => {
      const now = look();
      if (!Bun.deepEquals(now, before) || spare(sandbox).length < 4) [before, sinceMs] = [now, performance.now()];
      return performance.now() - sinceMs > 1000;
    });
    const memoryMib = residentMib(sandbox);
    await runs(many(400));
    await until('nothing is left', () => {
      const now = look();
      return now.descriptors <= before.descriptors && now.processes <= before.processes && now.files <= before.files;
    });
    expect(residentMib(sandbox) - memoryMib).toBeLessThan(maxGrowthMib);
  },
  { env: { SVC_CODE_BACKEND: 'native', SVC_CODE_PREWARM: '4' }, timeoutMs: 240_000 },
);

/** The Python interpreters that wait for their first cell or run one. */
const spare = (sandbox: Sandbox) => sandbox.processes().filter(({ command }) => / -u -c \(lambda/.test(command));

test(
  'CODE-16 spare interpreters make the first cell fast, are used once, and are replaced',
  async ({ sandbox }) => {
    const there = () => until('one is there', () => spare(sandbox).length === 1);
    await there();
    const pid = String(spare(sandbox)[0]?.pid);
    const first = await run(sandbox, 'python', 'import os; kept = os.getpid(); kept');
    expect(value(first)).toBe(pid);
    await there();
    const second = await run(sandbox, 'python', '("kept" in globals(), os.getpid() if "os" in globals() else None)');
    expect(value(second)).toBe('(False, None)');
    await there();
  },
  { env: { SVC_CODE_BACKEND: 'native', SVC_CODE_PREWARM: '1' } },
);

test(
  'CODE-13 CODE-16 a spare interpreter is not used once PATH has another one',
  async ({ sandbox }) => {
    await until('one is there', () => spare(sandbox).length === 1);
    const tool = join(sandbox.directory, 'tools/python3');
    await Bun.write(tool, '#!/bin/sh\nMARK=new exec /usr/bin/python3 "$@"\n');
    chmodSync(tool, 0o755);
    expect(value(await run(sandbox, 'python', 'import os; os.environ.get("MARK")'))).toBe("'new'");
  },
  {
    env: (sandbox) => ({
      PATH: `${join(sandbox.directory, 'tools')}:/usr/bin:/bin`,
      SVC_CODE_BACKEND: 'native',
      SVC_CODE_PREWARM: '1',
    }),
    prepare: (sandbox) => mkdirSync(join(sandbox.directory, 'tools')),
  },
);
