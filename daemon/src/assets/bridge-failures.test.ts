/** The bridge beside kernels that die, hang or lie, and a bridge that follows one that has died. */
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

/** Says that it runs, waits until it may go on, and says that it has. */
function waiting(): { code: string; isRunning: string; mayGoOn: string } {
  const [isRunning, mayGoOn] = ['is-running', 'may-go-on'].map((name) => join(stage.directory, name)) as [
    string,
    string,
  ];
  for (const file of [isRunning, mayGoOn]) rmSync(file, { force: true });
  const code =
    `import os, time\nopen(${JSON.stringify(isRunning)}, "w").close()\n` +
    `while not os.path.exists(${JSON.stringify(mayGoOn)}): time.sleep(0.01)\nx = 5\nprint("gone on")`;
  return { code, isRunning, mayGoOn };
}

test('a kernel that does not answer has failed within the time that was given', async () => {
  const bridge = await stage.bridge();
  const connection = ipcConnection(join(stage.directory, 'nobody'));
  bridge.send({ op: 'open', kernel: 'nobody', connection, timeout_ms: 200 });
  bridge.send({ op: 'execute', kernel: 'nobody', cell: 'never', code: '1', cwd: null, env: null });

  const failed = await bridge.event('failed');
  expect(failed).toMatchObject({ kernel: 'nobody', message: 'the kernel has not answered within 200 ms' });
  expect(bridge.events.filter(({ cell }) => cell)).toEqual([]);
});

test('a kernel with another key has failed', async () => {
  const kernel = stage.kernel();
  const bridge = await opened(kernel);
  const connection = { ...kernel.connection, key: 'another' };
  bridge.send({ op: 'open', kernel: 'locked', connection, timeout_ms: 500 });
  expect((await bridge.event('failed')).kernel).toBe('locked');
});

test('a connection that cannot be made is told, and others are made', async () => {
  const bridge = await stage.bridge();
  bridge.send({ op: 'open', kernel: 'a', connection: ipcConnection(join(stage.directory, 'x'.repeat(120))) });
  expect((await bridge.event('failed'))['message']).toStartWith('the kernel cannot be connected to: ');
  bridge.send({ op: 'open', kernel: 'b', connection: { transport: 'tcp' } });
  await bridge.until('the second failure', ({ event, kernel }) => event === 'failed' && kernel === 'b');

  const kernel = strange();
  await bridge.open(kernel);
  expect((await bridge.run(kernel, '')).end['status']).toBe('ok');
});

test('a cell for a kernel that is not open is told as a failure', async () => {
  const bridge = await stage.bridge();
  bridge.send({ op: 'execute', kernel: 'gone', cell: 'c', code: '1', cwd: null, env: null });
  expect(await bridge.event('failed')).toMatchObject({ kernel: 'gone', message: 'no kernel of this name is open' });
});

test('requests that are none are passed over', async () => {
  const bridge = await stage.bridge();
  bridge.write('{"op":\n[]\n"text"\n{"op":"from later"}\n{"op":"open"}\n{"op":"close","kernel":"unknown"}\n\n');
  const kernel = strange();
  await bridge.open(kernel);
  bridge.send({ op: 'execute', kernel: kernel.name });
  expect((await bridge.run(kernel, '')).end['status']).toBe('ok');
});

test('a kernel that is killed in a cell is closed, and followed by another under its name', async () => {
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

test('a bridge that follows hears the end of the cell that runs, and its outputs from then on', async () => {
  const kernel = stage.kernel();
  const first = await opened(kernel);
  const { code, isRunning, mayGoOn } = waiting();
  const cell = first.execute(kernel, code);
  await until('the cell runs', () => existsSync(isRunning));
  await endsNow(first);

  const second = await stage.bridge();
  await second.open(kernel, { running: cell, timeout_ms: 1 });
  const behind = second.execute(kernel, 'x');
  writeFileSync(mayGoOn, '');
  const { end, stdout } = await second.ended(cell);
  expect(end).toMatchObject({ status: 'ok', exit_code: 0, execution_count: 1, is_partial: true });
  expect(stdout).toBe('gone on\n');
  const next = await second.ended(behind);
  expect(next.outputs).toMatchObject([{ data: { 'text/plain': '5' } }]);
  expect(next.end).not.toHaveProperty('is_partial');
});

test('a bridge that follows tells also the end of a cell that has ended before it came', async () => {
  const kernel = stage.kernel();
  const first = await opened(kernel);
  const { code, isRunning, mayGoOn } = waiting();
  const cell = first.execute(kernel, code);
  await until('the cell runs', () => existsSync(isRunning));
  await endsNow(first);
  writeFileSync(mayGoOn, '');
  // Somebody else's cell is run behind it.
  const stranger = { ...kernel, name: 'stranger' };
  await (await opened(stranger)).run(stranger, '1');

  const second = await stage.bridge();
  await second.open(kernel, { running: cell });
  const { end, outputs } = await second.ended(cell);
  expect(end).toMatchObject({ status: 'error', exit_code: null, execution_count: null, is_partial: true });
  expect(outputs).toMatchObject([{ output_type: 'error', ename: 'EndUnknown' }]);
  expect((await second.run(kernel, 'x')).outputs).toMatchObject([{ data: { 'text/plain': '5' } }]);
});

test('a bridge that follows goes on with a kernel that has no cell', async () => {
  const kernel = stage.kernel();
  const first = await opened(kernel);
  await first.run(kernel, 'y = 7');
  await endsNow(first);
  expect((await (await opened(kernel)).run(kernel, 'y')).outputs).toMatchObject([{ data: { 'text/plain': '7' } }]);
});

test('a cell ends although one of the two signs of its end is lost', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  const quiet = await bridge.run(kernel, 'lose the busy and the idle');
  expect(quiet.end).toMatchObject({ status: 'ok', exit_code: 0 });
  const dumb = await bridge.run(kernel, 'lose the reply');
  expect(dumb.end).toMatchObject({ status: 'error', exit_code: null });
  expect(dumb.outputs).toMatchObject([{ ename: 'EndUnknown' }]);
});

test('what is no message, or signed with another key, is passed over', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  const { end, said } = await bridge.run(kernel, 'speak nonsense');
  expect(end['status']).toBe('ok');
  expect(said.map(({ event }) => event)).toEqual(['begin']);
});

test('a kernel that asks all the same hears the end of input', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  expect((await bridge.run(kernel, 'ask')).stdout).toBe(String.raw`'\x04'`);
});

test('an error that is in the reply alone is an output', async () => {
  const kernel = strange();
  const bridge = await opened(kernel);
  const { outputs, end } = await bridge.run(kernel, 'say nothing of the error');
  expect(outputs).toMatchObject([{ ename: 'Aborted', evalue: 'the kernel has not run this cell' }]);
  expect(end).toMatchObject({ status: 'error', exit_code: 1 });
});

test('a kernel that answers on its shell channel only is opened', async () => {
  const kernel = strange('deaf');
  expect((await (await opened(kernel)).run(kernel, '')).end['status']).toBe('ok');
});
