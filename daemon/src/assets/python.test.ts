/** The behavior of Python cells, with several of the Pythons that the machine has. */
import { describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interpreter } from '../../../test/harness/interpreter.ts';
import { findProgram } from '../platform/process/programs.ts';
import { pythonProgram } from './loaders.ts';

/** The system's Python, the oldest and the newest of the others, and those in PYTHON_BINARIES, in the form of PATH. */
function pythons(): string[] {
  const folder = join(homedir(), '.pyenv/versions');
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  const supported = versions
    .filter((version) => /^3\.\d+\.\d+$/.test(version) && Number(version.split('.')[1]) >= 8)
    .sort((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]))
    .map((version) => join(folder, version, 'bin/python3'));
  const own = findProgram('python3', '/usr/local/bin:/usr/bin:/bin');
  const others = process.env['PYTHON_BINARIES']?.split(':') ?? [];
  return [...new Set([...(own ? [own] : []), ...supported.slice(0, 1), ...supported.slice(-2), ...others])];
}

async function start(python: string, env: Record<string, string | undefined> = {}): Promise<Interpreter> {
  const interpreter = new Interpreter(pythonProgram(python), { cwd: realpathSync(tmpdir()), env });
  await interpreter.ready();
  return interpreter;
}

function has(python: string, module: string): boolean {
  return spawnSync(python, ['-c', `import ${module}`], { cwd: '/' }).status === 0;
}

