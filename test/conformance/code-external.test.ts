/** The behavior of Python in kernels of an external Jupyter server. */
import { afterAll, beforeAll } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute, outputsOf, printedIn, run, sessionOf, valueOf } from '../harness/code-client.ts';
import { proxyTo, type CuttingProxy } from '../harness/cutting-proxy.ts';
import { barePython, imageWith, needPython } from '../harness/interpreters.ts';
import { inControlGroup } from '../harness/control-group.ts';
import { peakDuring } from '../harness/process-memory.ts';
import { JupyterServer } from '../harness/jupyter-server.ts';
import { expect, test, type Json, type JsonObject, type Sandbox, type SandboxOptions } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const environment = needPython('code/jupyter-server');

const server = new JupyterServer(environment);
let proxy: CuttingProxy;
beforeAll(async () => {
  await server.launch();
  proxy = await proxyTo(server.port);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const nowhere = () => [];
const at = (endpoint: () => string): SandboxOptions => imageWith(nowhere, () => ({ SVC_JUPYTER_ENDPOINT: endpoint() }));
const external = (): SandboxOptions => at(() => server.endpoint);

const cell = (sandbox: Sandbox, code: string, more: Record<string, Json> = {}) =>
  run(sandbox, { language: 'python', session_id: 'state', code, ...more });
const alone = (sandbox: Sandbox, code: string, more: Record<string, Json> = {}) =>
  execute(sandbox, { language: 'python', code, ...more });
const state = (sandbox: Sandbox) => sessionOf(sandbox, 'state');
const noKernels = (of = server) => until('no kernel is left', async () => (await of.kernels()).length === 0);
const lastOf = async (sandbox: Sandbox) => (await state(sandbox))['last_execution'] as JsonObject;

/** Prints ten numbers, waits until the gate exists, and prints ten more. */
const gate = ({ directory }: Sandbox) => join(directory, 'gate');
const counting = (sandbox: Sandbox) => `import os, time
for n in range(20):
  print(n, flush=True)
  while n == 9 and not os.path.exists(${JSON.stringify(gate(sandbox))}): time.sleep(0.02)
kept = 2
"over"`;
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n}\n`).join('');
const isAtGate = (sandbox: Sandbox) =>
  until('it is at the gate', async () => (await printedIn(sandbox, 'state')) === numbers(10));
const openGate = (sandbox: Sandbox) => writeFileSync(gate(sandbox), '');
const bothRun = () =>
  until('both run', async () => (await server.kernels()).filter((one) => one.execution_state === 'busy').length === 2);
const isIdle = (sandbox: Sandbox) =>
  until('the session is idle', async () => (await state(sandbox))['state'] === 'idle');

test(
  'CODE-1 CODE-3 a server with another token is named, and the remaining backends run the code',
  async ({ sandbox }) => {
    const { languages } = await sandbox.ok('GET /v2/code/info');
    const [jupyter] = (languages as JsonObject)['python']['backends'];
    expect(jupyter).toMatchObject({ name: 'jupyter', available: false });
    expect(jupyter.missing).toMatch(/127\.0\.0\.1:\d+ does not take the token of SVC_JUPYTER_ENDPOINT \(403\)/);
    expect(await cell(sandbox, '6 * 7')).toMatchObject({ backend: 'native', status: 'ok' });
  },
  imageWith(
    (sandbox) => [barePython(sandbox)],
    () => ({ SVC_JUPYTER_ENDPOINT: `${server.address}/?token=another` }),
  ),
);

test(
  'CODE-1 without a server and any other backend a request is refused, with the places that were searched',
  async ({ sandbox }) => {
    const { status, body } = await alone(sandbox, '1');
    expect([status, body.message]).toEqual([
      503,
      expect.stringMatching(/no Jupyter server answers at http:\/\/127\.0\.0\.1:9; .*python3 and python are not on/),
    ]);
  },
  imageWith(nowhere, () => ({ SVC_JUPYTER_ENDPOINT: 'http://127.0.0.1:9/' })),
);

test(
  'CODE-2 a kernel that the server lacks is refused with the list of available ones, and a kernel that cannot start is reported',
  async ({ sandbox }) => {
    const unknown = await alone(sandbox, '1', { kernel: 'none-of-that-name' });
    expect(unknown).toMatchObject({ status: 422, body: { errors: [{ location: 'body.kernel', type: 'enum' }] } });
    expect(unknown.body.message).toMatch(/there are python3, .*broken/);
    const broken = await alone(sandbox, '1', { kernel: 'broken' });
    expect([broken.status, broken.body.message]).toEqual([503, expect.stringMatching(/^the Jupyter server at .* 500/)]);
    expect(await alone(sandbox, '1', { kernel: 'python3' })).toMatchObject({ status: 200, body: { success: true } });
    const other = await alone(sandbox, '1', { user: '12345' });
    expect([other.status, other.body.message]).toEqual([503, expect.stringContaining('run as its account')]);
    await noKernels();
  },
  {
    ...external(),
    prepare: (sandbox) => {
      external().prepare?.(sandbox);
      server.addKernel('broken', { argv: ['/not/there', '{connection_file}'], display_name: 'b', language: 'python' });
    },
  },
);

test(
  'CODE-1 a cell runs in its directory with its variables, ends with its exit code, and is refused where it cannot run',
  async ({ sandbox }) => {
    const work = join(sandbox.directory, 'work');
    mkdirSync(work);
    const where = '(__import__("os").getcwd(), __import__("os").environ.get("COLOUR"))';
    const placed = await cell(sandbox, where, { cwd: work, env: { COLOUR: 'red' } });
    expect(valueOf(placed)).toBe(`('${work}', 'red')`);
    expect(valueOf(await cell(sandbox, where, { env: { COLOUR: null } }))).toBe(`('${work}', None)`);
    expect(valueOf(await cell(sandbox, '"os" in globals()'))).toBe('False');
    expect(await cell(sandbox, 'print("ran")', { cwd: '/no/such/place' })).toMatchObject({
      ...{ status: 'error', exit_code: 1, stdout: '' },
      outputs: [{ ename: 'DirectoryError', evalue: 'working directory /no/such/place: No such file or directory' }],
    });
    expect(await cell(sandbox, 'import sys; sys.exit(3)')).toMatchObject({
      status: 'error',
      exit_code: 3,
      kernel: null,
    });
    expect(await cell(sandbox, 'sys.exit()')).toMatchObject({ status: 'ok', exit_code: 0, outputs: [] });
    expect(await cell(sandbox, 'input("name? ")')).toMatchObject({
      ...{ status: 'error', outputs: [{ ename: 'StdinNotImplementedError' }] },
    });
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await noKernels();
  },
  external(),
);

test(
  'CODE-1 outputs of a kernel are shown: updated displays, pager text, and messages with binary buffers',
  async ({ sandbox }) => {
    const updated = await cell(sandbox, 'h = display("first", display_id=True)\nh.update("second")');
    expect(outputsOf(updated)).toMatchObject([{ output_type: 'display_data', data: { 'text/plain': "'second'" } }]);
    const cleared = await cell(sandbox, 'from IPython.display import clear_output\nprint(1)\nclear_output()\nprint(2)');
    expect(cleared['stdout']).toBe('2\n');
    const bytes = `from IPython import get_ipython
kernel = get_ipython().kernel
content = {"data": {"text/plain": "with bytes"}, "metadata": {}}
kernel.session.send(kernel.iopub_socket, "display_data", content, parent=kernel.get_parent(), buffers=[b"\\0" * 9])
len`;
    const sent = await cell(sandbox, bytes);
    expect(outputsOf(sent)[0]).toMatchObject({ output_type: 'display_data', data: { 'text/plain': 'with bytes' } });
    expect(valueOf(sent)).toContain('len');
    expect(JSON.stringify(outputsOf(await cell(sandbox, 'len?')))).toContain('Return the number of items');
    const large = await cell(sandbox, 'print("x" * 500_000)');
    expect((large['stdout'] as string).length).toBe(500_001);
    await sandbox.ok('DELETE /v2/code/sessions/state');
  },
  external(),
);

test(
  'CODE-17 PROMISE-10 an output with millions of small values is reported as missing, and the daemon lives',
  async ({ sandbox }) => {
    await cell(sandbox, '1');
    const peak = await peakDuring(sandbox, async () => {
      const code = 'from IPython.display import display\ndisplay({"application/json": [{}] * 6_000_000}, raw=True)';
      expect(await cell(sandbox, code, { timeout: 60 })).toMatchObject({ status: 'ok', partial: true });
    });
    expect(peak).toBeLessThan(300);
    expect(valueOf(await cell(sandbox, '6 * 7'))).toBe('42');
    await sandbox.ok('DELETE /v2/code/sessions/state');
  },
  inControlGroup({ memoryBytes: 1024 * 1024 * 1024 }, external()),
);

test(
  'CODE-2 CODE-24 a kernel that dies is reported, exit() too, and the session continues with a new kernel',
  async ({ sandbox }) => {
    await cell(sandbox, 'import os, signal\nkept = 1');
    const died = await cell(sandbox, 'os.kill(os.getpid(), signal.SIGKILL)');
    expect(died).toMatchObject({ status: 'error', exit_code: null, kernel: { signal: null, restarted: true } });
    expect(outputsOf(died).at(-1)).toMatchObject({ output_type: 'error', ename: 'KernelDied' });
    const after = await cell(sandbox, '"kept" in globals()');
    expect(after).toMatchObject({ execution_count: 1, kernel: { before_cell: true } });
    expect(valueOf(after)).toBe('False');
    expect(await cell(sandbox, 'exit()')).toMatchObject({ status: 'ok', kernel: { before_cell: false } });
    expect(await cell(sandbox, '2')).toMatchObject({ status: 'ok', execution_count: 1, kernel: { before_cell: true } });
    expect(await server.kernels()).toHaveLength(1);
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await noKernels();
  },
  external(),
);

test(
  'CODE-2 a session deleted during its cell is also closed on the server',
  async ({ sandbox }) => {
    const busy = cell(sandbox, counting(sandbox));
    await isAtGate(sandbox);
    expect(await server.kernels()).toMatchObject([{ name: 'python3', execution_state: 'busy' }]);
    await sandbox.ok('DELETE /v2/code/sessions/state');
    expect(await busy).toMatchObject({ status: 'error' });
    expect(outputsOf(await busy).at(-1)).toMatchObject({ ename: 'SessionClosed' });
    await noKernels();
  },
  external(),
);

let isNamed = true;

test(
  'CODE-2 the daemon ends its kernels on the server when it stops, and a daemon without a server still starts',
  async ({ sandbox }) => {
    await cell(sandbox, 'kept = 1');
    expect(await server.kernels()).toHaveLength(1);
    expect(await sandbox.stop()).toBe(0);
    await noKernels();
    isNamed = false;
    await sandbox.launch();
    const { status, body } = await alone(sandbox, '1', { session_id: 'state' });
    expect([status, body.message]).toEqual([503, 'this daemon has no backend called jupyter']);
    await sandbox.ok('DELETE /v2/code/sessions/state');
  },
  imageWith(nowhere, (): Record<string, string> => (isNamed ? { SVC_JUPYTER_ENDPOINT: server.endpoint } : {})),
);

const mortal = new JupyterServer(environment);

test(
  'CODE-2 a server that disappears during a cell is reported, and so is every request until it is back',
  async ({ sandbox }) => {
    await using own = mortal;
    await own.launch();
    await cell(sandbox, 'kept = 1');
    const busy = cell(sandbox, counting(sandbox));
    await isAtGate(sandbox);
    await own.end('SIGKILL');
    const cut = await busy;
    expect(cut).toMatchObject({ status: 'error', exit_code: null, kernel: { restarted: true } });
    expect(cut['stdout']).toBe(numbers(10));
    expect(outputsOf(cut).at(-1)).toMatchObject({ ename: 'KernelDied' });
    const refused = await alone(sandbox, '1', { session_id: 'state' });
    expect([refused.status, refused.body.message]).toEqual([503, expect.stringContaining(`server at ${own.address}`)]);
    expect(await state(sandbox)).toMatchObject({ state: 'idle' });
    await own.launch();
    const back = await cell(sandbox, '"kept" in globals()');
    expect(back).toMatchObject({ status: 'ok', execution_count: 1 });
    expect(valueOf(back)).toBe('False');
    await until('others find it', async () => (await alone(sandbox, '1')).status === 200);
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await noKernels(own);
    await own.end('SIGTERM');
  },
  at(() => mortal.endpoint),
);

const deaf = new JupyterServer(environment);

test(
  'CODE-2 a server that no longer answers blocks only its own cells',
  async ({ sandbox }) => {
    await using own = deaf;
    await own.launch();
    await cell(sandbox, 'kept = 1');
    own.signal('SIGSTOP');
    const late = cell(sandbox, '1', { timeout: 1 });
    expect(await sandbox.run({ command: 'echo here' })).toMatchObject({ stdout: 'here\n' });
    expect(await state(sandbox)).toMatchObject({ state: 'busy' });
    expect(await late).toMatchObject({ status: 'timeout', kernel: { restarted: true } });
    own.signal('SIGCONT');
    expect(await cell(sandbox, '"kept" in globals()')).toMatchObject({ status: 'ok', execution_count: 1 });
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await noKernels(own);
  },
  at(() => deaf.endpoint),
);

test(
  'CODE-2 a cut connection loses neither the kernel nor its state, and the end of the cell is reported',
  async ({ sandbox }) => {
    await cell(sandbox, 'kept = 1');
    const [before] = await server.kernels();
    const busy = cell(sandbox, counting(sandbox));
    await isAtGate(sandbox);
    proxy.cut();
    openGate(sandbox);
    expect(await busy).toMatchObject({ status: 'ok', kernel: null, partial: true });
    expect(valueOf(await busy)).toBe("'over'");
    proxy.cut();
    await until('it is connected again', async () => valueOf(await cell(sandbox, 'kept')) === '2');
    expect(await server.kernels()).toMatchObject([{ id: before?.id }]);
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await noKernels();
  },
  at(() => `http://127.0.0.1:${proxy.port}/?token=${server.token}`),
);

