/** Interpreters end as scripts end, and a lost state is reported, on each backend. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  backends,
  kernel,
  nativePython,
  node,
  outputs,
  runCell,
  Session,
  value,
  type Backend,
} from '../harness/cells.ts';
import { withKernels } from '../harness/kernels.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const pick = ({ language }: Backend, python: string, javascript: string) =>
  language === 'python' ? python : javascript;
const pathIn = ({ directory }: Sandbox, name: string) => join(directory, name);
const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null);

/** Leaves text in a buffer, and an exit function that writes a second file and prints. */
function leaves(sandbox: Sandbox, backend: Backend): string {
  const [buffered, exited] = [pathIn(sandbox, 'buffered'), pathIn(sandbox, 'exited')].map((path) =>
    JSON.stringify(path),
  );
  return pick(
    backend,
    `import atexit
def leave():
  open(${exited}, 'w').write('exited')
  print('left')
atexit.register(leave)
kept = open(${buffered}, 'w')
_ = kept.write('kept' * 100)`,
    `process.on('exit', () => {
  require('fs').writeFileSync(${exited}, 'exited');
  console.log('left');
});
var kept = require('fs').createWriteStream(${buffered});
kept.write('kept'.repeat(100));
undefined`,
  );
}

const hasLeft = (sandbox: Sandbox) => [textOf(pathIn(sandbox, 'buffered')), textOf(pathIn(sandbox, 'exited'))];
const left = ['kept'.repeat(100), 'exited'];

/** Goes on for a while after the last statement, then prints. */
const goesOn = (backend: Backend, seconds: number) =>
  pick(
    backend,
    `import threading, time
def work():
  time.sleep(${seconds})
  print('work done')
threading.Thread(target=work).start()
print('started')`,
    `async function main() { await new Promise((done) => setTimeout(done, ${seconds * 1000})); console.log('work done'); }
main();
console.log('started');`,
  );

async function answer(sandbox: Sandbox, backend: Backend, code: string, more: Record<string, Json> = {}) {
  const reply = await sandbox.request('POST /v2/code/execute', { language: backend.language, code, ...more });
  return reply.body as JsonObject & { data: JsonObject };
}

