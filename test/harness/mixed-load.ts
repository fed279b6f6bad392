/** Runs clients that use every plane at once, check every returned byte, and count their operations. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Watching } from './watching.ts';
import { exchange, statusOf } from './raw-http.ts';
import type { Json, JsonObject, Sandbox } from './sandbox.ts';

const mebibyte = 1024 * 1024;

/** An operation that a client repeats with a new `n` each time. Throws on a missing byte or a wrong answer. */
type Work = (sandbox: Sandbox, n: string) => Promise<void>;

const works: Readonly<Record<string, Work>> = {
  commands: async (sandbox, n) => {
    const result = await sandbox.run({ command: `echo ${n}; seq 1 2000; exit 7`, max_output_length: 100_000 });
    expectSame('stdout', result['stdout'], `${n}\n${sequence(2000)}`);
    expectSame('exit code', result['exit_code'], 7);
  },
  followers: async (sandbox) => {
    const id = await sandbox.start({ command: 'seq 1 200000' });
    const texts = await Promise.all([0, 1].map(() => followed(sandbox, id)));
    for (const text of texts) expectSame('followed output', digest(text), digest(sequence(200_000)));
  },
  writes: async (sandbox, n) => {
    const content = randomBytes(64 * 1024).toString('hex');
    const path = join(sandbox.directory, `write-${n}`);
    await sandbox.ok('POST /v2/fs/write', { path, content });
    expectSame('file', (await sandbox.ok(`GET /v2/fs/read?path=${path}`))['content'], content);
    await sandbox.run({ command: `rm ${path}` });
  },
  uploads: async (sandbox, n) => {
    const bytes = randomBytes(8 * mebibyte);
    const path = join(sandbox.directory, `upload-${n}`);
    const init = { body: bytes, headers: { 'content-type': 'application/octet-stream' } };
    await (await sandbox.fetch(`POST /v2/fs/upload?path=${path}`, undefined, init)).arrayBuffer();
    const back = await (await sandbox.fetch(`GET /v2/fs/download?path=${path}`)).arrayBuffer();
    expectSame('upload', digest(new Uint8Array(back)), digest(bytes));
    await sandbox.run({ command: `rm ${path}` });
  },
  trees: async (sandbox, n) => {
    const [from, to] = [join(sandbox.directory, `tree-${n}`), join(sandbox.directory, `copy-${n}`)];
    await sandbox.run({ command: `mkdir ${from}; cd ${from}; for i in $(seq 100); do seq $i > $i; done` });
    const archive = await (await sandbox.fetch(`GET /v2/fs/tree?path=${from}`)).arrayBuffer();
    const init = { body: archive, headers: { 'content-type': 'application/x-tar' } };
    await (await sandbox.fetch(`PUT /v2/fs/tree?path=${to}`, undefined, init)).arrayBuffer();
    const { stdout } = await sandbox.run({ command: `diff -r ${from} ${to} && rm -r ${from} ${to}; echo $?` });
    expectSame('tree', stdout, '0\n');
  },
  terminals: async (sandbox) => {
    const { id } = await sandbox.ok('POST /v2/pty/sessions', { env: { HOME: sandbox.directory } });
    const result = await sandbox.ok(`POST /v2/pty/sessions/${id}/exec`, { command: 'seq 1 3000' });
    expectSame('terminal', String(result['output']).trim(), sequence(3000).trim());
    await sandbox.ok(`DELETE /v2/pty/sessions/${id}`);
  },
  cells: async (sandbox, n) => {
    const cell = { language: 'python', code: `print('${n}' * 1000)` };
    const { status, body } = await sandbox.request('POST /v2/code/execute', cell);
    // The kernel may choose an interpreter that starts as the process that it kills for want of memory.
    if (status === 429) return expectSame('reason', body.message?.includes('the memory was used up'), true);
    expectSame('cell', body.data['stdout'], `${n.repeat(1000)}\n`);
  },
  watches: async (sandbox, n) => {
    const path = join(sandbox.directory, `watched-${n}`);
    mkdirSync(path);
    const watching = await Watching.start(sandbox, path);
    await sandbox.ok('POST /v2/fs/write', { path: join(path, 'file'), content: n });
    const poll = `GET /v2/watch/${watching.id}/poll?cursor=${watching.cursor}&timeout=20`;
    const events = (await sandbox.ok(poll))['events'] as JsonObject[];
    expectSame('watch', events[0]?.['relative_path'], 'file');
    await sandbox.ok(`DELETE /v2/watch/${watching.id}`);
  },
  v1: async (sandbox, n) => {
    const file = join(sandbox.directory, `v1-${n}`);
    await sandbox.ok('POST /v1/file/write', { file, content: n });
    const { stdout } = await sandbox.ok('POST /v1/bash/exec', { command: `cat ${file} && rm ${file}` });
    expectSame('v1', stdout, n);
  },
  largeBodies: async (sandbox, n) => {
    const path = join(sandbox.directory, `large-${n}`);
    const content = 'large '.repeat(3 * mebibyte);
    const { status } = await posted(sandbox, '/v2/fs/write', JSON.stringify({ path, content }));
    expectOneOf('large body', status, [200, 429]);
    if (status === 200) {
      const { stdout } = await sandbox.run({ command: `sha256sum < ${path}; rm ${path}` });
      expectSame('large file', String(stdout).slice(0, 64), digest(content));
    }
  },
  hostileBodies: async (sandbox) => {
    const bytes = 10 * mebibyte;
    const bodies = [
      `{"a":${'['.repeat(bytes)}`,
      `{"a":[${'{},'.repeat(bytes / 3)}0]}`,
      `{"command":"true","env":{${'"k":1,'.repeat(bytes / 6)}"k":1}}`,
      `{"a":${'9'.repeat(bytes)}}`,
      `{"a":"${'x'.repeat(bytes)}`,
      'x'.repeat(40 * mebibyte),
    ];
    for (const body of bodies) {
      const { status } = await posted(sandbox, '/v2/commands', body);
      expectOneOf('hostile body', status, [400, 413, 422, 429]);
    }
  },
};