test(
  'CODE-2 PROMISE-1 a session, its state and the rest of its cell outlive the daemon; code that ran alone does not',
  async ({ sandbox }) => {
    await cell(sandbox, 'kept = 1');
    const cut = Promise.allSettled([cell(sandbox, counting(sandbox)), alone(sandbox, counting(sandbox))]);
    await isAtGate(sandbox);
    await bothRun();
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await cut;
    await sandbox.served();
    openGate(sandbox);
    await isIdle(sandbox);
    const last = await lastOf(sandbox);
    expect(last).toMatchObject({ status: 'ok', partial: true });
    expect(valueOf(last)).toBe("'over'");
    expect(last['stdout']).toEndWith('18\n19\n');
    expect(valueOf(await cell(sandbox, 'kept'))).toBe('2');
    await until('its kernel is gone', async () => (await server.kernels()).length === 1);
    const waits = cell(sandbox, 'print("begun")\ntime.sleep(60)');
    await until('it prints', async () => (await printedIn(sandbox, 'state')) === 'begun\n');
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await waits.catch(() => null); // Its connection ended with the daemon.
    await sandbox.served();
    expect(await sandbox.ok('POST /v2/code/sessions/state/interrupt')).toMatchObject({ interrupted: true });
    await isIdle(sandbox);
    expect(outputsOf(await lastOf(sandbox)).at(-1)).toMatchObject({ ename: 'KeyboardInterrupt' });
    expect(valueOf(await cell(sandbox, 'kept'))).toBe('2');
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await noKernels();
  },
  { ...external(), expectedWarnings: ['started again by init'] },
);

test(
  'CODE-2 PROMISE-1 an upgrade loses no cell, and the session continues in the same kernel',
  async ({ sandbox }) => {
    await cell(sandbox, 'kept = 1');
    const [before] = await server.kernels();
    const busy = cell(sandbox, counting(sandbox));
    await isAtGate(sandbox);
    const waiting = cell(sandbox, 'kept + 1');
    const single = alone(sandbox, counting(sandbox));
    await bothRun();
    const served = sandbox.served();
    expect(await sandbox.upgrade()).toMatchObject({ code: 0, stderr: '' });
    await served;
    openGate(sandbox);
    expect(await busy).toMatchObject({ status: 'ok', partial: false, stdout: numbers(20) });
    expect((await single).body.data).toMatchObject({ status: 'ok', partial: false, stdout: numbers(20) });
    expect(valueOf(await waiting)).toBe('3');
    expect(valueOf(await cell(sandbox, 'kept + 2'))).toBe('4');
    await until('only its kernel is left', async () => (await server.kernels()).length === 1);
    expect(await server.kernels()).toMatchObject([{ id: before?.id }]);
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await noKernels();
  },
  external(),
);
