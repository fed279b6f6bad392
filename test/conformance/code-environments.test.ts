/** The specification's requirements for code, in each kind of image: from no interpreter to a Jupyter server. */
import { afterAll, beforeAll } from 'bun:test';
import { execute, executeLines, outputsOf, printedIn, run, sessionOf, valueOf } from '../harness/code-client.ts';
import { barePython, imageWith, needNodes, needPython, nodes } from '../harness/interpreters.ts';
import { JupyterServer } from '../harness/jupyter-server.ts';
import { expect, test, type JsonObject, type Sandbox, type SandboxOptions } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

needNodes();
const withIpykernel = needPython('code');
const withServer = needPython('code/jupyter-server');

const server = new JupyterServer(withServer);
beforeAll(() => server.launch());
afterAll(() => server[Symbol.asyncDispose]());

/** The same cells in each language. */
interface Dialect {
  readonly language: 'python' | 'javascript';
  readonly alias: string;
  /** Prints `out` and `err`, and has the value 42. */
  readonly shows: string;
  readonly fails: string;
  readonly error: string;
  readonly keeps: string;
  readonly keptPlusOne: string;
  readonly printsKept: string;
  readonly notKept: string;
  /** Prints `begun`, and waits for a minute. */
  readonly waits: string;
  readonly interruption: string;
}

const python: Dialect = {
  language: 'python',
  alias: 'python3',
  shows: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n6 * 7',
  fails: '1 / 0',
  error: 'ZeroDivisionError',
  keeps: 'kept = 41',
  keptPlusOne: 'kept + 1',
  printsKept: 'print("kept" in globals())',
  notKept: 'False\n',
  waits: 'import time\nprint("begun", flush=True)\ntime.sleep(60)',
  interruption: 'KeyboardInterrupt',
};

const javascript: Dialect = {
  language: 'javascript',
  alias: 'nodejs',
  shows: 'console.log("out");\nconsole.error("err");\n6 * 7',
  fails: 'null.property',
  error: 'TypeError',
  keeps: 'const kept = 41',
  keptPlusOne: 'kept + 1',
  printsKept: 'console.log(typeof kept)',
  notKept: 'undefined\n',
  waits: 'console.log("begun");\nawait new Promise((done) => setTimeout(done, 60_000))',
  interruption: 'Interrupted',
};

interface Place {
  readonly name: string;
  readonly options: SandboxOptions;
  /** The name of the backend per language; a language without one is unavailable. */
  readonly backends: Partial<Record<Dialect['language'], string>>;
  readonly version?: string;
}

const places: readonly Place[] = [
  { name: 'with nothing installed', options: imageWith(() => []), backends: {} },
  { name: 'with only Python', options: imageWith((sandbox) => [barePython(sandbox)]), backends: { python: 'native' } },
  {
    name: 'with Python and ipykernel',
    options: imageWith(() => [`${withIpykernel}/bin`]),
    backends: { python: 'kernel' },
  },
  {
    name: 'with an external Jupyter server',
    options: imageWith(
      () => [],
      () => ({ SVC_JUPYTER_ENDPOINT: server.endpoint }),
    ),
    backends: { python: 'jupyter' },
  },
  ...nodes.map(({ major, version, directory }) => ({
    name: `with Node ${major}`,
    options: imageWith(() => [directory]),
    backends: { javascript: 'node' },
    version,
  })),
];

/** The message and the hint for a missing language. */
const missing = {
  python: { message: /python3 and python are not on PATH/, hint: /Install python3/ },
  javascript: { message: /node and nodejs are not on PATH/, hint: /Install Node\.js/ },
} as const;

/** The interpreter processes; besides the daemon and its keepers, a sandbox has no others. */
const interpreters = (sandbox: Sandbox) =>
  sandbox.processes().filter(({ command }) => /<boxkeep>|boxkeep:node|ipykernel/.test(command));

async function nothingIsLeft(sandbox: Sandbox): Promise<void> {
  await until('no interpreter is left', () => interpreters(sandbox).length === 0);
  await until('no kernel is left at the server', async () => (await server.kernels()).length === 0);
}

for (const place of places) {
  const { name, options, backends } = place;

  test(
    `CODE-3 CODE-4 ${name}: available languages are reported, and missing ones with what was searched and how to install them`,
    async ({ sandbox }) => {
      const { languages } = await sandbox.ok('GET /v2/code/info');
      for (const { language, alias } of [python, javascript]) {
        const backend = backends[language] ?? null;
        const described = (languages as JsonObject)[language];
        expect(described).toMatchObject({ available: backend !== null, backend });
        if (backend !== null) continue;
        expect(JSON.stringify(described)).toMatch(missing[language].message);
        const body = { language: alias, code: '1' };
        for (const [route, given] of [
          ['POST /v2/code/execute', body],
          ['POST /v2/code/execute', { ...body, session_id: 'state' }],
          ['POST /v2/code/sessions', { language, id: 'state' }],
        ] as const) {
          const refusal = await sandbox.request(route, given);
          expect([refusal.status, refusal.body.success]).toEqual([503, false]);
          expect(refusal.body.message).toMatch(missing[language].message);
          expect(refusal.body.hint).toMatch(missing[language].hint);
        }
      }
      expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
      expect((await sandbox.request('GET /v2/code/sessions/state')).status).toBe(404);
      // Commands still work without an interpreter.
      expect(await sandbox.run({ command: 'echo here' })).toMatchObject({ stdout: 'here\n', exit_code: 0 });
    },
    options,
  );

  for (const dialect of [python, javascript]) {
    const backend = backends[dialect.language];
    if (backend !== undefined) languageTests(place, dialect, backend);
  }
}

