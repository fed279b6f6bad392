/** The limits of code on each backend: output, processes, memory; and that nothing of it stays. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { backends, errorName, kernel, nativePython, outputs, runCell, Session, value } from '../harness/cells.ts';
import { inControlGroup, memoryUse } from '../harness/control-group.ts';
import { healthDuring } from '../harness/health-watch.ts';
import { peakDuring } from '../harness/process-memory.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;

const floods = {
  python: {
    lines: 'while True: print("x" * 1000)',
    large: 'while True: print("x" * 1_000_000)',
    children: 'import os; os.system("yes")',
  },
  javascript: {
    lines: 'for (;;) console.log("x".repeat(1000))',
    large: 'for (;;) console.log("x".repeat(1_000_000))',
    children:
      'await new Promise((done) => require("child_process").spawn("yes", { stdio: "inherit" }).on("exit", done))',
  },
} as const;
/** Processor time of the daemon between a request for the health and its answer. */
const maxHealthMs = 500;

for (const backend of backends) {
  test(
    `CODE-17 CODE-20 ${backend.name}: endless output is cut with a note, and other clients are still answered`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      for (const [what, code] of Object.entries(floods[backend.language])) {
        await session.run('1');
        let answer: JsonObject = {};
        const healthMs = await healthDuring(sandbox, async () => {
          answer = await session.run(code, { timeout: 2 });
        });
        expect({ what, ...answer }).toMatchObject({ what, status: 'timeout', truncated: true });
        const stdout = answer['stdout'] as string;
        expect(stdout.slice(2_000_000)).toBe('\n[the output was cut after 2000000 characters]\n');
        expect(healthMs).toBeLessThan(maxHealthMs);
      }
      expect(await session.run('1')).toMatchObject({ status: 'ok' });
    },
    { ...backend.options, timeoutMs: 90_000 },
  );
}

/** Each would be a line longer than the daemon reads as one. */
const tooLarge = {
  python: {
    value: '"a" * 40_000_000',
    printed: 'print("a" * 40_000_000)',
    error: 'raise ValueError("a" * 40_000_000)',
  },
  javascript: {
    value: '({ toJSON: 1, a: "a".repeat(40_000_000) }).a',
    printed: 'process.stdout.write("a".repeat(40_000_000) + "\\n")',
    error: 'throw new TypeError("a".repeat(40_000_000))',
  },
} as const;

for (const backend of backends) {
  test(
    `CODE-17 ${backend.name}: a result too large for an answer is in a file, and one too large for the file is named`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const isPython = backend.language === 'python';
      const kept = await session.run(isPython ? '"a" * 1_500_000' : '"a".repeat(1_500_000)');
      const reference = 'application/vnd.boxkeep.file+json';
      const { path, size } = ((outputs(kept)[0] ?? {})['data'] as JsonObject)[reference] as {
        path: string;
        size: number;
      };
      expect([size, value(kept)]).toEqual([1_500_002, `<text/plain, 1500002 bytes: ${path}>`]);
      expect((await sandbox.ok(`GET /v2/fs/read?path=${path}`))['content']).toBe(`'${'a'.repeat(1_500_000)}'`);

      const codes = tooLarge[backend.language];
      expect(await session.run(codes.value)).toMatchObject({
        status: 'ok',
        outputs: [{ output_type: 'execute_result', data: { 'text/plain': expect.stringContaining('too large') } }],
      });
      expect(await session.run(codes.printed)).toMatchObject({ status: 'ok', truncated: true });
      const failed = await session.run(codes.error);
      expect([failed['status'], errorName(failed)]).toEqual(['error', isPython ? 'ValueError' : 'TypeError']);
      expect(value(await session.run('6 * 7'))).toBe('42');
    },
    backend.options,
  );
}

/** A line of 18 MB, of which the daemon would make a value of a gigabyte. */
const manyValues = {
  native: 'display({"application/json": [{}] * 6_000_000}, raw=True)',
  kernel: 'from IPython.display import display\ndisplay({"application/json": [{}] * 6_000_000}, raw=True)',
} as const;

for (const backend of [nativePython, kernel]) {
  test(
    `CODE-17 PROMISE-10 ${backend.name}: an output with millions of small values is reported as missing, and the daemon lives`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      await session.run('1');
      const peak = await peakDuring(sandbox, async () => {
        const code = manyValues[backend.name as keyof typeof manyValues];
        expect(await session.run(code, { timeout: 60 })).toMatchObject({ status: 'ok', partial: true });
      });
      expect(peak).toBeLessThan(250);
      expect(value(await session.run('6 * 7'))).toBe('42');
    },
    inControlGroup({ memoryBytes: 1024 * mebibyte }, { ...backend.options, timeoutMs: 120_000 }),
  );
}

