/** The behavior of Python in an ipykernel that the daemon starts. */
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { barePython } from '../harness/interpreters.ts';
import { sharedPython, withKernels } from '../harness/kernels.ts';
import { liveFiles } from '../harness/live-files.ts';
import { nextProgram } from '../harness/next-version.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { testAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

async function run(sandbox: Sandbox, code: string, more: Record<string, Json> = {}): Promise<JsonObject> {
  const body = { language: 'python', session_id: 'state', code, ...more };
  const reply = await sandbox.request('POST /v2/code/execute', body);
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body.data;
}

const session = (sandbox: Sandbox) => sandbox.ok('GET /v2/code/sessions/state');
const outputs = (result: JsonObject) => result['outputs'] as JsonObject[];
const value = (result: JsonObject) => (outputs(result).at(-1)?.['data'] as JsonObject | undefined)?.['text/plain'];

const shown = (read: JsonObject) => (read['last_execution'] as JsonObject | null)?.['stdout'];

/** The bridge process of the sandbox: its command line contains its loader. */
function bridgePid(sandbox: Sandbox): number {
  const found = sandbox.processes().filter(({ command }) => command.includes("'<boxkeep>'"));
  if (found.length !== 1) throw new Error(`there are ${found.length} bridges`);
  return found[0]?.pid ?? 0;
}

const kernelProcesses = (sandbox: Sandbox) =>
  sandbox.processes().filter(({ command }) => /ipykernel_launcher|<boxkeep>/.test(command));

test(
  'CODE-1 CODE-2 CODE-13 a kernel runs code alone and in a session, with its state',
  async ({ sandbox }) => {
    const alone = await sandbox.ok('POST /v2/code/execute', { language: 'python', code: 'kept = 6 * 7\nkept' });
    expect(alone).toMatchObject({
      backend: 'kernel',
      session_id: null,
      status: 'ok',
      exit_code: 0,
      execution_count: 1,
    });
    expect(alone['outputs']).toEqual([
      { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '42' }, metadata: {} },
    ]);
    await until('it is gone', () => kernelProcesses(sandbox).length === 0);
    await run(sandbox, 'kept = 1\nprint("out")');
    expect(await run(sandbox, '"kept" in globals(), kept + 1')).toMatchObject({
      ...{ backend: 'kernel', session_id: 'state', execution_count: 2 },
      outputs: [{ data: { 'text/plain': '(True, 2)' } }],
    });
    const { pid } = await session(sandbox);
    expect(value(await run(sandbox, 'import os; os.getpid()'))).toBe(String(pid));
    await sandbox.ok('DELETE /v2/code/sessions/state');
    await until('it is gone', () => kernelProcesses(sandbox).length === 0);
  },
  withKernels(),
);

