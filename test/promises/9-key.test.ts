/** Promise 9: the key never appears in a log line, process title, file, error message or core dump. */
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { liveFiles } from '../harness/live-files.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

const key = `canary-${randomUUID()}`;
const wrong = `wrong-${randomUUID()}`;

/** Requests that carry the right or a wrong key in every possible way, to existing and unknown routes. */
async function carryEverywhere(sandbox: Sandbox): Promise<string[]> {
  const answers: string[] = [];
  for (const secret of [key, wrong]) {
    const carriers: [string, Record<string, string>][] = [
      ['', { authorization: `Bearer ${secret}` }],
      ['', { authorization: secret }],
      ['', { 'x-api-key': secret }],
      ['', { 'x-svc-api-key': secret }],
      ['', { cookie: `key=${secret}` }],
      [
        '',
        {
          'sec-websocket-protocol': `svc.v2, svc.key.${Buffer.from(secret).toString('base64url')}`,
          upgrade: 'websocket',
        },
      ],
      [`?api_key=${secret}`, {}],
      [`?ticket=${secret}&api_key=${secret}`, {}],
    ];
    for (const [query, headers] of carriers) {
      for (const route of [
        'POST /v2/commands',
        'GET /v2/commands/absent',
        'GET /v2/nothing',
        'PUT /health',
        'GET /internal/auth',
        'GET /metrics',
      ]) {
        const body = route.startsWith('POST')
          ? { command: 'env; cat /proc/self/cmdline', timeout: 'soon', [secret]: 1 }
          : undefined;
        answers.push(await (await sandbox.fetch(`${route}${query}`, body, { headers })).text());
      }
    }
  }
  return answers;
}

test(
  'PROMISE-9 V2CMD-NOKEY a canary key in every carrier is in no log, answer, environment, title or file',
  async ({ sandbox }) => {
    const answers = await carryEverywhere(sandbox);
    const run = await sandbox.ok(
      'POST /v2/commands',
      { command: 'env; cat /proc/$PPID/environ /proc/$PPID/cmdline' },
      { 'x-api-key': key },
    );
    const everything = 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null';
    const stranger = { command: everything, user: '61234', cwd: '/', max_output_length: 0 };
    const seen = await sandbox.ok('POST /v2/commands', stranger, { 'x-api-key': key });
    await sandbox.ok('POST /v2/commands', { command: 'sleep 1000', mode: 'async' }, { 'x-api-key': key });
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    await carryEverywhere(sandbox);

    // The check yields only a boolean, because environments of the machine belong in no log.
    const pids = [sandbox.initPid, ...sandbox.keepers(), ...sandbox.processes().map(({ pid }) => pid)];
    expect(pids.length).toBeGreaterThanOrEqual(4);
    for (const secret of [key, wrong]) {
      expect(answers.filter((answer) => answer.includes(secret))).toEqual([]);
      expect(JSON.stringify([run, seen]).includes(secret)).toBe(false);
      expect((sandbox.stdout + sandbox.stderr).includes(secret)).toBe(false);
      expect(pids.filter((pid) => processTexts(pid).some((text) => text.includes(secret)))).toEqual([]);
      expect(filesWith(sandbox.directory, secret)).toEqual([]);
    }
    expect((await sandbox.request('GET /v2/commands/absent', undefined, { 'x-api-key': key })).status).toBe(404);
  },
  {
    args: ['--api-key', key],
    env: { SVC_API_KEY: `${key}-1`, SANDBOX_API_KEY: `${key}-2`, OTEL_EXPORTER_OTLP_HEADERS: `authorization=${key}` },
    expectedWarnings: ['started again by init'],
  },
);

test(
  'PROMISE-9 AUTH-TITLE the key given as a flag is never in the process list, not even for a moment',
  async ({ sandbox }) => {
    const titles = [sandbox.initPid, sandbox.daemonPid].map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));

    expect(titles.some((title) => title.includes(key))).toBe(false);
    expect((await sandbox.request('GET /v2/commands/x', undefined, { 'x-api-key': key })).status).toBe(404);
  },
  { args: [`--api-key=${key}`] },
);

test(
  'PROMISE-9 a daemon that crashes leaves no core dump, keepers do not hold the key, and commands keep their core limit',
  async ({ sandbox }) => {
    const headers = { 'x-api-key': key };
    const crash = 'ulimit -Sc; ulimit -Hc; mkdir crash; cd crash; sh -c "kill -ABRT \\$\\$"';
    const ran = await sandbox.ok('POST /v2/commands', { command: crash, cwd: sandbox.directory }, headers);
    expect(ran['output']).toStartWith('unlimited\nunlimited\n');
    // Shows that a process with the command's limit does leave a core dump here.
    const writesFiles = !readFileSync('/proc/sys/kernel/core_pattern', 'utf8').match(/[|/]/);
    if (writesFiles) expect(cores(join(sandbox.directory, 'crash'))).toHaveLength(1);
    rmSync(join(sandbox.directory, 'crash'), { recursive: true });

    // The kernel dumps core for these as for SIGSEGV and SIGABRT, for which the runtime also writes to standard error.
    for (const signal of ['SIGQUIT', 'SIGXCPU'] as const) {
      expect(coreLimit(sandbox.daemonPid)).toEqual(['1', 'unlimited']);
      process.kill(sandbox.daemonPid, signal);
      await sandbox.served();
      expect(cores(sandbox.directory)).toEqual([]);
    }
    await sandbox.ok('POST /v2/commands', { command: 'sleep 1000', mode: 'async' }, headers);
    // A keeper may dump core, but no signal from outside triggers a dump, so the test reads the memory instead.
    expect(sandbox.keepers().length).toBeGreaterThan(0);
    expect(sandbox.keepers().filter((pid) => hasInMemory(pid, key))).toEqual([]);
    expect(hasInMemory(sandbox.daemonPid, key)).toBe(true);
    expect(filesWith(sandbox.directory, key)).toEqual([]);
  },
  {
    args: ['--api-key', key],
    launcher: ['sh', '-c', 'ulimit -c unlimited; exec "$@"', 'sh'],
    expectedWarnings: ['started again by init'],
  },
);

/** The soft and the hard limit on core dumps. */
function coreLimit(pid: number): string[] {
  return /^Max core file size +(\S+) +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.slice(1) ?? [];
}

/** Searches everything that the process can write to. */
function hasInMemory(pid: number, text: string): boolean {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const areas = readFileSync(`/proc/${pid}/maps`, 'latin1').matchAll(/^([\da-f]+)-([\da-f]+) rw/gm);
    return areas.some(([, from, to]) => hasInArea(memory, Number(`0x${from}`), Number(`0x${to}`), text));
  } finally {
    closeSync(memory);
  }
}

function hasInArea(memory: number, from: number, to: number, text: string): boolean {
  const piece = Buffer.alloc(1024 * 1024);
  for (let at = from; at < to; at += piece.length - text.length) {
    try {
      const bytes = readSync(memory, piece, 0, Math.min(piece.length, to - at), at);
      if (piece.subarray(0, bytes).includes(text)) return true;
    } catch (error) {
      // Some areas belong to the kernel, and reading them is EIO.
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error;
    }
  }
  return false;
}

function cores(directory: string): string[] {
  return readdirSync(directory).filter((name) => /^core(\.\d+)?$/.test(name));
}

function processTexts(pid: number): string[] {
  return ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
}

function filesWith(directory: string, text: string): string[] {
  return liveFiles(directory)
    .filter(({ bytes }) => bytes.includes(text))
    .map(({ path }) => path);
}