function languageTests({ name, options, version }: Place, dialect: Dialect, backend: string): void {
  const { language, alias } = dialect;

  test(
    `CODE-1 ${name}: ${language} runs alone: outputs, value and errors, whole and as lines`,
    async ({ sandbox }) => {
      const whole = await run(sandbox, { language, code: `${dialect.keeps}\n${dialect.shows}` });
      const ended = { language, backend, session_id: null, status: 'ok', exit_code: 0, execution_count: 1 };
      expect(whole).toMatchObject({ ...ended, stdout: 'out\n', stderr: 'err\n', kernel: null, partial: false });
      expect(outputsOf(whole).at(-1)).toEqual({
        ...{ output_type: 'execute_result', execution_count: 1 },
        ...{ data: { 'text/plain': '42' }, metadata: {} },
      });
      const lines = await executeLines(sandbox, { language: alias, code: dialect.shows });
      expect(lines[0]).toEqual({ type: 'start', session_id: null, language });
      const outputs = lines.filter(({ type }) => type === 'output').map(({ output }) => output as JsonObject);
      const printed = (stream: string) =>
        outputs.map((output) => (output['name'] === stream ? output['text'] : '')).join('');
      expect([printed('stdout'), printed('stderr'), valueOf({ outputs: outputs })]).toEqual(['out\n', 'err\n', '42']);
      expect(lines.at(-1)).toMatchObject({ type: 'end', status: 'ok', exit_code: 0, reason: 'ended' });
      const failed = await execute(sandbox, { language, code: `${dialect.printsKept}\n${dialect.fails}` });
      expect(failed).toMatchObject({ status: 200, body: { success: false, data: { status: 'error', exit_code: 1 } } });
      expect(failed.body.data['stdout']).toBe(dialect.notKept);
      expect(outputsOf(failed.body.data).at(-1)).toMatchObject({ output_type: 'error', ename: dialect.error });
      expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
      if (version !== undefined)
        expect(await sandbox.ok('GET /v2/code/info')).toMatchObject({ languages: { [language]: { version } } });
      await nothingIsLeft(sandbox);
    },
    options,
  );

  test(
    `CODE-2 CODE-4 ${name}: a ${language} session keeps its state however a cell ends, and is listed, restarted and deleted`,
    async ({ sandbox }) => {
      const cell = (code: string, more = {}) => execute(sandbox, { language, session_id: 'state', code, ...more });
      await cell(dialect.keeps);
      const late = await cell(dialect.waits, { timeout: 1 });
      expect(late.body).toMatchObject({ success: false, data: { status: 'timeout', stdout: 'begun\n', kernel: null } });
      const busy = cell(dialect.waits);
      await until('it has printed', async () => (await printedIn(sandbox, 'state')) === 'begun\n');
      const interrupted = async () =>
        (await sandbox.ok('POST /v2/code/sessions/state/interrupt'))['interrupted'] === true;
      await until('it is interrupted', interrupted);
      const { data } = (await busy).body;
      expect(data).toMatchObject({ status: 'error', stdout: 'begun\n', kernel: null });
      expect(outputsOf(data).at(-1)).toMatchObject({ ename: dialect.interruption });
      const next = (await cell(dialect.keptPlusOne)).body.data;
      expect(next).toMatchObject({ session_id: 'state', backend, status: 'ok', execution_count: 4 });
      expect(valueOf(next)).toBe('42');
      const record = { session_id: 'state', language, backend, state: 'idle', execution_count: 4 };
      expect(await sandbox.ok('GET /v2/code/sessions')).toMatchObject({ sessions: { state: record } });
      const read = await sessionOf(sandbox, 'state');
      expect(read).toMatchObject({ ...record, last_execution: { code: dialect.keptPlusOne, status: 'ok' } });
      const restarted = await sandbox.ok('POST /v2/code/sessions/state/restart');
      expect(restarted).toMatchObject({ session_id: 'state', execution_count: 0 });
      expect((await cell(dialect.printsKept)).body.data['stdout']).toBe(dialect.notKept);
      expect(await sandbox.ok('DELETE /v2/code/sessions/state')).toEqual({ session_id: 'state' });
      expect(await sandbox.ok('GET /v2/code/sessions')).toEqual({ sessions: {} });
      await nothingIsLeft(sandbox);
    },
    options,
  );
}
