/** The boundaries of code state: the single run, the session, the account. */
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { backends, kernel, nativePython, node, runCell, Session, value, type Backend } from '../harness/cells.ts';
import { sharedPython } from '../harness/kernels.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { testAccount, withTestAccount } from '../harness/test-account.ts';

/** Leaves a trace in every place where an interpreter keeps state. */
const traces = {
  python: `import builtins, json, os, sys, textwrap, threading
name = "trace"
builtins.trace = json.trace = sys.trace = "trace"
textwrap.dedent = lambda *_: "broken"
print = None
sys.path.insert(0, "/trace")
os.environ["TRACE"] = "trace"
os.umask(0o77)
os.chdir("/usr")
os.nice(5)
threading.Timer(1000, lambda: None, ()).daemon = True
"left"`,
  javascript: `var name = 'trace';
globalThis.trace = Array.prototype.trace = Object.prototype.trace = 'trace';
JSON.stringify = () => 'broken';
console.log = null;
require('fs').trace = 'trace';
require.cache.trace = {};
process.env.TRACE = 'trace';
process.umask(0o77);
process.chdir('/usr');
require('os').setPriority(5);
'left'`,
} as const;

/** The visible traces; the expected values are those of an unused interpreter. */
const looks = {
  python: `import builtins, json, os, sys, textwrap
(any(hasattr(one, "trace") for one in (builtins, json, sys)), "name" in globals(), textwrap.dedent("a"), "/trace" in sys.path,
 "TRACE" in os.environ, (lambda mask: (os.umask(mask), mask)[1])(os.umask(0)), os.getcwd(), os.nice(0))`,
  javascript: `[typeof trace, typeof name, [].trace, ({}).trace, JSON.stringify([1]), typeof console.log, require('fs').trace,
 'trace' in require.cache, process.env.TRACE, process.umask(), process.cwd(), require('os').getPriority()]`,
} as const;

for (const backend of backends) {
  for (const [how, env] of [
    ['starts for that run', {}],
    ['was started in advance', { SVC_CODE_PREWARM: '1', SVC_KERNEL_PREWARM: '1' }],
  ] as const) {
    test(
      `CODE-19 ${backend.name}: a single run leaves nothing visible to the next one, in an interpreter that ${how}`,
      async ({ sandbox }) => {
        const look = looks[backend.language];
        const before = value(await runCell(sandbox, backend, look));
        for (let round = 0; round < 3; round++) {
          expect(value(await runCell(sandbox, backend, traces[backend.language]))).toBe("'left'");
          expect(value(await runCell(sandbox, backend, look))).toBe(before);
        }
        expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
      },
      withEnv(backend, env),
    );
  }

  test(
    `CODE-19 ${backend.name}: sessions see neither each other nor a single run`,
    async ({ sandbox }) => {
      const [look, trace] = [looks[backend.language], traces[backend.language]];
      const before = value(await runCell(sandbox, backend, look, { session_id: 'two' }));
      await runCell(sandbox, backend, trace, { session_id: 'one' });
      expect(value(await runCell(sandbox, backend, look, { session_id: 'two' }))).toBe(before);
      expect(value(await runCell(sandbox, backend, look, { session_id: 'three' }))).toBe(before);
      expect(value(await runCell(sandbox, backend, look))).toBe(before);
      // A new session with the same name and a restarted one are clean too.
      await sandbox.ok('DELETE /v2/code/sessions/one');
      expect(value(await runCell(sandbox, backend, look, { session_id: 'one' }))).toBe(before);
      await runCell(sandbox, backend, trace, { session_id: 'one' });
      await sandbox.ok('POST /v2/code/sessions/one/restart');
      expect(value(await runCell(sandbox, backend, look, { session_id: 'one' }))).toBe(before);
    },
    backend.options,
  );
}

function withEnv(backend: Backend, more: Readonly<Record<string, string>>) {
  const { env = {} } = backend.options;
  return {
    ...backend.options,
    env: (sandbox: Sandbox) => ({ ...(typeof env === 'function' ? env(sandbox) : env), ...more }),
  };
}