for (const backend of backends) {
  const { name, options } = backend;

  test(
    `CODE-22 ${name}: a single run flushes its files, and what its exit functions print belongs to the answer`,
    async ({ sandbox }) => {
      const result = await runCell(sandbox, backend, leaves(sandbox, backend));
      expect(hasLeft(sandbox)).toEqual(left);
      expect(result).toMatchObject({ status: 'ok', exit_code: 0, stdout: 'left\n', kernel: null });
      const code = pick(
        backend,
        'import atexit; atexit.register(print, "bye"); 1 / 0',
        'process.on("exit", () => console.log("bye")); null.x',
      );
      expect(await runCell(sandbox, backend, code)).toMatchObject({ status: 'error', exit_code: 1, stdout: 'bye\n' });
    },
    options,
  );

  test(
    `CODE-22 ${name}: a single run waits for threads and timers, and an exit call does not wait for timers`,
    async ({ sandbox }) => {
      const result = await runCell(sandbox, backend, goesOn(backend, 0.3));
      expect(result).toMatchObject({ status: 'ok', stdout: 'started\nwork done\n', exit_code: 0 });
      expect(result['duration_ms']).toBeGreaterThan(290);
      const exits = pick(
        backend,
        'import sys; sys.exit(3)',
        'setInterval(() => {}, 10); process.exit(3); console.log("never")',
      );
      expect(await runCell(sandbox, backend, exits)).toMatchObject({ status: 'error', stdout: '', exit_code: 3 });
    },
    options,
  );

  test(
    `CODE-22 ${name}: a timeout after the last statement says that the code had run, and files are still flushed`,
    async ({ sandbox }) => {
      const { success, message, hint, data } = await answer(
        sandbox,
        backend,
        `${leaves(sandbox, backend)}\n${goesOn(backend, 1.5)}`,
        { timeout: 1 },
      );
      expect([success, data['status'], data['stdout']]).toEqual([
        false,
        'timeout',
        expect.stringContaining('started\n'),
      ]);
      expect(message).toMatch(/^The code had run, and what it started .* was ended after 1 s$/);
      expect(hint).toContain('timeout');
      // A kernel ignores interrupts while it ends; its thread is over before the daemon would kill it.
      expect(hasLeft(sandbox)).toEqual(left);
    },
    options,
  );

  test(
    `CODE-23 ${name}: DELETE and restart end the interpreter in order, also while a cell runs`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      for (const end of [() => session.ask('restart'), () => session.delete()]) {
        await session.run(leaves(sandbox, backend));
        const busy = session.run(
          pick(backend, 'import time; time.sleep(100)', 'await new Promise((done) => setTimeout(done, 1e5))'),
        );
        await until('the cell runs', async () => (await session.read())['state'] === 'busy');
        await end();
        expect(await busy).toMatchObject({ status: 'error' });
        expect(hasLeft(sandbox)).toEqual(left);
        for (const name of ['buffered', 'exited']) rmSync(pathIn(sandbox, name));
      }
    },
    options,
  );

  test(
    `CODE-23 ${name}: a stop of the daemon ends interpreters in order`,
    async ({ sandbox }) => {
      await new Session(sandbox, backend).run(leaves(sandbox, backend));
      expect(await sandbox.stop()).toBe(0);
      expect(hasLeft(sandbox)).toEqual(left);
    },
    options,
  );

  test(
    `CODE-23 CODE-24 ${name}: an idle close ends the interpreter in order, and the next cell of that id reports the loss`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      await session.run(leaves(sandbox, backend));
      await until(
        'the session is closed',
        async () => !('state' in ((await sandbox.ok('GET /v2/code/sessions'))['sessions'] as JsonObject)),
      );
      await until('its interpreter has ended in order', () => Bun.deepEquals(hasLeft(sandbox), left));
      const { message, hint, data } = await answer(sandbox, backend, '1', { session_id: 'state' });
      expect(data['kernel']).toEqual({ signal: null, oom_killed: false, restarted: true, before_cell: true });
      expect([message, hint]).toEqual([
        expect.stringContaining('it was idle'),
        expect.stringMatching(/state of the session was lost.* SVC_(?:CODE|KERNEL)_SESSION_TIMEOUT_SECS sets /),
      ]);
      expect(await session.run('1')).toMatchObject({ kernel: null });
    },
    {
      ...options,
      env: (sandbox) => ({
        ...(typeof options.env === 'function' ? options.env(sandbox) : options.env),
        SVC_CODE_SESSION_TIMEOUT_SECS: '1',
        SVC_KERNEL_SESSION_TIMEOUT_SECS: '1',
      }),
    },
  );

  test(
    `CODE-24 ${name}: an exit code without a word and a killed interpreter are reported at once and before the next cell`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const died = await session.run(pick(backend, 'import os\nos._exit(2)', 'process.reallyExit(2)'));
      expect(died).toMatchObject({ exit_code: 2, kernel: { signal: null, restarted: true, before_cell: false } });
      expect(await session.run('1')).toMatchObject({ status: 'ok', kernel: { signal: null, before_cell: true } });
      expect(await session.run('1')).toMatchObject({ status: 'ok', kernel: null });
      process.kill((await session.read())['pid'] as number, 'SIGKILL');
      const { hint, data } = await answer(sandbox, backend, '1', { session_id: 'state' });
      expect([data['kernel'], hint]).toEqual([
        expect.objectContaining({ signal: 'SIGKILL', before_cell: true }),
        'The state of the session was lost; define what the code needs again.',
      ]);
    },
    options,
  );

  test(
    `CODE-24 ${name}: exit calls that keep the state say so`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      await session.run(pick(backend, 'v = 1', 'var v = 1'));
      const { hint } = await answer(sandbox, backend, pick(backend, 'import sys; sys.exit(3)', 'process.exit(3)'), {
        session_id: 'state',
      });
      expect(hint).toBe('The call ended this cell only; the session keeps its state.');
      const result = await session.run('v');
      expect([value(result), result['kernel']]).toEqual(['1', null]);
    },
    options,
  );
}

for (const backend of backends) {
  test(
    `CODE-22 ${backend.name}: a child process does not delay the end, and an exit function may choose the exit code`,
    async ({ sandbox }) => {
      const child = pick(
        backend,
        'import subprocess\nkept = subprocess.Popen(["sleep", "60"])',
        'require("child_process").spawn("sleep", ["60"], { stdio: "ignore" }).unref(); undefined',
      );
      expect(await runCell(sandbox, backend, child, { timeout: 20 })).toMatchObject({ status: 'ok', kernel: null });
      const chooses = pick(
        backend,
        'import atexit, os\natexit.register(os._exit, 5)',
        'process.on("exit", () => process.exit(5)); undefined',
      );
      expect(await runCell(sandbox, backend, chooses)).toMatchObject({ status: 'error', exit_code: 5, kernel: null });
    },
    backend.options,
  );
}

