/** The fields that file routes return beside the path, and text that no file can hold. */
import { appendFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../harness/sandbox.ts';
import { query } from '../harness/trees.ts';

test('FILE-1 V1FILE-1 a line range of a file of any size is readable, provided the range fits into an answer', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'log');
  writeFileSync(path, '');
  const perPiece = 10_000;
  for (let first = 0; first < 600_000; first += perPiece) {
    const lines = Array.from({ length: perPiece }, (_, i) => `line ${first + i} of the log, which is a long one`);
    appendFileSync(path, `${lines.join('\n')}\n`);
  }
  appendFileSync(path, 'the ünd');
  const read = (range: string) => sandbox.ok(`GET /v2/fs/read?${query(path)}&${range}`);
  const text = (line: number) => `line ${line} of the log, which is a long one\n`;

  expect(await read('start_line=0&end_line=1')).toMatchObject({ content: text(0), line_count: 600_001 });
  expect((await read('start_line=599999'))['content']).toBe(`${text(599_999)}the ünd`);
  expect((await read('start_line=300000&end_line=300002'))['content']).toBe(text(300_000) + text(300_001));
  expect((await read('start_line=700000'))['content']).toBe('');
  expect((await read('start_line=5&end_line=2'))['content']).toBe('');
  const last = await sandbox.ok('POST /v1/file/read', { file: path, start_line: -2 });
  expect(last).toMatchObject({ content: `${text(599_999)}the ünd`, line_count: 2 });

  for (const range of ['', 'start_line=1']) {
    const { status, body } = await sandbox.request(`GET /v2/fs/read?${query(path)}&${range}`);
    expect([range, status, body.data['error_type']]).toEqual([range, 413, 'too_large']);
    expect(body.hint).toContain('start_line and end_line');
  }
});

test('FILE-9 FILE-11 V1FILE-12 V1FILE-14 copy and delete report what they did, on both surfaces', async ({
  sandbox,
}) => {
  const at = (name: string) => join(sandbox.directory, name);
  mkdirSync(at('tree/inner'), { recursive: true });
  writeFileSync(at('tree/a'), 'abc');
  writeFileSync(at('tree/inner/b'), 'defgh');
  symlinkSync('a', at('tree/link'));
  const tree = { is_directory: true, files_copied: 2, bytes_copied: 8 };
  const file = { is_directory: false, files_copied: 1, bytes_copied: 3 };
  for (const prefix of ['/v2/fs', '/v1/file']) {
    const copy = (source: string, destination: string) =>
      sandbox.ok(`POST ${prefix}/copy`, { source: at(source), destination: at(destination), overwrite: true });
    const remove = (path: string) => sandbox.ok(`POST ${prefix}/delete`, { path: at(path), recursive: true });
    expect(await copy('tree', 'copied')).toMatchObject(tree);
    expect(await copy('tree/a', 'file')).toMatchObject(file);
    expect(await copy('tree/a', 'file')).toMatchObject(file);
    symlinkSync('tree', at('to tree'));
    expect(await remove('to tree')).toMatchObject({ deleted: true, is_directory: false });
    expect(await remove('copied')).toMatchObject({ deleted: true, is_directory: true });
    expect(await remove('file')).toMatchObject({ deleted: true, is_directory: false });
  }
});

test('FILE-2 FILE-3 V1FILE-2 text with half a surrogate pair is refused, and nothing is written', async ({
  sandbox,
}) => {
  const path = join(sandbox.directory, 'file');
  for (const [route, body, field] of [
    ['POST /v2/fs/write', { path, content: 'a\ud800' }, 'content'],
    ['POST /v2/fs/edit', { path, command: 'insert', insert_line: 0, new_str: '\udc00' }, 'new_str'],
    ['POST /v1/file/write', { file: path, content: 'a\ud800' }, 'content'],
    ['POST /v1/file/replace', { file: path, old_str: 'a', new_str: '\ud800b' }, 'new_str'],
    ['POST /v1/file/str_replace_editor', { path, command: 'create', file_text: '\ud800' }, 'file_text'],
  ] as const) {
    const reply = await sandbox.request(route, body);
    const message = 'must not contain half a surrogate pair';
    expect([route, reply.status, reply.body.errors]).toEqual([
      route,
      422,
      [{ location: `body.${field}`, message, type: 'value_error' }],
    ]);
  }
  expect(existsSync(path)).toBe(false);
});

test('WATCH-1 an invalid glob is refused, and a watcher reports its events', async ({ sandbox }) => {
  const path = sandbox.directory;
  for (const field of ['include_patterns', 'exclude']) {
    const { status, body } = await sandbox.request('POST /v2/watch', { path, [field]: ['*.ts', '['] });
    const location = `body.${field}.1`;
    const message = 'is not a glob: it has a [ without a ]';
    expect([status, body.errors]).toEqual([422, [{ location, message, type: 'value_error' }]]);
  }
  mkdirSync(join(path, 'watched'));
  const made = await sandbox.ok('POST /v2/watch', { path: join(path, 'watched'), debounce: 50 });
  expect(made).toMatchObject({ event_count: 0, latest_seq: 0 });
  writeFileSync(join(path, 'watched/a'), '');
  const { events, cursor } = await sandbox.ok(`GET /v2/watch/${made['watcher_id']}/poll?timeout=10`);
  expect(events).not.toBeEmpty();
  expect(await sandbox.ok('GET /v2/watch')).toMatchObject([{ event_count: events.length, latest_seq: cursor }]);
  expect((await sandbox.ok('GET /v1/file/watch'))['watchers']).toMatchObject([{ latest_seq: cursor }]);
});