const { name: other, uid } = testAccount;

/** Attempts of one account to inspect the interpreter of another one, given its pid. */
const spy = (pid: Json, directory: string) => `import os, signal
def attempt(what):
  try: return repr(what())[:200]
  except OSError as error: return type(error).__name__
[attempt(lambda: open("/proc/${pid}/environ").read()), attempt(lambda: open("/proc/${pid}/mem", "rb").read(1)),
 attempt(lambda: os.listdir("/proc/${pid}/fd")), attempt(lambda: os.kill(${pid}, signal.SIGINT)),
 attempt(lambda: os.listdir(${JSON.stringify(directory)}))]`;
const refused = `['PermissionError', 'PermissionError', 'PermissionError', 'PermissionError', 'PermissionError']`;

for (const backend of [nativePython, node]) {
  test(
    `CODE-19 ${backend.name}: a session belongs to one account, and another account can neither run code in it nor read it`,
    async ({ sandbox }) => {
      const own = { session_id: 'mine', env: { SECRET: 'hush' } };
      const secret =
        backend.language === 'python' ? 'secret = "hush"\nimport os; os.getuid()' : 'secret = "hush"; process.getuid()';
      expect(value(await runCell(sandbox, backend, secret, own))).toBe('0');
      const intrusion = await sandbox.request('POST /v2/code/execute', {
        ...{ language: backend.language, code: 'secret', session_id: 'mine', user: other },
      });
      expect([intrusion.status, intrusion.body.message]).toEqual([400, 'session mine runs as root']);
      const { pid } = await sandbox.ok('GET /v2/code/sessions/mine');
      const seen = await runCell(sandbox, nativePython, spy(pid, sandbox.runtimeDirectory), { user: other, cwd: '/' });
      expect(value(seen)).toBe(refused);
      const listed = await sandbox.ok('GET /v2/code/sessions');
      expect((listed['sessions'] as JsonObject)['mine']).toMatchObject({ user: 'root' });
    },
    withTestAccount({ ...nativePython.options, prepare: ({ directory }) => chmodSync(directory, 0o711) }),
  );
}

test(
  'CODE-19 a session of another account keeps that account, its home and its group, whichever client uses it',
  async ({ sandbox }) => {
    const where = 'import os; (os.getuid(), os.getgid(), os.getcwd(), os.path.expanduser("~"))';
    const session = new Session(sandbox, nativePython);
    expect(value(await session.run(where, { user: other, cwd: '~' }))).toBe(
      `(${uid}, ${uid}, '${sandbox.directory}', '${sandbox.directory}')`,
    );
    await session.run('os.chdir("/")');
    // A cell without a user runs as the session's account, in that account's home.
    expect(value(await session.run(where, { cwd: '~' }))).toContain(`'${sandbox.directory}', '${sandbox.directory}'`);
    const group = await sandbox.request('POST /v2/code/execute', {
      ...{ language: 'python', code: where, session_id: 'state', user: `${uid}:0` },
    });
    expect([group.status, group.body.message]).toEqual([400, `session state runs as ${other}`]);
    expect(value(await session.run(where, { user: `${uid}:${uid}` }))).toContain(`${uid}, ${uid}`);
  },
  withTestAccount({ ...nativePython.options, prepare: ({ directory }) => chmodSync(directory, 0o755) }),
);

test(
  'CODE-19 a result too large for an answer is a file that only the account of its session can read',
  async ({ sandbox }) => {
    const large = await runCell(sandbox, nativePython, '"a" * 1_500_000', { user: other, cwd: '/' });
    const text = String(value(large));
    const path = /: (\/[^>]+)>/.exec(text)?.[1] ?? '';
    const read = `open(${JSON.stringify(path)}).read(3)`;
    expect(value(await runCell(sandbox, nativePython, read, { user: other, cwd: '/' }))).toBe(`"'aa"`);
    const stranger = await runCell(sandbox, nativePython, read, { user: '65534', cwd: '/' });
    expect(stranger).toMatchObject({ status: 'error', outputs: [{ ename: 'PermissionError' }] });
  },
  withTestAccount(nativePython.options),
);

