/** Code that harms its interpreter, on each backend: it costs at most its own session, and is always reported. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backends, errorName, outputs, Session, value, type Backend } from '../harness/cells.ts';
import { KeptConnection } from '../harness/kept-connection.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

/** The expected result on each backend. */
type PerBackend<T> = Readonly<Record<Backend['name'], T>>;

const both = <T>(python: T, node: T): PerBackend<T> => ({ native: python, kernel: python, node });

interface Case {
  readonly code: PerBackend<string>;
  readonly result: PerBackend<JsonObject>;
}

const ok = { status: 'ok', exit_code: 0, kernel: null };
const died = (more: JsonObject) => ({ status: 'error', execution_count: null, ...more });

const noCode: Readonly<Record<string, Case>> = {
  'nothing at all': { code: both('', ''), result: both<JsonObject>({ ...ok, outputs: [] }, { ...ok, outputs: [] }) },
  'space alone': { code: both(' \n\t\n', ' \n\t\n'), result: both<JsonObject>(ok, ok) },
  'a NUL byte': {
    code: both('1\0', '1\0'),
    result: both<JsonObject>({ status: 'error', exit_code: 1 }, { status: 'error', exit_code: 1 }),
  },
  'a NUL byte in a text': {
    code: both('x = "\\0"; len(x)', '"\0".length'),
    result: both<JsonObject>(ok, { ...ok, outputs: [{ data: { 'text/plain': '1' } }] }),
  },
  'half a surrogate pair': {
    code: both('x = "\ud800"\nlen(x)', '"\ud800".length'),
    // A plain Python cannot compile the code; a kernel receives replacement characters.
    result: {
      native: { status: 'error', exit_code: 1, outputs: [{ ename: 'UnicodeEncodeError' }] },
      kernel: { ...ok, outputs: [{ data: { 'text/plain': '1' } }] },
      node: { ...ok, outputs: [{ data: { 'text/plain': '1' } }] },
    },
  },
  'half a surrogate pair that is printed': {
    code: both('print(chr(0xd800) + "|")', 'console.log("\\ud800|")'),
    // An ipykernel cannot send the text, and prints that to standard error.
    result: {
      native: { ...ok, stdout: expect.stringMatching(/^\ufffd+\|\n$/) },
      kernel: ok,
      node: { ...ok, stdout: '\ufffd|\n' },
    },
  },
  'deep nesting': {
    code: both('('.repeat(100_000), '('.repeat(100_000)),
    result: both<JsonObject>({ status: 'error', exit_code: 1 }, { status: 'error', exit_code: 1 }),
  },
};

for (const backend of backends) {
  test(
    `CODE-20 ${backend.name}: invalid code is an error of its cell, and the session continues`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      await session.run('kept = 1');
      for (const [what, { code, result }] of Object.entries(noCode)) {
        const answer = await session.run(code[backend.name]);
        expect({ what, ...answer }).toMatchObject({ what, ...result[backend.name] });
      }
      expect(value(await session.run('kept'))).toBe('1');
    },
    backend.options,
  );

  test(
    `CODE-20 ${backend.name}: ten million characters of code run completely`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const text = 'y'.repeat(10_000_000);
      const length = { native: 'len(x)', kernel: 'len(x)', node: 'x.length' }[backend.name];
      const large = await session.run(`x = "${text}"\n${length}`, { timeout: 60 });
      expect([large['status'], value(large)]).toEqual(['ok', '10000000']);
      expect((large['code'] as string).length).toBeGreaterThan(10_000_000);
      const line = { native: 'n += 1\n', kernel: 'n += 1\n', node: 'n += 1;\n' }[backend.name];
      await session.run('n = 0');
      expect(value(await session.run(`${line.repeat(20_000)}n`, { timeout: 60 }))).toBe('20000');
    },
    backend.options,
  );
}

