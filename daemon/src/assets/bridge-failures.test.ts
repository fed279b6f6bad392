/** The bridge beside kernels that die, hang or send wrong messages, and a bridge that replaces a dead one. */
import { afterAll, expect, test } from 'bun:test';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ipcConnection,
  python,
  repositoryRoot,
  Stage,
  type Bridge,
  type Kernel,
} from '../../../test/harness/bridge.ts';
import { until } from '../../../test/harness/until.ts';

const stage = new Stage();
afterAll(async () => await stage[Symbol.asyncDispose]());

const strange = (...habits: string[]): Kernel =>
  stage.kernel([python, join(repositoryRoot, 'test/fixtures/strange-kernel.py'), '{connection_file}', ...habits]);

async function opened(kernel: Kernel): Promise<Bridge> {
  const bridge = await stage.bridge();
  await bridge.open(kernel);
  return bridge;
}

async function endsNow(bridge: Bridge): Promise<void> {
  bridge.child.kill('SIGKILL');
  await bridge.child.exited;
}

/** A cell that reports that it runs, waits for permission to continue, and reports that it has continued. */
function waiting(): { code: string; isRunning: string; mayContinue: string } {
  const [isRunning, mayContinue] = ['is-running', 'may-go-on'].map((name) => join(stage.directory, name)) as [
    string,
    string,
  ];
  for (const file of [isRunning, mayContinue]) rmSync(file, { force: true });
  const code =
    `import os, time\nopen(${JSON.stringify(isRunning)}, "w").close()\n` +
    `while not os.path.exists(${JSON.stringify(mayContinue)}): time.sleep(0.01)\nx = 5\nprint("gone on")`;
  return { code, isRunning, mayContinue };
}

test('a kernel that does not answer fails within its timeout', async () => {
  const bridge = await stage.bridge();
  const connection = ipcConnection(join(stage.directory, 'unknown'));
  bridge.send({ op: 'open', kernel: 'unknown', connection, timeout_ms: 200 });
  bridge.send({ op: 'execute', kernel: 'unknown', cell: 'never', code: '1', cwd: null, env: null });

  const failed = await bridge.event('failed');
  expect(failed).toMatchObject({ kernel: 'unknown', message: 'the kernel has not answered within 200 ms' });
  expect(bridge.events.filter(({ cell }) => cell)).toEqual([]);
});

test('a kernel with another key fails to open', async () => {
  const kernel = stage.kernel();
  const bridge = await opened(kernel);
  const connection = { ...kernel.connection, key: 'another' };
  bridge.send({ op: 'open', kernel: 'locked', connection, timeout_ms: 500 });
  expect((await bridge.event('failed')).kernel).toBe('locked');
});

test('a connection that cannot be made is reported, and later ones still work', async () => {
  const bridge = await stage.bridge();
  bridge.send({ op: 'open', kernel: 'a', connection: ipcConnection(join(stage.directory, 'x'.repeat(120))) });
  expect((await bridge.event('failed'))['message']).toStartWith('the kernel cannot be connected to: ');
  bridge.send({ op: 'open', kernel: 'b', connection: { transport: 'tcp' } });
  await bridge.until('the second failure', ({ event, kernel }) => event === 'failed' && kernel === 'b');

  const kernel = strange();
  await bridge.open(kernel);
  expect((await bridge.run(kernel, '')).end['status']).toBe('ok');
});

test('a cell for a kernel that is not open is reported as failed', async () => {
  const bridge = await stage.bridge();
  bridge.send({ op: 'execute', kernel: 'gone', cell: 'c', code: '1', cwd: null, env: null });
  expect(await bridge.event('failed')).toMatchObject({ kernel: 'gone', message: 'no kernel of this name is open' });
});

test('lines that are not requests are ignored', async () => {
  const bridge = await stage.bridge();
  bridge.write('{"op":\n[]\n"text"\n{"op":"from later"}\n{"op":"open"}\n{"op":"close","kernel":"unknown"}\n\n');
  const kernel = strange();
  await bridge.open(kernel);
  bridge.send({ op: 'execute', kernel: kernel.name });
  expect((await bridge.run(kernel, '')).end['status']).toBe('ok');
});