describe.each(pythons())('%s', (python) => {
  test('the ready event is sent once, with the version', async () => {
    await using session = await start(python);
    expect(session.events).toEqual([
      { event: 'ready', language: 'python', version: expect.stringMatching(/^3\.\d+/), pid: session.pid },
    ]);
  });

  test('a cell prints, shows its last expression, and ends; the next cell sees its variables', async () => {
    await using session = await start(python);
    const { events } = await session.run('x = 20\nprint("hello")\nx + 1');
    expect(events).toEqual([
      { event: 'begin', cell: 'c1' },
      { event: 'output', cell: 'c1', output: { output_type: 'stream', name: 'stdout', text: 'hello\n' } },
      {
        event: 'output',
        cell: 'c1',
        output: { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '21' }, metadata: {} },
      },
      { event: 'end', cell: 'c1', status: 'ok', execution_count: 1, exit_code: 0 },
    ]);
    expect((await session.run('_, x')).result).toBe('(21, 20)');
    expect(await session.run('x = 3')).toMatchObject({ result: undefined, status: 'ok' });
    expect(await session.run('"é"; 5 ; # hushed')).toMatchObject({ result: undefined, status: 'ok' });
    expect((await session.run('"\f\u2028"\n5 # ;')).result).toBe('5');
    expect(await session.run('None')).toMatchObject({ result: undefined, status: 'ok' });
    expect(await session.run('')).toMatchObject({ status: 'ok', stdout: '' });
  });

  test('code runs as a program does: as module __main__, with its argv and its sys.path', async () => {
    await using session = await start(python);
    const seen = await session.run(
      'import sys\n[__name__, sys.modules["__main__"].__dict__ is globals(), sys.path[0], sys.argv, [n for n in dir() if n[0] != "_"]]',
    );
    expect(seen.result).toBe("['__main__', True, '', [''], ['sys']]");
  });

  test('top-level await runs in one event loop per session, and asyncio.run works beside it', async () => {
    await using session = await start(python);
    expect((await session.run('import asyncio\nawait asyncio.sleep(0.001)\nawait asyncio.sleep(0, "a")')).result).toBe(
      "'a'",
    );
    await session.run(
      'one = asyncio.get_running_loop() if False else None\nasync def which(): return asyncio.get_running_loop()',
    );
    expect((await session.run('first = await which()\nfirst is (await which())')).result).toBe('True');
    expect((await session.run('asyncio.run(which()) is first')).result).toBe('False');
    expect((await session.run('first is (await which()), first is asyncio.get_event_loop()')).result).toBe(
      '(True, True)',
    );
    // Tasks continue between cells, and print for the cell that started them.
    const cell = session.send(
      'async def later():\n  await asyncio.sleep(0.02)\n  print("later")\ntask = asyncio.ensure_future(later())\nawait asyncio.sleep(0)',
    );
    expect(await session.until(cell, ({ stdout, status }) => stdout !== '' && status === 'ok')).toMatchObject({
      stdout: 'later\n',
    });
  });

  test('an error shows the lines of the code and no internal frames, also inside the loop and in a chain', async () => {
    await using session = await start(python);
    const failed = await session.run('def f(x):\n    return 1 / x\n\nf(0)');
    expect(failed).toMatchObject({
      status: 'error',
      exitCode: 1,
      error: { ename: 'ZeroDivisionError', evalue: 'division by zero' },
    });
    const lines = failed.error?.traceback.split('\n').filter((line) => !/^[\s^~]*$/.test(line));
    expect(lines).toEqual([
      'Traceback (most recent call last):',
      '  File "<cell 1>", line 4, in <module>',
      '    f(0)',
      '  File "<cell 1>", line 2, in f',
      '    return 1 / x',
      'ZeroDivisionError: division by zero',
    ]);
    const chained = await session.run(
      'import asyncio\nasync def g():\n    try: f(0)\n    except Exception as e: raise KeyError("k") from e\nawait g()',
    );
    expect(chained.error?.traceback).toContain('The above exception was the direct cause');
    expect(chained.error?.traceback).toContain('    await g()');
    expect(chained.error?.traceback).not.toMatch(/boxkeep|asyncio/);
    expect((await session.run('import inspect; inspect.getsource(f)')).result).toBe(
      String.raw`'def f(x):\n    return 1 / x\n'`,
    );
  });

  test('a syntax error has its position, and none of the code runs', async () => {
    await using session = await start(python);
    const wrong = await session.run('print("ran")\nx = = 2');
    expect(wrong).toMatchObject({ stdout: '', error: { ename: 'SyntaxError' } });
    expect(wrong.error?.traceback).toMatch(/File "<cell 1>", line 2\n {4}x = = 2\n {8}\^/);
    expect((await session.run('if True:\nx')).error).toMatchObject({ ename: 'IndentationError' });
    expect((await session.run('%matplotlib inline')).error?.traceback).toContain('are for IPython');
    expect((await session.run('a\0b')).error?.evalue).toContain('null bytes');
    expect((await session.run('"\ud800"')).error?.ename).toBe('UnicodeEncodeError');
    expect((await session.run('from __future__ import annotations')).status).toBe('ok');
    expect((await session.run('def f(x: nowhere): pass\nf.__annotations__')).result).toBe("{'x': 'nowhere'}");
  });

  test('output of child processes and C code arrives in order', async () => {
    await using session = await start(python);
    const ran = await session.run(
      'import os, subprocess, ctypes\nprint("1")\nos.system("echo 2")\nprint("3")\nsubprocess.run(["sh", "-c", "echo 4; echo e >&2"])\nprint("5")\nctypes.CDLL(None).puts(b"6")\nos.write(1, b"7\\n")\n1',
    );
    expect(ran).toMatchObject({ stderr: 'e\n', result: '1' });
    expect(ran.stdout.split('\n').filter((line) => line !== '6')).toEqual(['1', '2', '3', '4', '5', '7', '']);
    expect(ran.stdout).toContain('6\n');
    // More output than a pipe holds, which only the runner reads.
    expect((await session.run('_ = os.system("head -c 3000000 /dev/zero | tr \'\\\\0\' x")')).stdout.length).toBe(
      3_000_000,
    );
    // Bytes that are not text, in two writes.
    const odd = await session.run('os.write(1, b"\\xe2\\x82"); os.write(1, b"\\xac \\xff"); print("\\ud800", end="")');
    expect(odd.stdout.replaceAll(/\ufffd+/g, '?')).toBe('€ ?');
  });

  test('output is sent at the end of a line, on a flush, and at the end of the cell', async () => {
    await using session = await start(python);
    const cell = session.send(
      'import sys, os\nprint("a", end="", flush=True)\nprint("b")\nsys.stdout.write("c")\nsys.stderr.write("d\\n")\nos._exit(7)',
    );
    expect(await session.exited).toBe(7);
    expect(session.summary(cell)).toMatchObject({ stdout: 'ab\n', stderr: 'd\n', status: undefined });
    await using second = await start(python);
    expect((await second.run('import sys; sys.stdout.buffer.write(b"c"); _ = sys.stdout.write("d")')).stdout).toBe(
      'cd',
    );
  });

  test('threads and child processes that print after the end of a cell print for that cell', async () => {
    await using session = await start(python);
    const first = session.send(
      'import threading\ngo = threading.Event()\nthread = threading.Thread(target=lambda: (go.wait(), print("thread")))\nthread.start()',
    );
    await session.end(first);
    expect(await session.run('go.set(); thread.join(); print("main")')).toMatchObject({ stdout: 'main\n' });
    expect(session.summary(first).stdout).toBe('thread\n');

    const third = session.send(
      'import subprocess\nchild = subprocess.Popen("read line; echo child", shell=True, stdin=subprocess.PIPE)',
    );
    await session.end(third);
    expect((await session.run('_ = child.communicate(b"x\\n"); print("main")')).stdout).toBe('main\n');
    await session.until(third, ({ stdout }) => stdout === 'child\n');

    // A worker of a pool prints for the running cell.
    await session.run(
      'from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\npool.submit(print, "a").result()',
    );
    expect((await session.run('pool.submit(print, "b").result()')).stdout).toBe('b\n');
  });

  test('forked processes print and exit, and never send events for the session', async () => {
    await using session = await start(python);
    const forked = await session.run(
      'import os\npid = os.fork()\nif pid:\n    print(os.waitpid(pid, 0)[1])\nelse:\n    print("child")\n    1/0',
    );
    expect(forked).toMatchObject({
      status: 'ok',
      stdout: 'child\n256\n',
      stderr: expect.stringContaining('ZeroDivisionError'),
    });
    const pool = await session.run(
      'import multiprocessing as m\ndef square(x):\n    print("w")\n    return x * x\nwith m.get_context("fork").Pool(2) as p:\n    r = p.map(square, [1, 2, 3])\nr',
    );
    expect(pool).toMatchObject({ result: '[1, 4, 9]', stdout: 'w\nw\nw\n', stderr: '' });
    const spawned = await session.run(
      'import os.path\nwith m.get_context("spawn").Pool(1) as p:\n    r = p.map(os.path.basename, ["/a/b"])\nr',
    );
    expect(spawned).toMatchObject({ result: "['b']", stdout: '', stderr: '' });
    expect(
      (
        await session.run(
          'os.listdir("/proc/self/fd") and None; import subprocess; subprocess.check_output(["sh", "-c", "ls /proc/self/fd | wc -l"])',
        )
      ).result,
    ).toMatch(/b'[45]\\n'/);
    expect(session.strayLines).toEqual([]);
  });

  test('input() fails with an error that says input is not available', async () => {
    await using session = await start(python);
    for (const code of [
      'input("name? ")',
      'import sys; sys.stdin.read()',
      'for line in sys.stdin: pass',
      'sys.stdin.readline()',
    ]) {
      expect((await session.run(code)).error).toMatchObject({
        ename: 'EOFError',
        evalue: expect.stringContaining('no standard input'),
      });
    }
    expect((await session.run('import subprocess; subprocess.run(["cat"]).returncode')).result).toBe('0');
    expect((await session.run('import io; sys.stdin = io.StringIO("Ann\\n"); input()')).result).toBe("'Ann'");
  });

  test('sys.exit ends the cell with its code, and the session continues', async () => {
    await using session = await start(python);
    expect(await session.run('import sys\nx = 1\nsys.exit(3)')).toMatchObject({
      status: 'error',
      exitCode: 3,
      error: { ename: 'SystemExit', evalue: '3' },
    });
    expect(await session.run('sys.exit()')).toMatchObject({ status: 'ok', exitCode: 0, error: undefined });
    expect(await session.run('sys.exit("bad input")')).toMatchObject({ exitCode: 1, error: { evalue: 'bad input' } });
    expect(await session.run('async def f(): sys.exit(4)\nawait f()')).toMatchObject({ exitCode: 4 });
    expect(await session.run('exit(5)')).toMatchObject({ exitCode: 5 });
    expect((await session.run('x')).result).toBe('1');
  });

  test('an interrupt ends code that runs, waits or computes, and does nothing between cells', async () => {
    await using session = await start(python);
    session.interrupt();
    for (const code of [
      'import time; print("on"); time.sleep(60)',
      'print("on")\nwhile True: pass',
      'import asyncio; print("on"); await asyncio.sleep(60)',
      'async def f():\n  print("on")\n  while True: pass\nawait f()',
      'import subprocess; print("on"); subprocess.run(["sleep", "60"])',
      'print("on")\nwhile True: display("x" * 5000)',
      'while True: print("on" * 5000)',
    ]) {
      const cell = session.send(code);
      await session.until(cell, ({ stdout }) => stdout.includes('on'));
      session.interrupt();
      expect(await session.end(cell)).toMatchObject({
        status: 'error',
        exitCode: 1,
        error: { ename: 'KeyboardInterrupt' },
      });
      expect(session.summary(cell).error?.traceback).not.toContain('boxkeep');
      session.interrupt();
    }
    expect((await session.run('1 + 1')).result).toBe('2');
    expect(session.strayLines).toEqual([]);
    expect(session.stray).toBe('');
  });

  test('a signal handler that raises during a print does not break an event line', async () => {
    await using session = await start(python);
    const ran = await session.run(
      'import signal\ndef on(*_): raise TimeoutError\nsignal.signal(signal.SIGALRM, on)\nfor n in range(200):\n  try:\n    signal.setitimer(signal.ITIMER_REAL, 0.002)\n    while True: print("x" * 9000)\n  except TimeoutError: pass',
    );
    expect(ran.status).toBe('ok');
    expect(session.strayLines).toEqual([]);
  });

  test('code that closes, replaces or deletes objects the runner uses does not break the next cell', async () => {
    await using session = await start(python);
    for (const code of [
      'import sys; sys.stdout.close()',
      'import os; os.close(1); os.close(2)',
      'del sys.stdout, sys.stderr',
      'sys.stdout = None',
      'import builtins, json\njson.dumps = json.loads = None\nfor n in ("print", "len", "dict", "isinstance", "open", "repr", "getattr"): delattr(builtins, n)',
      'import io; sys.stdout.detach()',
      'os.dup2(os.open("/dev/null", os.O_RDWR), 0)',
    ]) {
      await session.run(code);
      expect(await session.run('sys.stdout.write("a\\n") and 5')).toMatchObject({ stdout: 'a\n', result: '5' });
      expect(await session.run('1/0')).toMatchObject({ error: { ename: 'ZeroDivisionError' } });
    }
    expect((await session.run('os.system("echo b") and None')).stdout).toBe('b\n');
  });

  test('values have a text representation', async () => {
    await using session = await start(python);
    const shown = await session.run(
      'class A:\n  def _repr_html_(self): return "<b>a</b>"\n  def _repr_png_(self): return b"\\x89PNG"\n  def _repr_json_(self): return {"a": [1]}\n  def _repr_svg_(self): raise ValueError("no")\n  def _repr_latex_(self): return None\n  def _repr_mimebundle_(self, include=None, exclude=None): return {"text/x": "y"}, {"text/x": {"m": 1}}\n  def __repr__(self): return "A!"\nA()',
    );
    expect(shown.events.at(-2)?.output).toEqual({
      output_type: 'execute_result',
      execution_count: 1,
      data: {
        'text/plain': 'A!',
        'text/html': '<b>a</b>',
        'image/png': 'iVBORw==',
        'application/json': { a: [1] },
        'text/x': 'y',
      },
      metadata: { 'text/x': { m: 1 } },
    });
    expect(shown.stderr).toContain('ValueError: no');
    expect((await session.run('A')).result).toBe("<class '__main__.A'>");
    expect((await session.run('class B:\n  def __repr__(self): 1/0\nB()')).error?.ename).toBe('ZeroDivisionError');
    expect((await session.run('"x" * 10_000_000')).result).toHaveLength(10_000_002);
    expect((await session.run('from unittest.mock import MagicMock; MagicMock()')).status).toBe('ok');
  });

  test.skipIf(!has(python, 'matplotlib'))(
    'matplotlib figures are shown by show() and at the end of the cell, then closed',
    async () => {
      await using session = await start(python);
      const ran = await session.run(
        'import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])\nplt.show()\nprint("between")\n_ = plt.plot([1])',
      );
      const pictures = ran.events.flatMap(({ output }) => (output ? [output.data?.['image/png'] ?? output.text] : []));
      expect(pictures).toEqual([expect.stringMatching(/^iVBOR/), 'between\n', expect.stringMatching(/^iVBOR/)]);
      const once = await session.run('fig, ax = plt.subplots()\nfig');
      expect(once.events.filter(({ event }) => event === 'output')).toHaveLength(1);
      expect((await session.run('import os; plt.get_fignums(), os.environ.get("MPLBACKEND")')).result).toBe(
        '([], None)',
      );
    },
  );

  test('displays arrive in order, and can be updated and cleared', async () => {
    await using session = await start(python);
    const ran = await session.run(
      'print("a", end="")\nh = display(1, display_id=True)\nh.update(2)\ndisplay({"text/plain": "raw"}, raw=True)\nclear_output(wait=True)\nprint("b")',
    );
    const [, a, first, second, raw, clear, b] = ran.events;
    expect(a?.output?.text).toBe('a');
    expect(first).toMatchObject({
      event: 'output',
      output: { output_type: 'display_data', data: { 'text/plain': '1' } },
    });
    expect(first?.display_id).toMatch(/^\w+$/);
    expect(second).toMatchObject({
      event: 'update',
      display_id: first?.display_id,
      data: { 'text/plain': '2' },
      metadata: {},
    });
    expect(raw).toMatchObject({ output: { data: { 'text/plain': 'raw' } } });
    expect(raw).not.toHaveProperty('display_id');
    expect(clear).toEqual({ event: 'clear', cell: 'c1', wait: true });
    expect(b?.output?.text).toBe('b\n');
    const html = await session.run('from IPython.display import display, HTML\ndisplay(HTML("<i>x</i>"))');
    expect(html.events[1]?.output?.data).toMatchObject({ 'text/html': '<i>x</i>' });
  });

  test('the directory and the variables of a request apply before its code; an invalid one is reported', async () => {
    await using session = await start(python, { GONE: 'yes' });
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'interpreter-')));
    writeFileSync(join(folder, 'mine.py'), 'value = 7');
    writeFileSync(join(folder, 'json.py'), 'raise SystemExit("of the directory")');
    try {
      const ran = await session.run(
        'import os, mine\nos.getcwd(), mine.value, os.environ["NEW"], os.environ.get("GONE")',
        { cwd: folder, env: { NEW: 'x', GONE: null } },
      );
      expect(ran.result).toBe(`('${folder}', 7, 'x', None)`);
      expect((await session.run('os.getcwd()')).result).toBe(`'${folder}'`);
      expect(await session.run('print("ran")', { cwd: '/nowhere' })).toMatchObject({
        stdout: '',
        exitCode: 1,
        error: { ename: 'DirectoryError', evalue: 'working directory /nowhere: No such file or directory' },
      });
      await using inside = new Interpreter(pythonProgram(python), { cwd: folder });
      await inside.ready();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('variables of one cell are put back as they were, also behind an error', async () => {
    await using session = await start(python, { MINE: 'image' });
    const seen = 'import os\n[os.environ.get(name) for name in ("MINE", "NEW")]';
    await session.run('import os\nos.environ["MINE"] = "code"');
    const cellEnv = { MINE: 'cell', NEW: 'cell' };
    expect((await session.run(seen, { cellEnv })).result).toBe("['cell', 'cell']");
    expect((await session.run(seen)).result).toBe("['code', None]");
    expect((await session.run('1 / 0', { cellEnv: { MINE: null } })).error?.ename).toBe('ZeroDivisionError');
    expect((await session.run('1', { cellEnv: { NEW: 'x', 'a=b': 'c' } })).error?.ename).toBe(
      'EnvironmentVariableError',
    );
    expect((await session.run('1', { cwd: '/nowhere', cellEnv })).error?.ename).toBe('DirectoryError');
    expect((await session.run(seen)).result).toBe("['code', None]");
    const local = 'import time\ntime.strftime("%Z", time.gmtime(0)) and time.localtime(0).tm_hour';
    expect((await session.run(local, { cellEnv: { TZ: 'UTC-5' } })).result).toBe('5');
    expect((await session.run(local)).result).toBe('0');
    await session.run('os.environ = None', { cellEnv });
    expect((await session.run('1')).result).toBe('1');
  });

  test('warnings, logging and deep recursion print as in a program', async () => {
    await using session = await start(python);
    for (const _ of [1, 2]) {
      expect((await session.run('import warnings; warnings.warn("old", DeprecationWarning)')).stderr).toMatch(
        /^<cell \d+>:1: DeprecationWarning: old\n/,
      );
    }
    expect((await session.run('import logging; logging.warning("careful")')).stderr).toBe('WARNING:root:careful\n');
    const deep = await session.run('def f(): f()\nf()');
    expect(deep.error).toMatchObject({ ename: 'RecursionError' });
    expect(deep.error?.traceback.length).toBeLessThan(3000);
  });

  test('a cell of ten megabytes runs', async () => {
    await using session = await start(python);
    expect((await session.run(`x = "${'y'.repeat(10_000_000)}"\nlen(x)`)).result).toBe('10000000');
  });

  test('at the end of its input the process exits as a program does', async () => {
    await using session = await start(python);
    const cell = session.send(
      'import atexit, threading\natexit.register(print, "exit")\nthreading.Thread(target=lambda: print("thread")).start()',
    );
    session.finish();
    expect(await session.exited).toBe(0);
    expect(session.summary(cell)).toMatchObject({ status: 'ok', stdout: 'thread\nexit\n' });
    expect(session.stray).toBe('');
  });

  test('unknown requests, incomplete requests and unknown keys are ignored', async () => {
    await using session = await start(python);
    for (const broken of ['', '{"op": "execute", "cell": "y", "co', '7', 'null']) session.text(`${broken}\n`);
    session.line({ op: 'nothing' });
    session.line({ op: 'execute', cell: 'x', code: 'print(1)', later: true });
    expect((await session.end('x')).stdout).toBe('1\n');
  });
});