test(
  'CODE-8 a kernel shows results, streams, updated displays, errors, figures and tables',
  async ({ sandbox }) => {
    const streams = await run(sandbox, 'import sys\nprint("out")\nprint("err", file=sys.stderr)\nNone');
    expect(streams).toMatchObject({ stdout: 'out\n', stderr: 'err\n', status: 'ok' });
    const updated = await run(sandbox, 'h = display("first", display_id=True)\nh.update("second")');
    expect(outputs(updated)).toMatchObject([{ output_type: 'display_data', data: { 'text/plain': "'second'" } }]);
    const cleared = await run(
      sandbox,
      'from IPython.display import clear_output\nprint("before")\nclear_output()\nprint("after")',
    );
    expect(cleared['stdout']).toBe('after\n');
    const failed = await run(sandbox, '1 / 0');
    expect(failed).toMatchObject({ status: 'error', exit_code: 1, outputs: [{ ename: 'ZeroDivisionError' }] });
    const figure = await run(sandbox, 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()');
    const picture = outputs(figure).at(-1)?.['data'] as JsonObject;
    expect(
      Buffer.from(picture['image/png'] as string, 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const table = await run(sandbox, 'import pandas\npandas.DataFrame({"a": [1, 2]})');
    expect(((outputs(table)[0] ?? {})['data'] as JsonObject)['text/html']).toContain('<table');
    expect(await run(sandbox, 'input("name? ")')).toMatchObject({
      status: 'error',
      outputs: [{ ename: 'StdinNotImplementedError', evalue: expect.stringContaining('cannot ask') }],
    });
  },
  withKernels(),
);

test(
  'CODE-20 output that a thread prints after the end of its cell is reported with the next cell',
  async ({ sandbox }) => {
    const file = join(sandbox.directory, 'printed');
    const late = `print("late", flush=True), open(${JSON.stringify(file)}, "w").close()`;
    expect(await run(sandbox, `import threading\nthreading.Timer(0.2, lambda: (${late})).start()`)).toMatchObject({
      late_outputs: [],
    });
    await until('it has printed', () => existsSync(file));
    let next: JsonObject = {};
    await until('the end is reported', async () => {
      next = await run(sandbox, '1');
      return (next['late_outputs'] as Json[]).length > 0;
    });
    expect(next).toMatchObject({
      stdout: '',
      late_outputs: [{ output_type: 'stream', name: 'stdout', text: 'late\n' }],
    });
  },
  withKernels(),
);

test(
  'CODE-7 CODE-10 a kernel is interrupted by a request and by a timeout, and keeps its state',
  async ({ sandbox }) => {
    await run(sandbox, 'import time\nkept = 1');
    const busy = run(sandbox, 'print("runs", flush=True)\ntime.sleep(60)');
    await until('it runs', async () => shown(await session(sandbox)) === 'runs\n');
    await until(
      'it is interrupted',
      async () => (await sandbox.ok('POST /v2/code/sessions/state/interrupt'))['interrupted'] === true,
    );
    expect(await busy).toMatchObject({
      status: 'error',
      outputs: [{ text: 'runs\n' }, { ename: 'KeyboardInterrupt' }],
    });
    const slow = await run(sandbox, 'print("begun")\ntime.sleep(60)', { timeout: 1.5 });
    expect(slow).toMatchObject({ status: 'timeout', stdout: 'begun\n', kernel: null });
    expect(value(await run(sandbox, 'kept'))).toBe('1');
  },
  withKernels(),
);

test(
  'CODE-18 CODE-24 a kernel that dies is reported within a second, exit() too, and the session continues',
  async ({ sandbox }) => {
    await run(sandbox, 'import os, signal\nkept = 1');
    const started = performance.now();
    const died = await run(sandbox, 'os.kill(os.getpid(), signal.SIGKILL)');
    expect(performance.now() - started).toBeLessThan(1000);
    expect(died).toMatchObject({ status: 'error', exit_code: null, kernel: { signal: 'SIGKILL', restarted: true } });
    expect(outputs(died).at(-1)).toMatchObject({ output_type: 'error', ename: 'KernelDied' });
    expect(await run(sandbox, '"kept" in globals()')).toMatchObject({
      execution_count: 1,
      kernel: { signal: 'SIGKILL', before_cell: true },
      outputs: [{ data: { 'text/plain': 'False' } }],
    });
    expect(await run(sandbox, 'import os\nos._exit(3)')).toMatchObject({ exit_code: 3, kernel: { signal: null } });
    const { pid } = await session(sandbox).then(async () => (await run(sandbox, '1')) && session(sandbox));
    expect(await run(sandbox, 'exit()')).toMatchObject({ status: 'ok', kernel: { before_cell: false } });
    expect(await run(sandbox, '2')).toMatchObject({ status: 'ok', execution_count: 1, kernel: { before_cell: true } });
    expect((await session(sandbox))['pid']).not.toBe(pid);
  },
  withKernels(),
);

test(
  'CODE-2 a crash of the bridge costs a cell only the outputs of that moment, and the state is kept',
  async ({ sandbox }) => {
    await run(sandbox, 'import time\nkept = 1');
    const cell = run(sandbox, 'print("one", flush=True)\ntime.sleep(1)\nkept = 2');
    await until('it prints', async () => JSON.stringify(await session(sandbox)).includes('one\\n'));
    process.kill(bridgePid(sandbox), 'SIGKILL');
    const waiting = run(sandbox, 'kept');
    expect(await cell).toMatchObject({ status: 'ok', stdout: 'one\n', partial: true });
    expect(await waiting).toMatchObject({ partial: false, outputs: [{ data: { 'text/plain': '2' } }] });
  },
  withKernels(),
);

test(
  'CODE-21 PROMISE-1 a kernel, its state and the output of its cell outlive the daemon',
  async ({ sandbox }) => {
    await run(sandbox, 'import time\nkept = 1');
    const cut = sandbox.request('POST /v2/code/execute', {
      ...{ language: 'python', session_id: 'state' },
      code: 'for n in range(40):\n  print(n, flush=True)\n  time.sleep(0.05)\nkept = 2\n"over"',
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
    expect(value(await run(sandbox, 'kept'))).toBe('2');
  },
  { ...withKernels(), expectedWarnings: ['started again by init'] },
);

test(
  'CODE-21 PROMISE-1 an upgrade loses no kernel, and a client waiting for a cell is answered',
  async ({ sandbox }) => {
    await run(sandbox, 'import time\nkept = 1');
    const gate = join(sandbox.directory, 'gate');
    const print = 'for n in range(20):\n  print(n, flush=True)\n  time.sleep(0.05)\n';
    const wait = `import os\nwhile not os.path.exists(${JSON.stringify(gate)}): time.sleep(0.01)\n`;
    const cell = run(sandbox, `${print}${wait}${print.replace('range(20)', 'range(20, 40)')}kept = 2`);
    await until('it prints', async () => JSON.stringify(await session(sandbox)).includes('5\\n'));
    expect((await sandbox.upgrade()).code).toBe(0);
    // The cell ends after the upgrade, however long that takes.
    await Bun.write(gate, '');
    const all = Array.from({ length: 40 }, (_, n) => `${n}\n`).join('');
    expect(await cell).toMatchObject({ status: 'ok', partial: false, stdout: all });
    await until('the session is idle', async () => (await session(sandbox))['state'] === 'idle');
    expect((await session(sandbox))['last_execution']).toMatchObject({ status: 'ok', partial: false, stdout: all });
    expect(value(await run(sandbox, 'kept'))).toBe('2');
  },
  withKernels(),
);

test(
  'CODE-21 RUN-UPGRADE-FAILED a new daemon that dies when it has found the kernels leaves them to the old one',
  async ({ sandbox }) => {
    const broken = await nextProgram(sandbox, 'ends', (main) =>
      main.replace('const { isOver }', 'process.exit(9);\n  const { isOver }'),
    );
    await run(sandbox, 'kept = 0');
    for (let upgrades = 1; upgrades <= 2; upgrades++) {
      expect((await sandbox.upgrade(broken)).stderr).toContain('the new daemon ended with 9');
      expect(value(await run(sandbox, 'kept += 1\nkept'))).toBe(String(upgrades));
    }
    sandbox.stderr = '';
  },
  withKernels(),
);

test(
  'CODE-21 the daemon and the bridge may die at the same time, and the kernel keeps its state',
  async ({ sandbox }) => {
    await run(sandbox, 'import time\nkept = 1');
    const cut = sandbox.request('POST /v2/code/execute', {
      ...{ language: 'python', session_id: 'state' },
      code: 'print("begun", flush=True)\ntime.sleep(2)\nkept = 2',
    });
    cut.catch(() => null); // Its connection ends with the daemon.
    await until('it prints', async () => shown(await session(sandbox)) === 'begun\n');
    for (const pid of [sandbox.daemonPid, bridgePid(sandbox)]) process.kill(pid, 'SIGKILL');
    await cut.catch(() => null);
    await sandbox.served();
    await until('the session is idle', async () => (await session(sandbox))['state'] === 'idle', 10_000);
    expect((await session(sandbox))['last_execution']).toMatchObject({ stdout: 'begun\n', partial: true });
    expect(value(await run(sandbox, 'kept'))).toBe('2');
  },
  { ...withKernels(), expectedWarnings: ['started again by init'] },
);

test(
  'CODE-12 a kernel runs in the requested directory, with the requested environment and as the requested account',
  async ({ sandbox }) => {
    const work = join(sandbox.directory, 'work');
    mkdirSync(work);
    const code = 'import os\nprint(os.getcwd(), os.environ.get("COLOUR"), os.getuid(), os.environ["HOME"])';
    chownSync(work, testAccount.uid, testAccount.gid);
    const account = { session_id: 'state', user: testAccount.name };
    const own = await run(sandbox, code, { ...account, cwd: work, env: { COLOUR: 'red' } });
    expect(own).toMatchObject({ backend: 'kernel', status: 'ok' });
    expect(own['stdout']).toBe(`${work} red ${testAccount.uid} ${sandbox.directory}\n`);
    expect(value(await run(sandbox, 'os.getcwd(), os.environ.get("COLOUR")'))).toBe(`('${work}', 'red')`);
    expect(await run(sandbox, '1', { cwd: '/no/such/place' })).toMatchObject({
      ...{ status: 'error', outputs: [{ ename: 'DirectoryError' }] },
    });
    const owner = (path: string) => [statSync(path).uid, statSync(path).mode & 0o777];
    const around = readFileSync(join(sandbox.runtimeDirectory, 'kernels-directory'), 'utf8');
    expect(directories(sandbox).map((name) => owner(join(around, name)))).toEqual([[testAccount.uid, 0o700]]);
  },
  sharedPython(),
);

test(
  'CODE-15 the number of kernels is limited, and plain interpreters do not count',
  async ({ sandbox }) => {
    await run(sandbox, '1');
    const more = await sandbox.request('POST /v2/code/sessions', { language: 'python' });
    expect([more.status, more.headers.get('retry-after')]).toEqual([429, '1']);
    expect(more.body.hint).toContain('SVC_KERNEL_MAX_SESSIONS');
    const alone = { language: 'python', code: '1' };
    const ran = await Promise.all([1, 2].map(() => sandbox.ok('POST /v2/code/execute', alone)));
    expect(ran).toMatchObject([
      { status: 'ok', backend: 'kernel' },
      { status: 'ok', backend: 'kernel' },
    ]);
  },
  withKernels({ SVC_KERNEL_MAX_SESSIONS: '1' }),
);

test(
  'CODE-3 CODE-13 a named kernel is used whatever is pinned, and the available kernels are listed',
  async ({ sandbox }) => {
    const kernels = join(sandbox.directory, 'jupyter/kernels');
    const argv = ['python3', '-m', 'ipykernel_launcher', '-f', '{connection_file}'];
    await Bun.write(
      join(kernels, 'mine/kernel.json'),
      JSON.stringify({ argv, language: 'python', env: { MINE: 'yes' } }),
    );
    await Bun.write(join(kernels, 'gone/kernel.json'), JSON.stringify({ argv: ['/not/there'], language: 'python' }));
    expect(await run(sandbox, '1', { session_id: 'plain' })).toMatchObject({ backend: 'native' });
    const mine = await run(sandbox, 'import os; os.environ["MINE"]', { kernel: 'mine' });
    expect(mine).toMatchObject({ backend: 'kernel', outputs: [{ data: { 'text/plain': "'yes'" } }] });
    const unknown = await sandbox.request('POST /v2/code/sessions', { language: 'python', kernel: 'gone' });
    expect(unknown).toMatchObject({ status: 422, body: { errors: [{ location: 'body.kernel', type: 'enum' }] } });
    expect(unknown.body.message).toContain('there are python3, mine');
    const { languages } = await sandbox.ok('GET /v2/code/info');
    expect((languages as JsonObject)['python']).toMatchObject({
      backend: 'native',
      backends: [{ name: 'kernel', available: true, missing: null, kernels: ['python3', 'mine'] }, { name: 'native' }],
    });
  },
  withKernels({ SVC_CODE_BACKEND: 'native' }),
);

test(
  'CODE-2 a kernel that listens on ports and takes interrupts as messages runs code too',
  async ({ sandbox }) => {
    const argv = ['/bin/sh', '-c', 'exec python3 -m ipykernel_launcher -f "$0"', '{connection_file}'];
    const spec = { argv, language: 'python', interrupt_mode: 'message' };
    await Bun.write(join(sandbox.directory, 'jupyter/kernels/ports/kernel.json'), JSON.stringify(spec));
    const kernel = { kernel: 'ports' };
    expect(await run(sandbox, 'import time\nkept = 1', kernel)).toMatchObject({ backend: 'kernel', status: 'ok' });
    const slow = await run(sandbox, 'time.sleep(60)', { ...kernel, timeout: 1.5 });
    expect(slow).toMatchObject({ status: 'timeout', kernel: null, outputs: [{ ename: 'KeyboardInterrupt' }] });
    expect(value(await run(sandbox, 'kept'))).toBe('1');
  },
  withKernels(),
);

test(
  'CODE-6 CODE-13 a kernel is requested under the language of its kernelspec, and errors list the kernels of that language',
  async ({ sandbox }) => {
    const kernels = join(sandbox.directory, 'jupyter/kernels');
    const argv = ['python3', '-m', 'ipykernel_launcher', '-f', '{connection_file}'];
    await Bun.write(join(kernels, 'script/kernel.json'), JSON.stringify({ argv, language: 'JavaScript' }));
    // The start-up files of the account's own shell do not matter here.
    const shell = ['python3', '-m', 'bash_kernel', '-f', '{connection_file}'];
    await Bun.write(
      join(kernels, 'shell/kernel.json'),
      JSON.stringify({ argv: shell, language: 'bash', env: { HOME: sandbox.directory } }),
    );
    const ask = (language: string, more: Record<string, Json>) =>
      sandbox.request('POST /v2/code/execute', { language, code: '6 * 7', ...more });
    expect((await ask('js', { kernel: 'script' })).body.data).toMatchObject({
      ...{ language: 'javascript', backend: 'kernel', outputs: [{ data: { 'text/plain': '42' } }] },
    });
    expect((await ask('js', {})).body.data).toMatchObject({ language: 'javascript', backend: 'node' });
    for (const [language, kernel, choices] of [
      ['js', 'python3', 'script'],
      ['python', 'script', 'python3, shell'],
    ] as const) {
      const refused = await ask(language, { kernel });
      expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining(`there are ${choices}`)]);
    }
    const { languages } = await sandbox.ok('GET /v2/code/info');
    expect((languages as JsonObject)['javascript']).toMatchObject({
      backend: 'node',
      backends: [
        { name: 'node', available: true, kernels: [] },
        { name: 'kernel', available: true, kernels: ['script'] },
      ],
    });
    // A kernel of another language that cannot change its directory and environment starts with them.
    const place = { kernel: 'shell', cwd: sandbox.directory, env: { COLOUR: 'red' }, session_id: 'shell' };
    expect(await run(sandbox, 'pwd; echo $COLOUR', place)).toMatchObject({
      ...{ status: 'ok', stdout: `${sandbox.directory}\nred\n` },
    });
    expect(await run(sandbox, 'pwd', { session_id: 'shell' })).toMatchObject({ stdout: `${sandbox.directory}\n` });
    expect(await run(sandbox, 'pwd', { ...place, cwd: '/' })).toMatchObject({ outputs: [{ ename: 'Unsupported' }] });
  },
  withKernels(),
);

test(
  'CODE-13 the missing part of a kernel is named in one sentence',
  async ({ sandbox }) => {
    const none = await sandbox.request('POST /v2/code/execute', { language: 'python', code: '1' });
    expect(none).toMatchObject({
      status: 503,
      body: {
        message: expect.stringContaining(
          `ipykernel is not installed for ${sandbox.directory}/python/bin/python3: pip install ipykernel`,
        ),
      },
    });
  },
  { env: (sandbox) => ({ PATH: `${barePython(sandbox)}:/usr/bin:/bin`, SVC_CODE_BACKEND: 'kernel' }) },
);

test(
  'LIM-3 no kernel starts before the first request, and no spare kernels are kept',
  async ({ sandbox }) => {
    const kernels = () => kernelProcesses(sandbox).filter(({ command }) => command.includes('ipykernel'));
    await sandbox.ok('GET /v2/code/info');
    expect(kernels()).toEqual([]);
    const cell = { language: 'python', code: 'import os; os.getpid()', session_id: 'asked' };
    const pid = Number(value(await sandbox.ok('POST /v2/code/execute', cell)));
    expect([pid > 0, kernels().length]).toEqual([true, 1]);
  },
  withKernels(),
);

test(
  'CODE-16 a kernel started in advance runs the first cell at once',
  async ({ sandbox }) => {
    const waits = () => bridgeLogs(sandbox).includes('"event":"opened"');
    await until('a kernel waits', waits);
    const before = kernelProcesses(sandbox).map(({ pid }) => pid);
    const result = await sandbox.ok('POST /v2/code/execute', { language: 'python', code: 'import os; os.getpid()' });
    expect(before).toContain(Number(value(result)));
    await until('another one waits', () => kernelProcesses(sandbox).length === 2);
  },
  withKernels({ SVC_KERNEL_PREWARM: '1' }),
);

/** The output of the bridges. */
function bridgeLogs(sandbox: Sandbox): string {
  return liveFiles(join(sandbox.runtimeDirectory, 'commands'))
    .filter(({ path }) => /\/out/.test(path))
    .map(({ bytes }) => bytes)
    .join('');
}

/** The directories of kernels. */
function directories(sandbox: Sandbox): string[] {
  const note = join(sandbox.runtimeDirectory, 'kernels-directory');
  return readdirSync(readFileSync(note, 'utf8'));
}

/** The memory of a process, in MiB. */
const residentMib = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
const maxGrowthMib = { daemon: 40, bridge: 10 };

test(
  'CODE-2 PROMISE-10 opened and closed kernels leave no process, descriptor, file or memory behind',
  async ({ sandbox }) => {
    const argv = ['/bin/sh', '-c', 'exec python3 -m ipykernel_launcher -f "$0"', '{connection_file}'];
    await Bun.write(
      join(sandbox.directory, 'jupyter/kernels/ports/kernel.json'),
      JSON.stringify({ argv, language: 'python' }),
    );
    // The bridge stays for this kernel.
    await run(sandbox, '1');
    const round = async (count: number, more: Record<string, Json> = {}) => {
      const names = Array.from({ length: count }, (_, n) => `kernel-${n}`);
      await Promise.all(names.map((id) => run(sandbox, 'print("x" * 100_000)', { session_id: id, ...more })));
      await Promise.all(names.map((id) => sandbox.ok(`DELETE /v2/code/sessions/${id}`)));
    };
    await round(4);
    await round(1, { kernel: 'ports' });
    const bridge = bridgePid(sandbox);
    const look = () => ({
      descriptors: sandbox.descriptors().length,
      bridge: readdirSync(`/proc/${bridge}/fd`).length,
      processes: sandbox.processes().length,
      directories: directories(sandbox).length,
    });
    const memory = () => ({ daemon: residentMib(sandbox.daemonPid), bridge: residentMib(bridge) });
    const isLeft = (now: ReturnType<typeof look>) =>
      Object.entries(now).filter(([name, count]) => count > before[name as keyof typeof before]);
    const before = look();
    const memoryBefore = memory();
    for (let rounds = 0; rounds < 6; rounds++) await round(4);
    await round(2, { kernel: 'ports' });
    await until(
      `nothing is left of what was not there before: ${JSON.stringify(before)}`,
      () => isLeft(look()).length === 0,
    );
    const grown = memory();
    expect(grown.daemon - memoryBefore.daemon).toBeLessThan(maxGrowthMib.daemon);
    expect(grown.bridge - memoryBefore.bridge).toBeLessThan(maxGrowthMib.bridge);
    expect(bridgePid(sandbox)).toBe(bridge);
  },
  { ...withKernels(), timeoutMs: 180_000 },
);