/** Ways to end an interpreter from inside, with the reported outcome of each. */
const ends: Readonly<Record<string, Case>> = {
  'an exit code without a word': {
    code: both('import os\nos._exit(7)', 'process.reallyExit(7)'),
    result: both<JsonObject>(
      died({ exit_code: 7, kernel: { signal: null, oom_killed: false, restarted: true } }),
      died({ exit_code: 7, kernel: { signal: null, oom_killed: false, restarted: true } }),
    ),
  },
  'a signal': {
    code: both('import os\nos.kill(os.getpid(), 9)', 'process.kill(process.pid, 9); for (;;);'),
    result: both<JsonObject>(
      died({ exit_code: null, kernel: { signal: 'SIGKILL', oom_killed: false, restarted: true } }),
      died({ exit_code: null, kernel: { signal: 'SIGKILL', oom_killed: false, restarted: true } }),
    ),
  },
  'a crash': {
    code: both('import os\nos.abort()', 'process.abort()'),
    result: both<JsonObject>(
      died({ exit_code: null, kernel: { signal: 'SIGABRT', oom_killed: false, restarted: true } }),
      died({ exit_code: null, kernel: { signal: 'SIGABRT', oom_killed: false, restarted: true } }),
    ),
  },
};

for (const backend of backends) {
  test(
    `CODE-18 ${backend.name}: the end of an interpreter is reported within a second, with its cause, and the next cell starts clean`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      for (const [what, { code, result }] of Object.entries(ends)) {
        await session.run('kept = 1');
        const started = performance.now();
        const answer = await session.run(code[backend.name]);
        const tookMs = performance.now() - started;
        expect({ what, ...answer }).toMatchObject({ what, ...result[backend.name] });
        expect([what, errorName(answer)]).toEqual([what, 'KernelDied']);
        // The system writes the core dump, in its own time.
        if (what !== 'a crash') expect(tookMs).toBeLessThan(1000);
        const gone = await session.run(backend.language === 'python' ? '"kept" in globals()' : 'typeof kept');
        expect(gone).toMatchObject({ ...ok, kernel: { before_cell: true }, execution_count: 1 });
        expect(value(gone)).toBe(backend.language === 'python' ? 'False' : "'undefined'");
      }
    },
    backend.options,
  );

  test(
    `CODE-20 ${backend.name}: an exit call ends its cell with its code, and not the session`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      await session.run('kept = 1');
      const exit = (code: string) =>
        backend.language === 'python' ? `import sys; sys.exit(${code})` : `process.exit(${code})`;
      expect(await session.run(exit('3'))).toMatchObject({ status: 'error', exit_code: 3, kernel: null });
      expect(await session.run(exit('0'))).toMatchObject(ok);
      expect(await session.run(exit(''))).toMatchObject(ok);
      expect(value(await session.run('kept'))).toBe('1');
    },
    backend.options,
  );
}

/** Code that closes the streams of an interpreter. */
const closings = {
  python: [
    'import os; os.close(1); os.close(2)',
    'import sys; sys.stdout.close()',
    'import sys; sys.stderr.close()',
    'import sys; sys.stdout = None; sys.stderr = 7',
    'import sys; del sys.stdout, sys.stderr, sys.stdin',
    'import os; os.close(0)',
    'import os; os.closerange(0, 3)',
  ],
  javascript: [
    'require("fs").closeSync(1); require("fs").closeSync(2)',
    'process.stdout.end("ended"); process.stderr.destroy()',
    'process.stdin.destroy()',
    'delete process.stdout; delete process.stderr',
    'globalThis.process = null',
  ],
} as const;

for (const backend of backends) {
  test(
    `CODE-20 ${backend.name}: a cell that closes its streams does not close them for later cells`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      for (const code of closings[backend.language]) {
        expect([code, (await session.run(code))['kernel']]).toEqual([code, null]);
        const printed = backend.language === 'python' ? 'print("still printed")' : 'console.log("still printed")';
        expect({ what: code, ...(await session.run(printed)) }).toMatchObject({
          what: code,
          stdout: 'still printed\n',
        });
      }
    },
    backend.options,
  );

  test(
    `CODE-20 ${backend.name}: a request for input is an error at once, without a wait`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const questions =
        backend.language === 'python'
          ? ['input("name? ")', 'import getpass; getpass.getpass()']
          : [
              'await require("readline/promises").createInterface(process.stdin).question("name? ")',
              'await new Promise((done) => process.stdin.on("data", done))',
            ];
      for (const code of questions) {
        const answer = await session.run(code, { timeout: 10 });
        expect(answer).toMatchObject({ code, status: 'error', kernel: null });
        expect(JSON.stringify(outputs(answer))).toMatch(/standard input/);
      }
    },
    backend.options,
  );
}