test(
  'CODE-24 exit() in a kernel is reported in its answer and before the next cell, and the kernel ends in order',
  async ({ sandbox }) => {
    const session = new Session(sandbox, kernel);
    await session.run(leaves(sandbox, kernel));
    const { success, hint, data } = await answer(sandbox, kernel, 'exit()', { session_id: 'state' });
    expect([success, data['status'], hint]).toEqual([
      true,
      'ok',
      expect.stringContaining('exit() ended the interpreter'),
    ]);
    expect(data['kernel']).toEqual({ signal: null, oom_killed: false, restarted: true, before_cell: false });
    const next = await answer(sandbox, kernel, 'kept', { session_id: 'state' });
    expect([next.data['kernel'], next['hint']]).toEqual([
      { signal: null, oom_killed: false, restarted: true, before_cell: true },
      'The state of the session was lost; define what the code needs again.',
    ]);
    expect(hasLeft(sandbox)).toEqual(left);
    expect(await session.run('1')).toMatchObject({ kernel: null });
  },
  withKernels({ SVC_CODE_BACKEND: 'kernel' }),
);

test(
  'CODE-24 exit() in a plain interpreter ends the cell and keeps the state',
  async ({ sandbox }) => {
    const session = new Session(sandbox, nativePython);
    await session.run('v = 1');
    for (const call of ['exit()', 'quit()'])
      expect(await session.run(call)).toMatchObject({ status: 'ok', kernel: null });
    expect(value(await session.run('v'))).toBe('1');
  },
  nativePython.options,
);

test(
  'CODE-1 in a kernel, argparse sees no arguments, and asyncio.run is refused with what to write instead',
  async ({ sandbox }) => {
    const parsed = await runCell(sandbox, kernel, 'import argparse\nargparse.ArgumentParser().parse_args()');
    expect(value(parsed)).toBe('Namespace()');
    const code = 'import asyncio\nasync def main(): return 5\nasyncio.run(main())';
    const { hint, data } = await answer(sandbox, kernel, code);
    expect([data['status'], hint]).toEqual(['error', expect.stringContaining('await main()')]);
    expect(value(await runCell(sandbox, kernel, code.replace('asyncio.run(main())', 'await main()')))).toBe('5');
  },
  kernel.options,
);

test(
  'CODE-22 a server of a single run of JavaScript ends with its timeout, and MCP and v1 say the same',
  async ({ sandbox }) => {
    const code =
      'require("http").createServer().listen(0, "127.0.0.1"); process.on("exit", () => console.log("left")); undefined';
    const { message, data } = await answer(sandbox, node, code, { timeout: 1 });
    expect([data['status'], data['stdout'], message]).toEqual([
      'timeout',
      'left\n',
      expect.stringContaining('had run'),
    ]);
    const old = await sandbox.request('POST /v1/code/execute', { language: 'javascript', code, timeout: 1 });
    expect([old.body.data['status'], old.body.message]).toEqual(['timeout', expect.stringContaining('had run')]);
    expect(outputs(data).filter(({ output_type: type }) => type === 'error')).toHaveLength(1);
  },
  node.options,
);

test(
  'CODE-22 in JavaScript, a process that a child left behind with the inherited output delays nothing, and no output is lost',
  async ({ sandbox }) => {
    const required = 'const { execSync, spawn, spawnSync } = require("child_process");';
    const inherit = '{ stdio: "inherit" }';
    const large = 300_000;
    for (const [code, stdout] of [
      [`execSync("sleep 60 & echo hi", ${inherit})`, 'hi\n'],
      [
        `spawnSync("sh", ["-c", "sleep 60 & head -c ${large} /dev/zero | tr '\\\\0' x"], ${inherit})`,
        'x'.repeat(large),
      ],
      [`execSync("echo one", ${inherit}); execSync("sleep 60 & echo two", ${inherit})`, 'one\ntwo\n'],
      [`spawn("sleep", ["60"], { stdio: "inherit", detached: true }).unref()`, ''],
      [`spawn("sh", ["-c", "sleep 60 & head -c ${large} /dev/zero | tr '\\\\0' x"], ${inherit})`, 'x'.repeat(large)],
      [
        `spawn("sh", ["-c", "sleep 60 & echo hi"], ${inherit}).on("close", (code) => console.log("closed", code))`,
        'hi\nclosed 0\n',
      ],
      [`spawn("echo", ["hi"], ${inherit}).on("close", (code) => console.log("closed", code))`, 'hi\nclosed 0\n'],
    ] as const) {
      const result = await runCell(sandbox, node, `${required}\n${code};\nundefined`, { timeout: 20 });
      expect(result).toMatchObject({ status: 'ok', stdout, kernel: null });
    }
    const shared = `${required}\nspawnSync("sh", ["-c", "echo out; echo err >&2; exit 3"], { stdio: ["ignore", 1, 1] }).status`;
    const cell = await new Session(sandbox, node).run(shared);
    expect([cell['stdout'], value(cell)]).toEqual(['out\nerr\n', '3']);
    const nowhere = await runCell(
      sandbox,
      node,
      `${required}\nprocess.env.TMPDIR = "/nowhere"; execSync("echo hi", ${inherit})`,
    );
    expect(nowhere).toMatchObject({ status: 'ok', stdout: 'hi\n' });
  },
  node.options,
);
