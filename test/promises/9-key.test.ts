/** Promise 9: the key appears nowhere. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

const key = `canary-${randomUUID()}`;
const wrong = `wrong-${randomUUID()}`;

/** Requests that carry the right or a wrong key in every way there is, to routes that are there and not. */
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
  'PROMISE-9 V2CMD-NOKEY a canary in every carrier is in no log, answer, environment, title or file',
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

    // Only whether it is there is looked at: what a machine has in its environments belongs in no log.
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
  'PROMISE-9 AUTH-TITLE the key given as a flag is not in the process list for a moment',
  async ({ sandbox }) => {
    const titles = [sandbox.initPid, sandbox.daemonPid].map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));

    expect(titles.some((title) => title.includes(key))).toBe(false);
    expect((await sandbox.request('GET /v2/commands/x', undefined, { 'x-api-key': key })).status).toBe(404);
  },
  { args: [`--api-key=${key}`] },
);

function processTexts(pid: number): string[] {
  return ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
}

function filesWith(directory: string, text: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}