test(
  'CODE-19 only its own account can read the files of a kernel, and kernels of two accounts have separate bridges',
  async ({ sandbox }) => {
    await runCell(sandbox, kernel, 'secret = "hush"', { session_id: 'mine' });
    await runCell(sandbox, kernel, '1', { session_id: 'theirs', user: other, cwd: '/' });
    const bridges = sandbox.processes().filter(({ command }) => command.includes("'<boxkeep>'"));
    const owner = (of: number) => /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${of}/status`, 'utf8'))?.[1];
    expect(bridges.map(({ pid }) => owner(pid)).toSorted()).toEqual(['0', String(uid)]);

    const around = readFileSync(join(sandbox.runtimeDirectory, 'kernels-directory'), 'utf8');
    const { pid } = await sandbox.ok('GET /v2/code/sessions/mine');
    const directory = readdirSync(around)
      .map((name) => join(around, name))
      .find((path) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(path));
    expect(existsSync(join(directory ?? '', 'connection.json'))).toBe(true);
    const seen = await runCell(sandbox, kernel, spy(pid, directory ?? ''), { session_id: 'theirs' });
    expect(value(seen)?.replaceAll('\n ', ' ')).toBe(refused);
    const listed = await runCell(sandbox, kernel, `import os; os.listdir(${JSON.stringify(around)})`, {
      session_id: 'theirs',
    });
    expect(listed).toMatchObject({ status: 'error', outputs: [{ ename: 'PermissionError' }] });
    // No command line contains a key either.
    const key = (JSON.parse(readFileSync(join(directory ?? '', 'connection.json'), 'utf8')) as { key: string }).key;
    expect(sandbox.processes().filter(({ command }) => command.includes(key))).toEqual([]);
  },
  sharedPython(),
);

test(
  'CODE-19 a single run leaves nothing in any history that the next run can read',
  async ({ sandbox }) => {
    await runCell(sandbox, kernel, 'secret = "hush"');
    const files = existsSync(join(sandbox.directory, 'ipython'))
      ? (readdirSync(join(sandbox.directory, 'ipython'), { recursive: true }) as string[])
      : [];
    expect(files.filter((file) => /history/.test(file))).toEqual([]);
    const past = await runCell(sandbox, kernel, 'get_ipython().run_line_magic("history", "-g hush")');
    expect(past['stdout']).not.toContain('secret =');
  },
  kernel.options,
);

for (const backend of [nativePython, node]) {
  test(
    `CODE-19 ${backend.name}: the runner is not in any file, and code that breaks the builtins breaks only its own session`,
    async ({ sandbox }) => {
      const breaking = {
        python: 'import builtins\nfor name in set(vars(builtins)) - {"__import__"}: delattr(builtins, name)',
        javascript:
          'JSON.parse = JSON.stringify = Buffer.from = Array.prototype.map = Promise.prototype.then = () => { throw 1; }; 1',
      };
      await runCell(sandbox, backend, breaking[backend.language], { session_id: 'broken' });
      expect(value(await runCell(sandbox, backend, '6 * 7', { session_id: 'whole' }))).toBe('42');
      const { pid } = await sandbox.ok('GET /v2/code/sessions/whole');
      const open = readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
      expect(open.filter((path) => path.startsWith('/') && !path.startsWith('/dev/'))).toEqual([]);
      // The broken session may fail, but must answer in time.
      const after = await runCell(sandbox, backend, '1', { session_id: 'broken', timeout: 2 });
      expect(['ok', 'error', 'timeout']).toContain(after['status']);
      await sandbox.ok('POST /v2/code/sessions/broken/restart');
      expect(value(await runCell(sandbox, backend, '6 * 7', { session_id: 'broken' }))).toBe('42');
    },
    backend.options,
  );
}
