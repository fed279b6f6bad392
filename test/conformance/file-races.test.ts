/** Directories that another process removes during file operations: each failure is a file error. */
import { join } from 'node:path';
import { archive } from '../harness/archive.ts';
import { form, formType } from '../harness/form.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';
import { notesOf } from '../harness/trees.ts';

/** Fills a directory and removes it, as fast as one process can. */
const remover = `
  const { mkdirSync, rmSync, writeFileSync } = require('node:fs');
  const attempt = (work) => {
    try {
      work();
    } catch {
      // The daemon works in the same directory.
    }
  };
  for (;;) {
    attempt(() => mkdirSync('race/sub', { recursive: true }));
    attempt(() => writeFileSync('race/file', 'old text\\n'));
    attempt(() => writeFileSync('race/sub/file', 'x'));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * 3);
    attempt(() => rmSync('race', { recursive: true, force: true }));
  }`;

const rounds = 60;
const atOnce = 6;
const json = { 'content-type': 'application/json' };
const large = 'new text\n'.repeat(20_000);
const packed = archive([
  { name: 'a/file', content: 'x' },
  { name: 'b', content: Buffer.alloc(200_000) },
]);

type Request = readonly [route: string, body?: string | Uint8Array<ArrayBuffer>, type?: string];

function requests(directory: string, round: number): Record<string, Request> {
  const at = (name: string) => join(directory, name);
  const query = (name: string) => `path=${encodeURIComponent(at(name))}`;
  const body = (fields: object) => JSON.stringify(fields);
  const [file, other] = [at('race/file'), at(`race/${round}`)];
  const upload = form([
    { name: 'path', content: at('race/up') },
    { name: 'file', content: large, fileName: 'up' },
  ]);
  const raw = (bytes: Uint8Array) => bytes as Uint8Array<ArrayBuffer>;
  const edit = { path: file, command: 'str_replace', old_str: 'old', new_str: 'new' };
  return {
    write: ['POST /v2/fs/write', body({ path: file, content: large })],
    append: ['POST /v2/fs/write', body({ path: file, content: 'x', append: true })],
    edit: ['POST /v2/fs/edit', body(edit)],
    mkdir: ['POST /v2/fs/mkdir', body({ path: at('race/sub/a/b'), parents: true })],
    'upload of a form': ['POST /v2/fs/upload', raw(upload), formType],
    'upload of a body': [`POST /v2/fs/upload?${query('race/up')}`, large, 'application/octet-stream'],
    'copy into it': ['POST /v2/fs/copy', body({ source: at('kept'), destination: other })],
    'copy out of it': ['POST /v2/fs/copy', body({ source: at('race'), destination: at(`copies/${round}`) })],
    'copy over a file': ['POST /v2/fs/copy', body({ source: at('kept/file'), destination: file, overwrite: true })],
    'move into it': ['POST /v2/fs/move', body({ source: at(`moved/${round}`), destination: other })],
    'move out of it': ['POST /v2/fs/move', body({ source: file, destination: at('out'), overwrite: true })],
    delete: ['POST /v2/fs/delete', body({ path: at('race/sub'), recursive: true })],
    'unpack into it': [`PUT /v2/fs/tree?${query('race/sub')}`, raw(packed), 'application/x-tar'],
    'unpack below it': [`PUT /v2/fs/tree?${query(`race/sub/${round}`)}`, raw(packed), 'application/x-tar'],
    watch: ['POST /v2/watch', body({ path: at('race') })],
    'write over v1': ['POST /v1/file/write', body({ file, content: large })],
    'replace over v1': ['POST /v1/file/replace', body({ file, old_str: 'old', new_str: 'new' })],
    'edit over v1': ['POST /v1/file/str_replace_editor', body(edit)],
    'upload over v1': ['POST /v1/file/upload', raw(upload), formType],
  };
}

test(
  'FERR-5 a directory removed during an operation is a file error, on every route that changes files',
  async ({ sandbox }) => {
    const prepare = `mkdir -p kept/sub copies moved; echo x >kept/file; for i in $(seq ${rounds}); do mkdir moved/$i; done`;
    await sandbox.run({ command: prepare, cwd: sandbox.directory });
    const racing = Bun.spawn([process.execPath, '-e', remover], { cwd: sandbox.directory, stdout: 'ignore' });
    const outcomes = new Map<string, number>();
    try {
      for (const verb of Object.keys(requests(sandbox.directory, 0))) {
        for (let round = 1; round <= rounds; round += atOnce) {
          const batch = Array.from({ length: atOnce }, (_, i) => requests(sandbox.directory, round + i)[verb]!);
          for (const outcome of await Promise.all(batch.map((each) => outcomeOf(sandbox, each)))) {
            const key = `${verb}: ${outcome}`;
            outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
          }
        }
      }
    } finally {
      racing.kill('SIGKILL');
      await racing.exited;
    }
    const unexpected = [...outcomes].filter(([key]) => !/: (done|4\d\d \w+)$/.test(key));
    expect(unexpected).toEqual([]);
    expect(notesOf(sandbox)).toEqual([]);
    expect([...outcomes].filter(([key]) => key.endsWith('not_found')).length).toBeGreaterThan(5);
  },
  { timeoutMs: 120_000 },
);

/** `done`, or the status and the kind of the failure. */
async function outcomeOf(sandbox: Sandbox, [route, payload, type]: Request): Promise<string> {
  const headers = type === undefined ? json : { 'content-type': type };
  const response = await sandbox.fetch(route, undefined, { body: payload as string, headers });
  const { success, message, data } = (await response.json()) as {
    success: boolean;
    message: string;
    data: { error_type?: string } | null;
  };
  if (success) return 'done';
  if (message.includes('.svc-write-')) return `names a staging file: ${message}`;
  return `${response.status === 200 ? 400 : response.status} ${data?.error_type ?? message}`;
}
