/** The bridge runs cells in real kernels, many cells and several kernels at once. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { python, Stage, type Bridge, type Event, type Kernel } from '../../../test/harness/bridge.ts';

const stage = new Stage();
let bridge: Bridge;
let kernel: Kernel;
beforeAll(async () => {
  bridge = await stage.bridge();
  kernel = stage.kernel();
  await bridge.open(kernel);
});
afterAll(async () => await stage[Symbol.asyncDispose]());

const isOutput =
  (text: string) =>
  ({ output }: Event): boolean =>
    JSON.stringify(output ?? '').includes(text);

test('a kernel that answers is open, with its language and version', async () => {
  const opened = await bridge.open(kernel);

  expect(opened).toMatchObject({ event: 'opened', kernel: kernel.name, language: 'python' });
  expect(opened['version']).toMatch(/^3\.\d+\.\d+$/);
  expect(opened['banner']).toContain('IPython');
});

test('a value, a print, a display and an exception are outputs with only their own keys', async () => {
  const { outputs, end } = await bridge.run(kernel, 'print("a")\ndisplay(1)\n6 * 7');
  expect(outputs).toEqual([
    { output_type: 'stream', name: 'stdout', text: 'a\n' },
    { output_type: 'display_data', data: { 'text/plain': '1' }, metadata: {} },
    {
      output_type: 'execute_result',
      execution_count: end['execution_count'],
      data: { 'text/plain': '42' },
      metadata: {},
    },
  ]);
  expect(end).toMatchObject({ status: 'ok', exit_code: 0 });

  const failed = await bridge.run(kernel, '1 / 0');
  expect(failed.end).toMatchObject({ status: 'error', exit_code: 1 });
  expect(Object.keys(failed.outputs[0] ?? {})).toEqual(['output_type', 'ename', 'evalue', 'traceback']);
  expect(failed.outputs).toMatchObject([{ ename: 'ZeroDivisionError', evalue: 'division by zero' }]);
});

test('a display can be updated, and outputs can be cleared', async () => {
  const { said } = await bridge.run(
    kernel,
    'from IPython.display import clear_output\nd = display("a", display_id="d")\nd.update("b")\nclear_output(wait=True)',
  );
  expect(said.map(({ event, display_id, wait }) => [event, display_id, wait])).toEqual([
    ['begin', undefined, undefined],
    ['output', 'd', undefined],
    ['update', 'd', undefined],
    ['clear', undefined, true],
  ]);
  expect(said[2]).toMatchObject({ data: { 'text/plain': "'b'" }, metadata: {} });
});

test('a matplotlib figure is an image, a pandas frame is a table', async () => {
  const { outputs } = await bridge.run(
    kernel,
    'import pandas\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\npandas.DataFrame({"a": [1]})',
  );
  const [figure, table] = outputs.filter(({ data }) => data);
  expect(Buffer.from(String(figure?.data?.['image/png']), 'base64').subarray(1, 4).toString()).toBe('PNG');
  expect(table?.data?.['text/html']).toContain('<table');
});

test('all output of a cell arrives whole before the end of the cell', async () => {
  for (let round = 0; round < 20; round++) {
    const { stdout } = await bridge.run(kernel, 'for i in range(2000): print(i)');
    expect(stdout).toBe(Array.from({ length: 2000 }, (_, index) => `${index}\n`).join(''));
  }
});

test('output of child processes and libraries also arrives before the end of the cell', async () => {
  for (let round = 0; round < 50; round++) {
    const { stdout } = await bridge.run(
      kernel,
      'import os, subprocess\n_ = subprocess.run(["echo", "child"]), os.write(1, b"library\\n")',
    );
    expect(stdout).toBe('child\nlibrary\n');
  }
});

test('a long text arrives in pieces that fit the line limit', async () => {
  const { outputs, stdout } = await bridge.run(kernel, 'print("äöü" * 700_000, end="")');
  expect(stdout).toBe('äöü'.repeat(700_000));
  expect(Math.max(...outputs.map(({ text = '' }) => text.length))).toBeLessThanOrEqual(256 * 1024);
});

test('output printed after the end of a cell belongs to that cell', async () => {
  const go = join(stage.directory, 'may-go-on');
  const wait = `while not os.path.exists(${JSON.stringify(go)}): `;
  const thread = await bridge.run(
    kernel,
    `import threading, os, time\ndef late():\n  ${wait}time.sleep(0.01)\n  print("from a thread", flush=True)\n` +
      'threading.Thread(target=late).start()',
  );
  expect(thread.stdout).toBe('');
  writeFileSync(go, '');
  expect((await bridge.until('the late output', isOutput('from a thread'))).cell).toBe(thread.end.cell);

  // A task prints while the next cell waits for the task.
  const task = await bridge.run(
    kernel,
    'import asyncio\nasync def later(): print("from a task", flush=True)\ntask = asyncio.create_task(later())',
  );
  const next = await bridge.run(kernel, 'await task\nprint("next")');
  expect((await bridge.until('the late output', isOutput('from a task'))).cell).toBe(task.end.cell);
  expect(next.stdout).toBe('next\n');
});

test('cells run in request order, also after a cell that fails', async () => {
  const asked = ['1 / 0', 'x = 1', 'x + 1'].map((code) => bridge.execute(kernel, code));
  const [failed, , last] = await Promise.all(asked.map(async (cell) => await bridge.ended(cell)));

  expect(failed?.end['status']).toBe('error');
  expect(last?.outputs).toMatchObject([{ data: { 'text/plain': '2' } }]);
  const turns = bridge.events.filter(({ cell, event }) => asked.includes(cell ?? '') && /begin|end/.test(event));
  expect(turns.map(({ event, cell }) => `${event} ${asked.indexOf(cell ?? '')}`)).toEqual([
    ...['begin 0', 'end 0', 'begin 1', 'end 1', 'begin 2', 'end 2'],
  ]);
});

test('reading input raises an error that says input is not available', async () => {
  for (const code of ['input("name? ")', 'import getpass; getpass.getpass()']) {
    const { outputs, end } = await bridge.run(kernel, code);
    expect(end).toMatchObject({ status: 'error', exit_code: 1 });
    expect(outputs).toMatchObject([{ evalue: 'input() and getpass() cannot ask: a cell has no standard input' }]);
    expect(outputs[0]?.traceback?.at(-1)).toContain('a cell has no standard input');
  }
});

test('the exit code is the argument of sys.exit', async () => {
  const ends = [];
  for (const code of ['', '0', 'None', '3', '-1', '"why"']) {
    const { end, outputs } = await bridge.run(kernel, `import sys; sys.exit(${code})`);
    ends.push([end['status'], end['exit_code'], outputs.filter(({ ename }) => ename).length]);
  }
  expect(ends).toEqual([
    ['ok', 0, 0],
    ['ok', 0, 0],
    ['ok', 0, 0],
    ['error', 3, 1],
    ['error', 255, 1],
    ['error', 1, 1],
  ]);
});

test('help text is shown, although a kernel reports it outside its outputs', async () => {
  const { outputs } = await bridge.run(kernel, 'len?');
  expect(outputs[0]?.data?.['text/plain']).toContain('number of items');
});

test('directory and environment change before the cell, without any other visible effect', async () => {
  const before = await bridge.run(kernel, 'len(dir()), len(In)');
  const env = { BOXKEEP_A: `it's "é"`, BOXKEEP_B: '' };
  const set = await bridge.run(kernel, 'import os; os.getcwd(), os.environ["BOXKEEP_A"], os.environ["BOXKEEP_B"]', {
    cwd: stage.directory,
    env,
  });
  expect(set.outputs[0]?.data?.['text/plain']).toContain(stage.directory);
  expect(set.outputs[0]?.data?.['text/plain']).toContain('é');
  expect(set.end['execution_count']).toBe(Number(before.end['execution_count']) + 1);

  const unset = await bridge.run(kernel, '"BOXKEEP_A" in os.environ, os.getcwd()', { env: { BOXKEEP_A: null } });
  expect(unset.outputs[0]?.data?.['text/plain']).toBe(`(False, '${stage.directory}')`);
  const after = await bridge.run(kernel, 'len(dir()), len(In)');
  const numbers = (text: unknown) => [...String(text).matchAll(/\d+/g)].map(Number);
  const [names = 0, cells = 0] = numbers(before.outputs[0]?.data?.['text/plain']);
  // IPython's own references to three cells with a value: `_i7`, `_7` of each.
  expect(numbers(after.outputs[0]?.data?.['text/plain'])).toEqual([names + 6, cells + 3]);
});

test('variables of one cell are put back as they were, also behind an error', async () => {
  const seen = async (more: object = {}) => {
    const { outputs } = await bridge.run(kernel, '[os.environ.get(name) for name in ("MINE", "NEW")]', more);
    return outputs[0]?.data?.['text/plain'];
  };
  await bridge.run(kernel, 'import os; os.environ["MINE"] = "code"');
  expect(await seen({ lent: { MINE: 'cell', NEW: '"' } })).toBe(`['cell', '"']`);
  expect(await seen()).toBe("['code', None]");
  expect((await bridge.run(kernel, '1 / 0', { lent: { MINE: null } })).end).toMatchObject({ status: 'error' });
  await bridge.run(kernel, 'await None', { lent: { NEW: 'x' } });
  await bridge.run(kernel, '', { lent: { NEW: 'x' } });
  await bridge.run(kernel, 'ran = True', { cwd: '/not/there', lent: { NEW: 'x' } });
  expect(await seen()).toBe("['code', None]");
  expect((await bridge.run(kernel, '[name for name in dir() if "lend" in name]')).outputs).toMatchObject([
    { data: { 'text/plain': '[]' } },
  ]);
});

test('a cell does not run when its directory cannot be entered', async () => {
  const { outputs, end } = await bridge.run(kernel, 'ran = True', { cwd: '/not/there' });
  expect(outputs).toMatchObject([
    { ename: 'DirectoryError', evalue: 'working directory /not/there: No such file or directory' },
  ]);
  expect(end).toMatchObject({
    ...{ status: 'error', exit_code: 1, execution_count: null },
    cwd_error: 'No such file or directory',
  });
  expect((await bridge.run(kernel, '"ran" in dir()')).outputs).toMatchObject([{ data: { 'text/plain': 'False' } }]);
});

test('an interrupt message interrupts the running cell, and the queued cells run', async () => {
  const cell = bridge.execute(kernel, 'import time\nprint("on", flush=True)\nwhile True: time.sleep(0.01)');
  const next = bridge.execute(kernel, '"behind"');
  await bridge.until('the first output', (event) => event.event === 'output' && event.cell === cell);
  bridge.send({ op: 'interrupt', kernel: kernel.name });

  expect((await bridge.ended(cell)).outputs.at(-1)?.ename).toBe('KeyboardInterrupt');
  expect((await bridge.ended(next)).end['status']).toBe('ok');
});

test('kernels run in parallel', async () => {
  const other = stage.kernel();
  await bridge.open(other);
  const meet = (mine: string, theirs: string) =>
    `import os, time\nopen(${JSON.stringify(mine)}, "w").close()\n` +
    `while not os.path.exists(${JSON.stringify(theirs)}): time.sleep(0.01)\n"met"`;
  const [here, there] = [join(stage.directory, 'here'), join(stage.directory, 'there')];

  const both = [bridge.execute(kernel, meet(here, there)), bridge.execute(other, meet(there, here))];
  for (const cell of both) expect((await bridge.ended(cell)).outputs[0]?.data?.['text/plain']).toBe("'met'");
});

test('exit() is reported with the end of its cell, and no later cell starts', async () => {
  const leaving = stage.kernel();
  await bridge.open(leaving);
  const last = bridge.execute(leaving, 'exit()');
  const never = bridge.execute(leaving, '1');

  expect((await bridge.ended(last)).end).toMatchObject({ status: 'ok', is_exiting: true });
  await leaving.child.exited;
  await bridge.run(kernel, '1');
  expect(bridge.events.filter(({ cell }) => cell === never)).toEqual([]);
});

test('a kernel exits on a shutdown request', async () => {
  const leaving = stage.kernel();
  await bridge.open(leaving);
  bridge.send({ op: 'shutdown', kernel: leaving.name });
  expect(await leaving.child.exited).toBe(0);
});

test('a kernel of another language runs cells, and refuses directory and environment', async () => {
  const bash = stage.kernel([python, '-m', 'bash_kernel', '-f', '{connection_file}']);
  expect(await bridge.open(bash, { language: 'bash' })).toMatchObject({ language: 'bash' });

  expect((await bridge.run(bash, 'x=1; echo "a $x"')).stdout).toBe('a 1\n');
  expect((await bridge.run(bash, 'false')).end).toMatchObject({ status: 'error', exit_code: 1 });
  const refused = await bridge.run(bash, 'pwd', { cwd: '/' });
  expect(refused.outputs).toMatchObject([
    { evalue: 'cwd and env can change in kernels of Python only, and not in one of bash' },
  ]);
  expect((await bridge.run(bash, 'echo $x')).stdout).toBe('1\n');
});

test('a kernel may listen on ports that it chose itself', async () => {
  const file = join(stage.directory, 'chosen-by-the-kernel.json');
  const chosen = stage.kernel([python, '-m', 'ipykernel_launcher', '-f', file]);
  await stage.written(file);
  await bridge.open({ ...chosen, connection: await Bun.file(file).json() });
  expect((await bridge.run(chosen, '6 * 7')).outputs).toMatchObject([{ data: { 'text/plain': '42' } }]);
});

test('the bridge exits at the end of its input', async () => {
  const brief = await stage.bridge();
  await brief.child.stdin.end();
  expect(await brief.child.exited).toBe(0);
});

test('code cannot forge an event to the daemon by writing to stdout', async () => {
  const countBefore = bridge.events.length;
  const { stdout } = await bridge.run(kernel, `import subprocess; subprocess.run(['echo', '{"event":"ready"}'])`);
  expect(stdout).toBe('{"event":"ready"}\n');
  expect(bridge.events.slice(countBefore).map(({ event }) => event)).not.toContain('ready');
});
