/** The behavior of edits of a text file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'bun:test';
import { test, type Sandbox } from '../harness/sandbox.ts';

const text = 'one\ntwo\nthree\ntwo\nfive\n';

function fileWith(sandbox: Sandbox, content: string | Uint8Array): string {
  const path = `${sandbox.directory}/edited.txt`;
  writeFileSync(path, content);
  return path;
}

test('FILE-3 a unique text is replaced, and the answer shows the change', async ({ sandbox }) => {
  const path = fileWith(sandbox, text);

  const edited = await sandbox.ok('POST /v2/fs/edit', {
    path,
    command: 'str_replace',
    old_str: 'three',
    new_str: '$& drei',
  });

  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n$& drei\ntwo\nfive\n');
  expect(edited).toMatchObject({
    path,
    old_content: text,
    new_content: 'one\ntwo\n$& drei\ntwo\nfive\n',
    prev_exist: true,
    output: '     1\tone\n     2\ttwo\n     3\t$& drei\n     4\ttwo\n     5\tfive',
    diff: `--- ${path}\n+++ ${path}\n@@ -1,5 +1,5 @@\n one\n two\n-three\n+$& drei\n two\n five\n`,
  });
  const { etag } = await sandbox.ok(`GET /v2/fs/stat?path=${path}`);
  expect(edited['etag']).toBe(etag);
});

test('FILE-3 the answer counts the replaced occurrences of all edits', async ({ sandbox }) => {
  const path = fileWith(sandbox, text);
  const edit = async (body: object) => (await sandbox.ok('POST /v2/fs/edit', { path, ...body }))['replacements'];
  const replace = { command: 'str_replace', old_str: 'two', new_str: '2' };

  expect(await edit({ ...replace, replace_mode: 'ALL', dry_run: true })).toBe(2);
  expect(await edit({ ...replace, replace_mode: 'LAST' })).toBe(1);
  expect(await edit({ command: 'undo_edit' })).toBe(0);
  expect(await edit({ command: 'insert', insert_line: 0, new_str: 'top' })).toBe(0);
  const edits = [
    { old_str: 'two', new_str: '2', replace_mode: 'ALL' },
    { old_str: '2', new_str: 'zwei', replace_mode: 'FIRST' },
    { insert_line: 0, new_str: 'first' },
  ];
  expect(await edit({ edits })).toBe(3);
});

test('FILE-3 replace_mode selects one of several matches, and without new_str the text is removed', async ({
  sandbox,
}) => {
  const cases = [
    ['FIRST', 'one\n2\nthree\ntwo\nfive\n'],
    ['LAST', 'one\ntwo\nthree\n2\nfive\n'],
    ['ALL', 'one\n2\nthree\n2\nfive\n'],
  ] as const;
  for (const [mode, expected] of cases) {
    const path = fileWith(sandbox, text);
    await sandbox.ok('POST /v2/fs/edit', {
      path,
      command: 'str_replace',
      old_str: 'two',
      new_str: '2',
      replace_mode: mode,
    });
    expect(readFileSync(path, 'utf8')).toBe(expected);
  }
  const path = fileWith(sandbox, text);
  await sandbox.ok('POST /v2/fs/edit', { path, command: 'str_replace', old_str: 'three\n' });
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\ntwo\nfive\n');
});

test('FILE-3 whole lines are inserted after a line, at the top and at the end', async ({ sandbox }) => {
  const cases: [string, number, string, string][] = [
    ['a\nb\n', 0, 'x', 'x\na\nb\n'],
    ['a\nb\n', 1, 'x\ny', 'a\nx\ny\nb\n'],
    ['a\nb\n', 2, 'x\n', 'a\nb\nx\n'],
    ['a\nb', 2, 'x', 'a\nb\nx'],
    ['a\r\nb\r\n', 1, 'x\r\n', 'a\r\nx\r\nb\r\n'],
    ['', 0, 'x\n', 'x\n'],
  ];
  for (const [content, insert_line, new_str, expected] of cases) {
    const path = fileWith(sandbox, content);
    await sandbox.ok('POST /v2/fs/edit', { path, command: 'insert', insert_line, new_str });
    expect([content, readFileSync(path, 'utf8')]).toEqual([content, expected]);
  }
});

test('FILE-3 several edits apply in order, all of them or none', async ({ sandbox }) => {
  const path = fileWith(sandbox, text);
  const edits = [
    { old_str: 'one', new_str: 'ONE' },
    { insert_line: 1, new_str: 'one and a half' },
    { old_str: 'ONE\none', new_str: '1' },
  ];

  const refused = await sandbox.request('POST /v2/fs/edit', { path, edits: [...edits, { old_str: 'none of it' }] });
  expect([refused.status, refused.body.message]).toEqual([400, 'edits.3: old_str not found in file']);
  expect(readFileSync(path, 'utf8')).toBe(text);

  await sandbox.ok('POST /v2/fs/edit', { path, edits });
  expect(readFileSync(path, 'utf8')).toBe('1 and a half\ntwo\nthree\ntwo\nfive\n');

  await sandbox.ok('POST /v2/fs/edit', { path, command: 'undo_edit' });
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('FILE-3 edits are undone one after another, and later changes by others are not lost', async ({ sandbox }) => {
  const path = fileWith(sandbox, 'a');
  for (const [old_str, new_str] of [
    ['a', 'b'],
    ['b', 'c'],
  ]) {
    await sandbox.ok('POST /v2/fs/edit', { path, command: 'str_replace', old_str, new_str });
  }
  const undone = await sandbox.ok('POST /v2/fs/edit', { path, command: 'undo_edit' });
  expect(undone).toMatchObject({ old_content: 'c', new_content: 'b' });

  await sandbox.run({ command: `echo mine > ${path}` });
  const refused = await sandbox.request('POST /v2/fs/edit', { path, command: 'undo_edit' });
  expect([refused.status, readFileSync(path, 'utf8')]).toEqual([409, 'mine\n']);
  const { etag } = refused.body.data as { etag: string };
  await sandbox.ok('POST /v2/fs/edit', { path, command: 'undo_edit', if_match: etag });
  expect(readFileSync(path, 'utf8')).toBe('a');

  const none = await sandbox.request('POST /v2/fs/edit', { path, command: 'undo_edit' });
  expect([none.status, none.body.message]).toEqual([400, `${path}: there is no edit to undo`]);
});

test('FILE-3 a dry run returns the result without writing, and if_match guards against other writers', async ({
  sandbox,
}) => {
  const path = fileWith(sandbox, text);
  const change = { path, command: 'str_replace', old_str: 'five', new_str: 'six' };

  const dry = await sandbox.ok('POST /v2/fs/edit', { ...change, dry_run: true });
  expect(dry['new_content']).toBe('one\ntwo\nthree\ntwo\nsix\n');
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect((await sandbox.request('POST /v2/fs/edit', { path, command: 'undo_edit' })).status).toBe(400);

  await sandbox.run({ command: `echo >> ${path}` });
  const stale = await sandbox.request('POST /v2/fs/edit', { ...change, if_match: dry['etag'] });
  expect(stale.status).toBe(409);
  const { etag } = stale.body.data as { etag: string };
  expect((await sandbox.request('POST /v2/fs/edit', { ...change, if_match: etag })).status).toBe(200);
});

test('FILE-3 fifty concurrent edits of one file all apply', async ({ sandbox }) => {
  const names = Array.from({ length: 50 }, (_, i) => `<${i}>`);
  const path = fileWith(sandbox, names.join('\n'));

  await Promise.all(
    names.map((old_str) =>
      sandbox.ok('POST /v2/fs/edit', { path, command: 'str_replace', old_str, new_str: `${old_str}!` }),
    ),
  );

  expect(readFileSync(path, 'utf8')).toBe(names.map((name) => `${name}!`).join('\n'));
});

test('FILE-3 FERR-1 a failed edit names the reason and the next step', async ({ sandbox }) => {
  const path = fileWith(sandbox, text);
  const binary = `${sandbox.directory}/binary`;
  writeFileSync(binary, Buffer.from([0xff, 0xfe, 0x00]));
  const large = `${sandbox.directory}/large`;
  writeFileSync(large, Buffer.alloc(16 * 1024 * 1024 + 1, 'x'));
  const replace = { command: 'str_replace', old_str: 'two', new_str: '2' };
  const cases: [object, number, string, string | undefined][] = [
    [{ path, ...replace, old_str: 'absent' }, 400, 'old_str not found in file', 'bad_request'],
    [{ path, ...replace }, 400, 'old_str has multiple occurrences; replace_mode is required', 'bad_request'],
    [
      { path, command: 'insert', insert_line: 6, new_str: 'x' },
      400,
      'insert_line 6 is after the end: the file has 5 lines',
      'bad_request',
    ],
    [{ path, command: 'view' }, 400, 'view is not an edit', undefined],
    [{ path, command: 'create' }, 400, 'create is not an edit', undefined],
    [{ path }, 400, 'command or edits is needed', undefined],
    [{ path, ...replace, edits: [{ old_str: 'x' }] }, 400, 'command and edits exclude each other', undefined],
    [{ path, command: 'insert', new_str: 'x' }, 400, 'old_str or insert_line is needed, and not both', undefined],
    [{ path, edits: [{}] }, 400, 'edits.0.old_str or edits.0.insert_line is needed, and not both', undefined],
    [{ path, command: 'delete' }, 422, 'body.command: must be one of', undefined],
    [{ path, ...replace, old_str: '' }, 422, 'body.old_str: must have at least 1', undefined],
    [{ path, ...replace, replace_mode: 'all' }, 422, 'body.replace_mode: must be one of ALL, FIRST, LAST', undefined],
    [{ path, edits: [] }, 422, 'body.edits: must have at least 1', undefined],
    [{ path: `${path}.no`, ...replace }, 404, 'No such file or directory', 'not_found'],
    [{ path: sandbox.directory, ...replace }, 400, 'Is a directory', 'invalid_target'],
    [{ path: binary, ...replace }, 422, 'is not UTF-8 text', 'decode_error'],
    [{ path: large, ...replace }, 413, 'at most 16777216 are read in one answer', 'too_large'],
  ];
  for (const [body, status, message, errorType] of cases) {
    const answer = await sandbox.request('POST /v2/fs/edit', body);
    expect([body, answer.status, answer.body.message]).toEqual([body, status, expect.stringContaining(message)]);
    expect(answer.body.hint).toBeString();
    expect((answer.body.data as { error_type?: string } | null)?.error_type).toBe(errorType);
  }
  expect(readFileSync(path, 'utf8')).toBe(text);
});