/** A hundred megabytes in lines, then a file. */
const lots = (file: string) => ({
  python: `for n in range(1000): print("x" * 100_000, flush=True)\nopen(${JSON.stringify(file)}, "w").close()\n"over"`,
  javascript: `for (let n = 0; n < 1000; n++) console.log("x".repeat(100_000)); require("fs").writeFileSync(${JSON.stringify(file)}, ""); "over"`,
});

for (const backend of backends) {
  test(
    `CODE-17 CODE-21 ${backend.name}: output printed while no daemon could read it is reported as missing, and the end of the cell is reported`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const [go, done] = [join(sandbox.directory, 'go'), join(sandbox.directory, 'done')];
      await session.run('1');
      const wait = {
        python: `import os, time\nprint("begun", flush=True)\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.01)\n`,
        javascript: `console.log("begun"); while (!require("fs").existsSync(${JSON.stringify(go)}));\n`,
      };
      const cell = session.run(wait[backend.language] + lots(done)[backend.language]);
      await until('it runs', async () => (await session.shown()) === 'begun\n');
      process.kill(sandbox.daemonPid, 'SIGSTOP');
      await Bun.write(go, '');
      await until('it has printed', () => existsSync(done));
      await until('all of it was taken', () => hasSettled(sandbox));
      process.kill(sandbox.daemonPid, 'SIGCONT');
      expect(await cell).toMatchObject({ status: 'ok', exit_code: 0, partial: true });
      expect(value(await session.run('6 * 7'))).toBe('42');
    },
    backend.options,
  );
}

test(
  'CODE-20 kernel: the end of a cell is reported although another kernel floods the shared bridge',
  async ({ sandbox }) => {
    const [go, ended, flood, done] = ['go', 'ended', 'flood', 'done'].map((name) => join(sandbox.directory, name));
    const begun = (file = '') => `${file}.begun`;
    const wait = (file = '') =>
      `import os, time\nopen(${JSON.stringify(begun(file))}, "w").close()\n` +
      `while not os.path.exists(${JSON.stringify(file)}): time.sleep(0.01)\n`;
    const quiet = runCell(sandbox, kernel, `${wait(go)}open(${JSON.stringify(ended)}, "w").close()\n6 * 7`, {
      session_id: 'quiet',
    });
    const loud = runCell(sandbox, kernel, wait(flood) + lots(done ?? '').python, { session_id: 'loud' });
    // A session is busy before its cell has reached the interpreter, and a stopped daemon sends no cell.
    await until('both run', () => [go, flood].every((file) => existsSync(begun(file))));
    process.kill(sandbox.daemonPid, 'SIGSTOP');
    await Bun.write(go ?? '', '');
    await until('one has ended', () => existsSync(ended ?? ''));
    await until('its end is reported', () => hasSettled(sandbox));
    await Bun.write(flood ?? '', '');
    await until('the other one has printed', () => existsSync(done ?? ''));
    await until('all of it was taken', () => hasSettled(sandbox));
    process.kill(sandbox.daemonPid, 'SIGCONT');
    expect(await quiet).toMatchObject({ status: 'ok', partial: true, outputs: [] });
    expect(await loud).toMatchObject({ status: 'ok' });
    expect(value(await runCell(sandbox, kernel, '6 * 7', { session_id: 'quiet' }))).toBe('42');
  },
  kernel.options,
);

/** For a tenth of a second no process but the daemon has written or read anything. */
async function hasSettled(sandbox: Sandbox): Promise<boolean> {
  const count = () =>
    [...sandbox.processes().map(({ pid }) => pid), ...sandbox.keepers()]
      .filter((pid) => pid !== sandbox.daemonPid && existsSync(`/proc/${pid}`))
      .map((pid) => readFileSync(`/proc/${pid}/io`, 'utf8').split('\n').slice(0, 2).join());
  const before = count();
  await Bun.sleep(100);
  return count().join() === before.join();
}

/** Many small outputs cost more than their characters. */
const many = {
  python: 'import sys\nfor n in range(8000):\n  print(n, flush=True)\n  print(n, file=sys.stderr, flush=True)',
  javascript: 'for (let n = 0; n < 8000; n++) { console.log(n); console.error(n); }',
} as const;

for (const backend of backends) {
  test(
    `CODE-17 ${backend.name}: a large number of outputs is cut too, and the end of the cell is reported`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const answer = await session.run(many[backend.language]);
      expect(answer).toMatchObject({ status: 'ok', exit_code: 0 });
      expect(outputs(answer).length).toBeLessThanOrEqual(10_001);
      if (answer['truncated'] === true) expect(JSON.stringify(outputs(answer).at(-1))).toContain('10000 outputs');
      const failed = await session.run(`${many[backend.language]}\nnosuchname`);
      expect([failed['status'], errorName(failed)]).toEqual([
        'error',
        backend.language === 'python' ? 'NameError' : 'ReferenceError',
      ]);
    },
    backend.options,
  );
}