test('a kernel killed during a cell is closed, and another kernel can take its name', async () => {
  const kernel = stage.kernel();
  const bridge = await opened(kernel);
  const { code, isRunning } = waiting();
  const lost = bridge.execute(kernel, code);
  await until('the cell runs', () => existsSync(isRunning));
  kernel.child.kill('SIGKILL');
  await kernel.child.exited;
  bridge.send({ op: 'close', kernel: kernel.name });

  const next = stage.kernel();
  bridge.events.length = 0;
  await bridge.open({ ...next, name: kernel.name });
  expect((await bridge.run({ ...next, name: kernel.name }, '1 + 1')).outputs).toMatchObject([
    { data: { 'text/plain': '2' } },
  ]);
  expect(bridge.events.filter(({ cell }) => cell === lost)).toEqual([]);
});

test('a bridge that reattaches reports the end of the running cell and its outputs from then on', async () => {
  const kernel = stage.kernel();
  const first = await opened(kernel);
  const { code, isRunning, mayContinue } = waiting();
  const cell = first.execute(kernel, code);
  await until('the cell runs', () => existsSync(isRunning));
  await endsNow(first);

  const second = await stage.bridge();
  await second.open(kernel, { running: cell, timeout_ms: 1 });
  const later = second.execute(kernel, 'x');
  writeFileSync(mayContinue, '');
  const { end, stdout } = await second.ended(cell);
  expect(end).toMatchObject({ status: 'ok', exit_code: 0, execution_count: 1, is_partial: true });
  expect(stdout).toBe('gone on\n');
  const next = await second.ended(later);
  expect(next.outputs).toMatchObject([{ data: { 'text/plain': '5' } }]);
  expect(next.end).not.toHaveProperty('is_partial');
});

test('a bridge that reattaches also reports the end of a cell that ended before it attached', async () => {
  const kernel = stage.kernel();
  const first = await opened(kernel);
  const { code, isRunning, mayContinue } = waiting();
  const cell = first.execute(kernel, code);
  await until('the cell runs', () => existsSync(isRunning));
  await endsNow(first);
  writeFileSync(mayContinue, '');
  // A cell of another client runs after it.
  const stranger = { ...kernel, name: 'stranger' };
  await (await opened(stranger)).run(stranger, '1');

  const second = await stage.bridge();
  await second.open(kernel, { running: cell });
  const { end, outputs } = await second.ended(cell);
  expect(end).toMatchObject({ status: 'error', exit_code: null, execution_count: null, is_partial: true });
  expect(outputs).toMatchObject([{ output_type: 'error', ename: 'EndUnknown' }]);
  expect((await second.run(kernel, 'x')).outputs).toMatchObject([{ data: { 'text/plain': '5' } }]);
});

test('a bridge can reattach to a kernel that runs no cell', async () => {
  const kernel = stage.kernel();
  const first = await opened(kernel);
  await first.run(kernel, 'y = 7');
  await endsNow(first);
  expect((await (await opened(kernel)).run(kernel, 'y')).outputs).toMatchObject([{ data: { 'text/plain': '7' } }]);
});

test('a cell ends although one of the two messages that end it is lost', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  const quiet = await bridge.run(kernel, 'lose the busy and the idle');
  expect(quiet.end).toMatchObject({ status: 'ok', exit_code: 0 });
  const dumb = await bridge.run(kernel, 'lose the reply');
  expect(dumb.end).toMatchObject({ status: 'error', exit_code: null });
  expect(dumb.outputs).toMatchObject([{ ename: 'EndUnknown' }]);
});

test('malformed messages and messages signed with another key are ignored', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  const { end, said } = await bridge.run(kernel, 'speak nonsense');
  expect(end['status']).toBe('ok');
  expect(said.map(({ event }) => event)).toEqual(['begin']);
});

test('a kernel that asks for input although input is disabled reads the end of input', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  expect((await bridge.run(kernel, 'ask')).stdout).toBe(String.raw`'\x04'`);
});

test('an error that only the reply contains is an output', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  const { outputs, end } = await bridge.run(kernel, 'say nothing of the error');
  expect(outputs).toMatchObject([{ ename: 'Aborted', evalue: 'the kernel has not run this cell' }]);
  expect(end).toMatchObject({ status: 'error', exit_code: 1 });
});

test('a kernel that answers only on its shell channel opens', async () => {
  const kernel = strange('deaf');
  expect((await (await opened(kernel)).run(kernel, '')).end['status']).toBe('ok');
});