const loops = {
  python: {
    plain: 'while True: pass',
    deaf: 'import time\nwhile True:\n  try: time.sleep(60)\n  except BaseException: pass',
  },
  javascript: { plain: 'for (;;);', deaf: 'await 0; for (;;);' },
} as const;

for (const backend of backends) {
  test(
    `CODE-7 CODE-20 ${backend.name}: an endless loop is interrupted, and one that ignores the interrupt is killed`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      await session.run('kept = 1');
      const { plain, deaf } = loops[backend.language];
      const reply = await sandbox.request('POST /v2/code/execute', {
        ...{ language: backend.language, session_id: 'state', code: plain, timeout: 1 },
      });
      expect(reply).toMatchObject({
        status: 200,
        body: { success: false, data: { status: 'timeout', exit_code: null, kernel: null } },
      });
      expect(value(await session.run('kept'))).toBe('1');
      const started = performance.now();
      expect(await session.run(deaf, { timeout: 1 })).toMatchObject({
        ...{ status: 'timeout', kernel: { signal: null, oom_killed: false, restarted: true } },
      });
      expect(performance.now() - started).toBeLessThan(6000);
      expect(await session.run('1')).toMatchObject({ ...ok, kernel: { before_cell: true }, execution_count: 1 });
    },
    backend.options,
  );
}

for (const backend of backends) {
  test(
    `CODE-20 ${backend.name}: output printed after the end of a cell is reported separately, with the next cell`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const [go, file] = [join(sandbox.directory, 'go'), join(sandbox.directory, 'printed')];
      const isPython = backend.language === 'python';
      const late = isPython
        ? `import os, threading, time\ndef late():\n  while not os.path.exists(${JSON.stringify(go)}): time.sleep(0.01)\n` +
          `  print("late", flush=True)\n  open(${JSON.stringify(file)}, "w").close()\nthreading.Thread(target=late).start()`
        : `const poll = setInterval(() => { if (!require("fs").existsSync(${JSON.stringify(go)})) return; clearInterval(poll); ` +
          `console.log("late"); require("fs").writeFileSync(${JSON.stringify(file)}, ""); }, 10); 1`;
      expect(await session.run(late)).toMatchObject({ stdout: '', late_outputs: [] });
      writeFileSync(go, '');
      await until('it has printed', () => Bun.file(file).exists());
      await until('the end is reported', async () => {
        const next = await session.run('1');
        expect(next['stdout']).toBe('');
        return outputs({ outputs: next['late_outputs'] ?? [] })[0]?.['text'] === 'late\n';
      });
      for (const path of [go, file]) rmSync(path);
    },
    backend.options,
  );

  test(
    `CODE-10 CODE-20 ${backend.name}: a session deleted while it is busy ends with all its processes`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const isPython = backend.language === 'python';
      await session.run('1');
      const before = sandbox.processes().length;
      using other = await KeptConnection.open(sandbox.url);
      const busy = session.run(
        isPython
          ? 'import subprocess, time\nsubprocess.Popen(["setsid", "sleep", "1000"])\nprint("busy", flush=True)\ntime.sleep(60)'
          : 'require("child_process").spawn("setsid", ["sleep", "1000"]); console.log("busy"); await new Promise(() => setTimeout(() => 0, 60000))',
      );
      await until('it is busy', async () => (await session.shown()) === 'busy\n');
      const usedAt = async () => (await sandbox.ok('GET /v2/code/sessions/state'))['last_used_at'];
      const begunAt = await usedAt();
      const waiting = other.request('POST /v2/code/execute', {
        ...{ language: backend.language, session_id: 'state', code: '1' },
      });
      await until('the second cell waits', async () => (await usedAt()) !== begunAt);
      await until('a child runs', () => sandbox.processes().some(({ command }) => command === 'sleep 1000'));
      await session.delete();
      expect(await busy).toMatchObject({ status: 'error', outputs: [{ text: 'busy\n' }, { ename: 'SessionClosed' }] });
      expect((await waiting).status).toBe(404);
      await until('its processes are gone', () => sandbox.processes().length < before);
      expect(sandbox.processes().filter(({ command }) => command === 'sleep 1000')).toEqual([]);
      expect((await sandbox.request('GET /v2/code/sessions/state')).status).toBe(404);
      expect(value(await session.run('6 * 7'))).toBe('42');
    },
    backend.options,
  );
}