/** What fills the memory of a small machine: commands, whole answers, and long lists. */
export const hungryWorks: Readonly<Record<string, Work>> = {
  answers: async (sandbox) => {
    const command = "head -c 4000000 /dev/zero | tr '\\0' x; exit 3";
    const result = await sandbox.run({ command, max_output_length: 0 });
    expectSame('large answer', String(result['stdout']).length, 4_000_000);
    expectSame('exit code', result['exit_code'], 3);
  },
  lists: async (sandbox) => {
    const listed = (await sandbox.ok('GET /v2/fs/list?path=/usr&recursive=true&limit=10000'))['files'] as unknown[];
    expectSame('a page', listed.length > 1000, true);
  },
  hogs: async (sandbox) => {
    const result = await sandbox.run({ command: 'head -c 400000000 /dev/zero | tail -n 1 | wc -c' });
    expectSame('status', result['status'], 'completed');
  },
};

/** Uses every plane for this long. Rejects with the first wrong answer. Returns the counts of finished operations. */
export async function mixedLoad(
  sandbox: Sandbox,
  seconds: number,
  more: Readonly<Record<string, Work>> = {},
): Promise<Readonly<Record<string, number>>> {
  const all = { ...works, ...more };
  const deadline = performance.now() + seconds * 1000;
  const counts: Record<string, number> = Object.fromEntries(Object.keys(all).map((name) => [name, 0]));
  let failed = false;
  const repeat = async ([name, work]: [string, Work]) => {
    try {
      while (performance.now() < deadline && !failed) {
        await work(sandbox, `${name}-${(counts[name] ??= 0)}`);
        counts[name]++;
      }
    } catch (error) {
      failed = true;
      throw new Error(`${name} ${counts[name]}: ${String(error)}`, { cause: error });
    }
  };
  const results = await Promise.allSettled(Object.entries(all).map(repeat));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return counts;
}

async function followed(sandbox: Sandbox, id: string): Promise<string> {
  const pieces: Json[] = [];
  for (const line of await sandbox.allLines(id)) if (line['type'] === 'stdout') pieces.push(line['data']);
  return pieces.join('');
}

async function posted(sandbox: Sandbox, route: string, body: string): Promise<{ readonly status: number }> {
  const bytes = Buffer.from(body);
  const head = `POST ${route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return { status: statusOf(await exchange(sandbox.url, Buffer.concat([Buffer.from(head), bytes]), 60_000)) };
}

function sequence(last: number): string {
  return Array.from({ length: last }, (_, n) => `${n + 1}\n`).join('');
}

function digest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function expectSame(what: string, seen: unknown, wanted: unknown): void {
  if (seen !== wanted) throw new Error(`${what}: ${show(seen)} instead of ${show(wanted)}`);
}

function expectOneOf(what: string, status: number, wanted: readonly number[]): void {
  if (!wanted.includes(status)) throw new Error(`${what}: status ${status}`);
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 200) ?? 'undefined';
}