/** Each leaves processes that start others until the limit is reached. */
const bombs = {
  python: {
    plain: 'import os\nwhile True:\n  try: os.fork()\n  except OSError: pass',
    shell:
      'import subprocess\nprint("lit", flush=True)\nsubprocess.run(["bash", "-c", "b() { b | b & b; }; b 2>/dev/null"])',
  },
  javascript: {
    plain:
      'const { spawn } = require("child_process");\nfor (;;) try { spawn("sh", ["-c", "while :; do sleep 1000 & done"], { detached: true }).on("error", () => 0); } catch { continue; }',
    shell:
      'require("child_process").spawnSync("bash", ["-c", "b() { b | b & b; }; b 2>/dev/null"], { stdio: "ignore" })',
  },
} as const;

for (const backend of backends) {
  test(
    `CODE-20 ${backend.name}: a fork bomb fills its limit, the daemon still answers, and the cell and its session end`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      for (const [what, code] of Object.entries(bombs[backend.language])) {
        await session.run('1');
        const before = sandbox.processes().length;
        let answer: JsonObject = {};
        const healthMs = await healthDuring(sandbox, async () => {
          answer = await session.run(code, { timeout: 2 });
        });
        // A busy machine may report only the timeout.
        expect({ what, ...answer }).toMatchObject({ what, status: expect.stringMatching(/timeout|error/) });
        expect(healthMs).toBeLessThan(maxHealthMs);
        await session.delete();
        await until('nothing of it is left', () => sandbox.processes().length <= before);
        expect(value(await session.run('6 * 7'))).toBe('42');
      }
    },
    inControlGroup({ processes: 120 }, { ...backend.options, timeoutMs: 120_000 }),
  );

  test(
    `CODE-18 ${backend.name}: an interpreter that the system kills for its memory is reported as such`,
    async ({ sandbox }) => {
      const session = new Session(sandbox, backend);
      const isPython = backend.language === 'python';
      await session.run('kept = 1');
      const hog = isPython
        ? 'all = []\nwhile True: all.append(bytearray(8 << 20))'
        : 'const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1));';
      const answer = await session.run(hog, { timeout: 60 });
      expect(answer).toMatchObject({
        ...{ status: 'error', exit_code: null },
        kernel: { signal: 'SIGKILL', oom_killed: true, restarted: true },
        outputs: [{ ename: 'KernelDied', evalue: expect.stringContaining('memory was used up') }],
      });
      const gone = await session.run(isPython ? '"kept" in globals()' : 'typeof kept');
      expect(value(gone)).toBe(isPython ? 'False' : "'undefined'");
      const small = isPython ? 'import os; os.kill(os.getpid(), 9)' : 'process.kill(process.pid, 9); for (;;);';
      expect(await session.run(small)).toMatchObject({ kernel: { signal: 'SIGKILL', oom_killed: false } });
    },
    inControlGroup({ memoryBytes: 400 * mebibyte }, backend.options),
  );
}

/** The interpreters that wait for their first cell, found by the loaders in their command lines. */
const waiting = (sandbox: Sandbox) =>
  sandbox.processes().filter(({ command }) => /\(lambda i:exec|v\.compileFunction/.test(command)).length;

const hog = (file: string, limitBytes: number) => `
all = []
def used():
  return int(open(${JSON.stringify(file)}).read())
while used() < ${Math.round(limitBytes * 0.94)}: all.append(bytearray(4 << 20))
print("full", flush=True)
import time
time.sleep(1000)`;

const memoryBytes = 512 * mebibyte;

test(
  'CODE-16 when memory is short, idle spare interpreters end, code still runs, and the spares return later',
  async ({ sandbox }) => {
    // Two of each language.
    await until('they wait', () => waiting(sandbox) === 4);
    const args = ['-c', hog(memoryUse(sandbox), memoryBytes)];
    const id = await sandbox.start({ command: 'python3', shell: 'none', args });
    await until('memory is short', async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === 'full\n');
    await until('they are gone', () => waiting(sandbox) === 0);
    expect(await sandbox.ok('POST /v2/code/execute', { language: 'python', code: '6 * 7' })).toMatchObject({
      outputs: [{ data: { 'text/plain': '42' } }],
    });
    await sandbox.ok(`DELETE /v2/commands/${id}`);
    await until('they are back', () => waiting(sandbox) === 4);
  },
  inControlGroup({ memoryBytes }, { env: { SVC_CODE_BACKEND: 'native', SVC_CODE_PREWARM: '2' } }),
);
