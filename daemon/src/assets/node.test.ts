/** The behavior of JavaScript cells, with the machine's Node and those that NODE_BINARIES names. */
import { describe, expect, test } from 'bun:test';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interpreter } from '../../../test/harness/interpreter.ts';
import { findProgram } from '../platform/process/programs.ts';
import { nodeProgram } from './loaders.ts';

/** Paths separated by colons, as in PATH. */
function nodes(): string[] {
  const own = findProgram('node', process.env['PATH'] ?? '');
  const others = process.env['NODE_BINARIES']?.split(':') ?? [];
  return [...new Set([...(own ? [own] : []), ...others])];
}

async function start(
  node: string,
  cwd = realpathSync(tmpdir()),
  shell: string | null = '/bin/sh',
): Promise<Interpreter> {
  const interpreter = new Interpreter(nodeProgram(node, shell), { cwd });
  await interpreter.ready();
  return interpreter;
}

const versionOf = (node: string): number => Number(execFileSync(node, ['--version']).toString().slice(1).split('.')[0]);

/** A directory with modules of every kind. */
function project(): { readonly path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'interpreter-')));
  const files = {
    'node_modules/both/package.json': '{"exports": {"import": "./a.mjs", "require": "./a.cjs"}}',
    'node_modules/both/a.mjs': 'export const kind = "module"; export default 1;',
    'node_modules/both/a.cjs': 'exports.kind = "commonjs";',
    'mine.mjs': 'export const value = 7; export default class Mine {}',
    'mine.cjs': 'module.exports = Object.assign(() => 1, {[["hid", "den"].join("")]: 8});',
    'data.json': '{"a": 1}',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

describe.each(nodes())('%s', (node) => {
  test('a cell prints, shows its last expression, and ends', async () => {
    await using session = await start(node);
    expect(session.events).toEqual([
      { event: 'ready', language: 'javascript', version: expect.stringMatching(/^\d+\./), pid: session.pid },
    ]);
    const { events } = await session.run('const x = 20;\nconsole.log("hello");\nx + 1');
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
    for (const code of ['', 'undefined', 'const y = 5', 'for (const i of [1]) i', '// a word', 'if (x) 5']) {
      expect(await session.run(code)).toMatchObject({ status: 'ok', result: undefined });
    }
    expect((await session.run('({ a: [1, { b: new Map([[1, 2]]) }] })')).result).toBe('{ a: [ 1, { b: [Map] } ] }');
    expect((await session.run('"text"')).result).toBe("'text'");
    expect(
      (await session.run('({ [Symbol.for("Jupyter.display")]: () => ({ "text/html": "<b>" }) })')).events[1]?.output
        ?.data,
    ).toEqual({ 'text/html': '<b>' });
  });

  test('declarations of a cell are visible in later cells, which may redeclare them as anything', async () => {
    await using session = await start(node);
    await session.run(
      'const a = 1, { b, ...c } = { b: 2, d: 3 }; let [e = 4] = []; var f = 5; class G { g() { return g() } } function g() { return 7 }',
    );
    expect((await session.run('[a, b, c, e, f, new G().g()]')).result).toBe('[ 1, 2, { d: 3 }, 4, 5, 7 ]');
    await session.run('let a = () => f; const f = 10; function G() { return 11 } var b; class g {}');
    expect((await session.run('[a(), b, G(), typeof g]')).result).toBe("[ 10, 2, 11, 'function' ]");
    await session.run(
      'for (var i = 0, j; i < 3; i++) { var k = i; let l = 1 } for (var [m] of [[9]]); if (true) var n = 1; else var o',
    );
    expect((await session.run('[i, j, k, typeof l, m, n, o]')).result).toBe(
      "[ 3, undefined, 2, 'undefined', 9, 1, undefined ]",
    );
    // Functions see later values, are hoisted, and can stand between lines without semicolons.
    expect(
      (await session.run('const r = h(3)\nfunction h(n) { return n ? n * h(n - 1) : 1 }\n[r].map((x) => x + 1)'))
        .result,
    ).toBe('[ 7 ]');
    expect((await session.run('const fetch = 5; [fetch, typeof globalThis.fetch]')).result).toBe("[ 5, 'function' ]");
    expect((await session.run('let p; let p')).error?.ename).toBe('SyntaxError');
    // A cell that fails has declared its names, and later cells can declare them again.
    expect((await session.run('const q = nowhere.x')).error?.ename).toBe('ReferenceError');
    expect((await session.run('const q = 4; q')).result).toBe('4');
  });

  test('top-level await works, and a promise as the last expression is awaited', async () => {
    await using session = await start(node);
    expect((await session.run('const v = await new Promise((r) => setTimeout(r, 1, 5)); v + 1')).result).toBe('6');
    expect((await session.run('for await (const w of [Promise.resolve(8)]) var z = w\nz')).result).toBe('8');
    expect(
      await session.run('async function main() { await null; console.log("in"); return 9 }\nmain()'),
    ).toMatchObject({ result: '9', stdout: 'in\n' });
    expect((await session.run('[v, (await import("node:os")).EOL, this === globalThis]')).result).toBe(
      String.raw`[ 5, '\n', true ]`,
    );
    expect((await session.run('await Promise.reject(new RangeError("far"))')).error).toMatchObject({
      ename: 'RangeError',
    });
  });

  test('modules of every kind resolve from the working directory, wherever it is', async () => {
    using folder = project();
    await using session = await start(node);
    const imported = await session.run(
      'import Mine, { value as v } from "./mine.mjs"\nimport * as all from "both"\nimport fs, { readFileSync } from "fs"\nimport { hidden } from "./mine.cjs"\nimport data from "./data.json" with { type: "json" };\n[v, typeof Mine, all.kind, fs.readFileSync === readFileSync, hidden, data]',
      { cwd: folder.path },
    );
    expect(imported).toMatchObject({ error: undefined, result: "[ 7, 'function', 'module', true, 8, { a: 1 } ]" });
    expect(
      (
        await session.run(
          '[require("both").kind, require("./data.json").a, require("./mine.cjs")(), (await import("both")).kind]',
        )
      ).result,
    ).toBe("[ 'commonjs', 1, 1, 'module' ]");
    expect(
      (await session.run('[__dirname, new URL(".", import.meta.url).pathname, require.resolve("both")]')).result,
    ).toBe(`[\n  '${folder.path}',\n  '${folder.path}/',\n  '${folder.path}/node_modules/both/a.cjs'\n]`);
    expect(
      (
        await session.run(
          '[require.main === module, module.exports === exports, process.argv.length, process.execArgv, typeof Buffer, typeof fetch]',
        )
      ).result,
    ).toBe("[ true, true, 1, [], 'function', 'function' ]");
    expect((await session.run('import { nothing } from "./mine.mjs"')).error).toMatchObject({
      ename: 'SyntaxError',
      evalue: expect.stringContaining("'nothing'"),
    });
    expect((await session.run('import "no-such-package"')).error).toMatchObject({
      ename: 'Error',
      evalue: expect.stringContaining('no-such-package'),
    });
    expect((await session.run('process.chdir("/"); require("both")')).error?.evalue).toContain('both');
  });

  test('errors show the lines of the code and no internal frames', async () => {
    await using session = await start(node);
    expect((await session.run('function f() {\n  throw new TypeError("deep")\n}\nf()')).error).toEqual({
      ename: 'TypeError',
      evalue: 'deep',
      traceback: 'TypeError: deep\n    at f (<cell 1>:2:9)\n    at <cell 1>:4:1',
    });
    expect(
      (await session.run('const a = 1; const b = 2\nawait null; const c = null.x // here')).error?.traceback,
    ).toMatch(/\n {4}at <cell 2>:2:28$/);
    expect((await session.run('throw Object.assign(new Error("x"), { code: "E" })')).error?.traceback).toBe(
      "Error: x\n    at <cell 3>:1:21 {\n  code: 'E'\n}",
    );
    expect((await session.run('throw 5')).error).toMatchObject({ traceback: 'Uncaught 5' });
    expect((await session.run('let x = = 2')).error).toEqual({
      ename: 'SyntaxError',
      evalue: "Unexpected token '='",
      traceback: "<cell 5>:1\nlet x = = 2\n        ^\n\nSyntaxError: Unexpected token '='",
    });
    expect((await session.run('throw undefined')).status).toBe('error');
    const shown = await session.run(
      'try { await Promise.reject(new Error("x")) } catch (error) { console.log(error.stack) }',
    );
    expect(shown.stdout).toBe('Error: x\n    at <cell 7>:1:28\n');
    expect((await session.run('await null; foo(')).error?.ename).toBe('SyntaxError');
    expect((await session.run('throw { get message() { throw 1 } }')).status).toBe('error');
    expect((await session.run('1')).status).toBe('ok');
  });

  test('an uncaught error ends the cell that caused it, or is reported after it; the session continues', async () => {
    await using session = await start(node);
    expect(await session.run('Promise.reject(new Error("lost")); 3')).toMatchObject({
      status: 'error',
      error: { evalue: 'lost' },
    });
    expect(
      await session.run('setTimeout(() => { throw new Error("late") }, 1); await new Promise(() => {})'),
    ).toMatchObject({ exitCode: 1, error: { evalue: 'late' } });
    const cell = session.send('setTimeout(() => { console.log("timer"); throw new Error("behind") }, 20); 1');
    expect(await session.end(cell)).toMatchObject({ status: 'ok', error: undefined });
    expect(await session.until(cell, ({ error }) => error !== undefined)).toMatchObject({
      stdout: 'timer\n',
      error: { evalue: 'behind' },
    });
    expect(
      (
        await session.run(
          'process.on("uncaughtException", (e) => console.log("mine", e.message)); setTimeout(() => { throw new Error("own") }); await new Promise((r) => setTimeout(r, 20))',
        )
      ).stdout,
    ).toBe('mine own\n');
  });

  test('all output arrives in order and with the cell that printed it', async () => {
    await using session = await start(node);
    const ran = await session.run(
      'const cp = require("child_process"), fs = require("fs");\nconsole.log(1); console.error("e"); process.stdout.write("2\\n"); cp.execSync("echo 3; echo f >&2", { stdio: "inherit" });\nconsole.log(4); cp.spawnSync("echo", ["5"], { stdio: ["ignore", "inherit", "pipe"] }); cp.execFileSync("echo", ["6"], { stdio: [0, 1, 2] });\nfs.writeSync(1, "7\\n"); fs.writeFileSync("/dev/stdout", "8\\n"); process.stdout.write(Buffer.from([0xe2, 0x82])); process.stdout.write(Buffer.from([0xac, 10]));\nawait new Promise((r) => cp.spawn("echo", ["9"], { stdio: "inherit" }).on("close", r)); console.table([{ a: 1 }])',
    );
    expect(ran.stdout).toStartWith('1\n2\n3\n4\n5\n6\n7\n8\n€\n9\n┌');
    expect(ran.stderr).toBe('e\nf\n');
    expect((await session.run('cp.execSync("echo out").toString()')).result).toBe(String.raw`'out\n'`);
    expect(await session.run('cp.execSync("echo bad >&2; exit 3", { stdio: "inherit" })')).toMatchObject({
      stderr: 'bad\n',
      error: { evalue: expect.stringContaining('Command failed: echo bad') },
    });
    const big = await session.run('process.stdout.write("€😀".repeat(50000))');
    expect(big.stdout).toBe('€😀'.repeat(50_000));

    const first = session.send(
      'const child = cp.spawn("cat", { stdio: ["pipe", "inherit", "inherit"] }); let go; new Promise((r) => (go = r)).then(() => console.log("then")); 1',
    );
    await session.end(first);
    expect(
      (
        await session.run(
          'go(); child.stdin.end("child\\n"); await new Promise((r) => child.on("close", r)); console.log("here")',
        )
      ).stdout,
    ).toBe('here\n');
    expect(session.summary(first).stdout).toBe('then\nchild\n');
    expect((await session.run('cp.execSync("ls /proc/self/fd | wc -l").toString().trim()')).result).toBe("'4'");
    expect(session.strayLines).toEqual([]);
  });

  test('process.exit ends the cell with its code, and the session continues', async () => {
    await using session = await start(node);
    expect(await session.run('let a = 1; process.exit(3); a = 2')).toMatchObject({
      exitCode: 3,
      status: 'error',
      error: { ename: 'Exit' },
    });
    expect(await session.run('process.exit()')).toMatchObject({ exitCode: 0, status: 'ok', error: undefined });
    expect(await session.run('setTimeout(() => process.exit(4), 1); await new Promise(() => {})')).toMatchObject({
      exitCode: 4,
    });
    expect(await session.run('try { process.exit(5) } catch { 6 }')).toMatchObject({ exitCode: 5 });
    expect((await session.run('a')).result).toBe('1');
  });

  test('reading stdin fails with an error that says input is not available', async () => {
    await using session = await start(node);
    expect(
      (await session.run('process.stdin.on("data", () => {}); await new Promise(() => {})')).error?.evalue,
    ).toContain('no standard input');
    expect(
      (
        await session.run(
          'const rl = require("readline/promises").createInterface({ input: process.stdin }); await rl.question("name? ")',
        )
      ).error?.evalue,
    ).toContain('no standard input');
    expect((await session.run('require("fs").readFileSync(0, "utf8")')).result).toBe("''");
    expect((await session.run('require("child_process").spawnSync("cat", { stdio: "inherit" }).status')).result).toBe(
      '0',
    );
  });

  test('an interrupt ends code that computes, waits or prints, and does nothing between cells', async () => {
    await using session = await start(node);
    session.interrupt();
    expect((await session.run('1')).result).toBe('1');
    for (const code of [
      'console.log("on"); while (true);',
      'setTimeout(() => console.log("on"), 5); await new Promise(() => {})',
      'while (true) console.log("on".repeat(9000))',
    ]) {
      const cell = session.send(code);
      await session.until(cell, ({ stdout }) => stdout.includes('on'));
      await session.interruptUntilEnd(cell);
      expect(await session.end(cell)).toMatchObject({ status: 'error', exitCode: 1, error: { ename: 'Interrupted' } });
    }
    expect(await session.run('console.log("a"); 1 + 1')).toMatchObject({ stdout: 'a\n', result: '2' });
    expect(session.strayLines).toEqual([]);
  });

  test('a signal that arrives as the code ends does not interrupt the next cell', async () => {
    await using session = await start(node);
    for (let round = 0; round < 50; round++) {
      await session.run('process.kill(process.pid, "SIGINT")');
      const next = await session.run('for (let i = 0; i < 200_000; i++); 1', { interrupted: true });
      expect(next).toMatchObject({ status: 'ok', result: '1' });
    }
  });

  test('code that replaces globals the runner uses does not break the next cell', async () => {
    await using session = await start(node);
    for (const code of [
      'process.stdout.end("x"); process.stdout.destroy()',
      'JSON.stringify = JSON.parse = null; console.log = null; console = new console.Console(process.stdout)',
      'globalThis.process = undefined; globalThis.setImmediate = null; globalThis.Buffer = null',
      'require("fs").closeSync(1)',
    ]) {
      await session.run(code);
      expect(await session.run('console.log("a"); 5')).toMatchObject({ stdout: 'a\n', result: '5' });
      expect(await session.run('null.x')).toMatchObject({ error: { ename: 'TypeError' } });
    }
    expect(session.strayLines).toEqual([]);
  });

  test('TypeScript runs where Node strips its types; other versions report that they cannot', async () => {
    await using session = await start(node);
    const ran = await session.run(
      'interface P { a: number }\nconst p: P = { a: 1 };\nfunction f<T>(x: T): T { return x }\nf<number>(p.a) as number',
    );
    if (versionOf(node) >= 22) {
      expect(ran).toMatchObject({ result: '1', stderr: '' });
    } else {
      expect(ran.error).toMatchObject({
        ename: 'SyntaxError',
        traceback: expect.stringContaining('If this is TypeScript'),
      });
    }
  });

  test('the directory and the variables of a request apply before its code; an invalid one is reported', async () => {
    await using session = await start(node);
    expect(
      (
        await session.run('[process.cwd(), process.env.NEW, process.env.HOME]', {
          cwd: '/',
          env: { NEW: 'x', HOME: null },
        })
      ).result,
    ).toBe("[ '/', 'x', undefined ]");
    expect(await session.run('console.log("ran")', { cwd: '/nowhere' })).toMatchObject({
      stdout: '',
      exitCode: 1,
      error: { ename: 'DirectoryError', evalue: 'working directory /nowhere: ENOENT: no such file or directory' },
    });
    expect((await session.run('1', { env: { 'a=b': 'c' } })).error?.ename).toBe('EnvironmentVariableError');
  });

  test('variables of one cell are put back as they were, also behind an error', async () => {
    await using session = await start(node);
    const seen = '[process.env.MINE, process.env.NEW]';
    await session.run("process.env.MINE = 'code'");
    const cellEnv = { MINE: 'cell', NEW: 'cell' };
    expect((await session.run(seen, { cellEnv })).result).toBe("[ 'cell', 'cell' ]");
    expect((await session.run(seen)).result).toBe("[ 'code', undefined ]");
    expect((await session.run('null.x', { cellEnv: { MINE: null } })).error?.ename).toBe('TypeError');
    expect((await session.run('1', { cwd: '/nowhere', cellEnv })).error?.ename).toBe('DirectoryError');
    expect((await session.run(seen)).result).toBe("[ 'code', undefined ]");
    await session.run('process.env = Object.freeze({})', { cellEnv });
    expect((await session.run('1')).result).toBe('1');
  });

  test('cells run one after another, each after the end of the previous one', async () => {
    await using session = await start(node);
    const cells = [1, 2, 3].map((n) =>
      session.send(`await new Promise((r) => setTimeout(r, ${9 - n})); console.log(${n})`),
    );
    session.line({ op: 'nothing' });
    for (const cell of cells) await session.end(cell);
    expect(
      session.events.filter(({ event }) => event !== 'output').map(({ event, cell }) => `${event} ${cell ?? ''}`),
    ).toEqual(['ready ', 'begin c1', 'end c1', 'begin c2', 'end c2', 'begin c3', 'end c3']);
  });

  test('a cell of ten megabytes runs, and a result of the same size is shown', async () => {
    await using session = await start(node);
    expect((await session.run(`const x = "${'y'.repeat(10_000_000)}"; x.length`)).result).toBe('10000000');
    expect((await session.run('x')).result).toHaveLength(10_000_002);
  });

  test('at the end of its input the process exits once no timer or handle is left', async () => {
    await using session = await start(node);
    const cell = session.send('setTimeout(() => console.log("timer"), 30); 1');
    session.finish();
    expect(await session.exited).toBe(0);
    expect(session.summary(cell)).toMatchObject({ status: 'ok', stdout: 'timer\n' });
    expect(session.stray).toBe('');
  });

  test('leave ends the running cell and those that have not begun, and what they wait for goes on', async () => {
    await using session = await start(node);
    const running = session.send('setTimeout(() => console.log("timer"), 30); await new Promise(() => {})');
    await session.event(({ event, cell }) => event === 'begin' && cell === running);
    const waiting = session.send('console.log("never")');
    session.line({ op: 'leave' });
    session.finish();
    expect(await session.exited).toBe(0);
    for (const cell of [running, waiting])
      expect(session.summary(cell)).toMatchObject({ status: 'error', error: { ename: 'Interrupted' } });
    expect([session.summary(running).stdout, session.summary(waiting).stdout]).toEqual(['timer\n', '']);
  });

  test('a program ends when no timer or handle is left, at its first error, or at its exit call', async () => {
    const run = async (code: string) => {
      await using session = await start(node);
      session.line({ op: 'execute', cell: 'p', code, cwd: null, env: null, program: true });
      session.finish();
      const { error, exitCode, stdout } = await session.end('p');
      return [exitCode, stdout, error?.ename];
    };
    expect(await run('setTimeout(() => console.log("timer"), 30); console.log("code")')).toEqual([
      0,
      'code\ntimer\n',
      undefined,
    ]);
    expect(await run('setTimeout(() => { throw new TypeError("late") }, 10); void 0')).toEqual([1, '', 'TypeError']);
    expect(await run('setInterval(() => 0, 9999); throw new TypeError("now")')).toEqual([1, '', 'TypeError']);
    expect(await run('setInterval(() => 0, 9999); process.exit(3)')).toEqual([3, '', 'Exit']);
    expect(await run('process.exitCode = 4; void 0')).toEqual([4, '', 'Exit']);
    expect(await run('await new Promise(() => 0)')).toEqual([1, '', 'Stalled']);
  });

  test('unknown and incomplete requests are ignored', async () => {
    await using session = await start(node);
    for (const broken of ['', '{"op": "execute", "cell": "y", "co', '7', 'null']) session.text(`${broken}\n`);
    expect((await session.run('1 + 1')).result).toBe('2');
  });

  test('child processes run although no shell is configured', async () => {
    await using session = await start(node, '/', null);
    expect(
      (await session.run('require("child_process").execSync("echo a; cat", { stdio: "inherit" }); console.log("b")'))
        .stdout,
    ).toBe('a\nb\n');
    expect(session.strayLines).toEqual([]);
  });
});
