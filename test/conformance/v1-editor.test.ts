/** The editor of 1.x as agent tools use it: its views, its changes, and its refusals. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { post } from '../harness/v1-files.ts';

const edit = (sandbox: Sandbox, body: object): Promise<JsonObject> => post(sandbox, 'str_replace_editor', body);

/**
 * The message of a refusal, which the answer contains twice. Refusals of the editor are 400, those of the file system
 * 200.
 */
async function refusal(sandbox: Sandbox, body: object): Promise<string> {
  const { status, body: answer } = await sandbox.request('POST /v1/file/str_replace_editor', body);
  const { success, message, data } = answer;
  expect([success, data['message']]).toEqual([false, message]);
  expect([message, status]).toEqual([message, data['errno_name'] === 'EINVAL' ? 400 : 200]);
  expect(data['operation']).toBe('str_replace_editor');
  expect(Object.keys(data).toSorted()).toEqual(
    ['path', 'operation', 'message', 'error_type', 'retryable', 'errno', 'errno_name', 'exception_type'].toSorted(),
  );
  return `${data['error_type']}: ${data['message']}`;
}

function fileWith(sandbox: Sandbox, content: string | Uint8Array, name = 'edited.py'): string {
  const path = join(sandbox.directory, name);
  writeFileSync(path, content);
  return path;
}

const nothing = { error: null, old_content: null, new_content: null, metadata: null };

test('V1FILE-3 view shows a file with its lines numbered, as cat -n does', async ({ sandbox }) => {
  const path = fileWith(sandbox, 'one\ntwo\n\nfour');
  expect(await edit(sandbox, { command: 'view', path })).toEqual({
    ...nothing,
    output: `Here's the result of running \`cat -n\` on ${path}:\n     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n`,
    path,
    prev_exist: true,
  });
  const link = join(sandbox.directory, 'link');
  symlinkSync(path, link);
  expect((await edit(sandbox, { command: 'view', path: link }))['output']).toContain('     1\tone\n');
  expect(await edit(sandbox, { command: 'view', path, enable_metadata: true })).toMatchObject({
    metadata: { total_lines: 4 },
  });
});

test('V1FILE-3 view_range includes both its lines, and -1 is the end', async ({ sandbox }) => {
  const path = fileWith(sandbox, Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join(''));
  const view = async (view_range: readonly number[] | null) =>
    (await edit(sandbox, { command: 'view', path, view_range }))['output'] as string;
  const head = `Here's the result of running \`cat -n\` on ${path}:\n`;
  expect(await view([2, 3])).toBe(`${head}     2\tline 2\n     3\tline 3\n`);
  expect(await view([12, -1])).toBe(`${head}    12\tline 12\n`);
  expect(await view([11, 99])).toBe(
    `${head}    11\tline 11\n    12\tline 12\n\nNOTE: the file has 12 lines, and the last of them is shown last.\n`,
  );
  expect(await view([])).toEndWith('    12\tline 12\n    13\t\n');
  expect(await view(null)).toBe(await view([]));
  for (const [view_range, why] of [
    [[1], 'It should be a list of two integers.'],
    [[1, 2, 3], 'It should be a list of two integers.'],
    [[0, 3], 'Its first element `0` should be the number of a line.'],
    [[5, 3], 'Its second element `3` should not be less than the first element `5`.'],
    [[13, -1], 'Its first element `13` should be within the lines of the file: [1, 12].'],
  ] as const) {
    expect(await refusal(sandbox, { command: 'view', path, view_range })).toBe(
      `invalid_target: Invalid \`view_range\` parameter: [${view_range.join(', ')}]. ${why}`,
    );
  }
});

test('V1FILE-3 output too long to read is clipped at 16000 characters', async ({ sandbox }) => {
  const path = fileWith(sandbox, '😀'.repeat(16_001));
  const { output } = await edit(sandbox, { command: 'view', path });
  expect(output).toContain(`     1\t${'😀'.repeat(16_000)}<response clipped>`);
  const whole = fileWith(sandbox, '😀'.repeat(16_000), 'whole');
  expect((await edit(sandbox, { command: 'view', path: whole }))['output']).not.toContain('clipped');
});

test('V1FILE-3 the lines around an edit are shown as in the file, and cut when they are long', async ({ sandbox }) => {
  const line = 'fetch("GET /v2/fs/read")';
  const path = fileWith(sandbox, `${line}\nold\n`);
  const replaced = { command: 'str_replace', path, old_str: 'old' };
  expect((await edit(sandbox, { ...replaced, new_str: 'new' }))['output']).toContain(`     1\t${line}\n     2\tnew\n`);
  const long = { command: 'str_replace', path, old_str: 'new', new_str: 'x'.repeat(20_000) };
  expect((await edit(sandbox, long))['output']).toContain('x\n<clipped: read the file to see the rest>');
});

test('V1FILE-3 view shows a directory two levels deep, without hidden names', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'tree');
  for (const name of ['a/b/c', 'a/.d', '.e', '.f']) mkdirSync(join(path, name), { recursive: true });
  for (const name of ['a/x.py', 'a/b/y.py', '.g', 'z']) writeFileSync(join(path, name), '');
  expect(await edit(sandbox, { command: 'view', path })).toEqual({
    ...nothing,
    output:
      `Here's the files and directories up to 2 levels deep in ${path}, excluding hidden items:\n` +
      ['', 'a/', 'a/b/', 'a/x.py', 'z'].map((name) => `${path}/${name}`).join('\n') +
      '\n\n3 hidden files/directories in this directory are excluded.\n',
    path,
    prev_exist: true,
  });
  const empty = join(path, 'a/b/c');
  expect((await edit(sandbox, { command: 'view', path: empty }))['output']).toEndWith(`hidden items:\n${empty}/\n`);
});

test('V1FILE-3 ranges of directories and office files are refused with 400 and a reason', async ({ sandbox }) => {
  const text = fileWith(sandbox, 'x');
  const book = fileWith(sandbox, 'x', 'book.XLSX');
  for (const [body, message] of [
    [{ path: sandbox.directory, view_range: [1, 2] }, 'view_range is not allowed when path points to a directory'],
    [{ path: book }, 'a xlsx file cannot be viewed here'],
    [{ path: book, sheet_name: 'one' }, 'sheet_name is about office files, which cannot be viewed here'],
    [{ path: text, page_range: [1, 2] }, 'page_range is about office files, which cannot be viewed here'],
    [{ path: text, row_range: [1, 2] }, 'row_range is about office files, which cannot be viewed here'],
    [{ path: text, slide_range: [1, 2] }, 'slide_range is about office files, which cannot be viewed here'],
  ] as const) {
    const answer = await sandbox.request('POST /v1/file/str_replace_editor', { command: 'view', ...body });
    expect([answer.status, answer.body.message, answer.body.success]).toEqual([400, message, false]);
    expect(answer.body.hint).not.toBeNull();
  }
  const left = { view_range: [], page_range: null, sheet_name: null, row_range: [], slide_range: null };
  expect((await edit(sandbox, { command: 'view', path: text, ...left }))['output']).toContain('     1\tx\n');
});

test('V1FILE-3 create makes a file and its parents, and never replaces a file', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'fresh/tree/file.py');
  expect(await edit(sandbox, { command: 'create', path, file_text: 'x = 1\n' })).toEqual({
    ...nothing,
    output: `File created successfully at: ${path}`,
    path,
    prev_exist: false,
    new_content: 'x = 1\n',
  });
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['x = 1\n', 0o666 & ~process.umask()]);
  const why = `Invalid \`path\` parameter: ${path}. File already exists at: ${path}. Cannot overwrite files using command \`create\`.`;
  expect(await refusal(sandbox, { command: 'create', path, file_text: 'y' })).toBe(`already_exists: ${why}`);
  expect(readFileSync(path, 'utf8')).toBe('x = 1\n');
  const directory = join(sandbox.directory, 'fresh');
  expect(await refusal(sandbox, { command: 'create', path: directory, file_text: '' })).toStartWith('already_exists: ');
  expect(await edit(sandbox, { command: 'create', path: join(directory, 'empty'), file_text: '' })).toMatchObject({
    new_content: '',
  });
});

test('V1FILE-3 of many concurrent creates of one file, one succeeds', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'contested');
  const texts = Array.from({ length: 20 }, (_, i) => `text ${i}`);
  const answers = await Promise.all(
    texts.map((file_text) =>
      sandbox.request('POST /v1/file/str_replace_editor', { command: 'create', path, file_text }),
    ),
  );
  const won = texts.filter((_, i) => answers[i]?.body.success);
  expect(won).toEqual([readFileSync(path, 'utf8')]);
});

const text = 'one\ntwo\nthree\ntwo\nfive\nsix\nseven\neight\nnine\nten\n';

test('V1FILE-3 str_replace changes a unique text, and shows four lines around it', async ({ sandbox }) => {
  const path = fileWith(sandbox, text);
  const changed = text.replace('six', () => '$& 6');
  expect(await edit(sandbox, { command: 'str_replace', path, old_str: 'six', new_str: '$& 6' })).toEqual({
    ...nothing,
    output:
      `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:\n` +
      '     2\ttwo\n     3\tthree\n     4\ttwo\n     5\tfive\n     6\t$& 6\n' +
      '     7\tseven\n     8\teight\n     9\tnine\n    10\tten\n' +
      'Review the changes and make sure they are as expected. Edit the file again if necessary.',
    path,
    prev_exist: true,
    old_content: text,
    new_content: changed,
  });
  expect(readFileSync(path, 'utf8')).toBe(changed);
  await edit(sandbox, { command: 'str_replace', path, old_str: '$& 6\n' });
  expect(readFileSync(path, 'utf8')).toBe(text.replace('six\n', ''));
});

test('V1FILE-3 replace_mode selects among several matches', async ({ sandbox }) => {
  for (const [replace_mode, expected] of [
    ['ALL', 'one\n2\nthree\n2\nfive'],
    ['FIRST', 'one\n2\nthree\ntwo\nfive'],
    ['LAST', 'one\ntwo\nthree\n2\nfive'],
  ] as const) {
    const path = fileWith(sandbox, 'one\ntwo\nthree\ntwo\nfive');
    await edit(sandbox, { command: 'str_replace', path, old_str: 'two', new_str: '2', replace_mode });
    expect(readFileSync(path, 'utf8')).toBe(expected);
  }
});

test('V1FILE-3 insert puts whole lines after a line, at the top and at the end', async ({ sandbox }) => {
  for (const [content, insert_line, new_str, expected] of [
    ['a\nb\n', 0, 'x', 'x\na\nb\n'],
    ['a\nb\n', 1, 'x\ny', 'a\nx\ny\nb\n'],
    ['a\nb\n', 2, 'x', 'a\nb\nx\n'],
    ['a\nb\n', 1, 'x\n', 'a\nx\n\nb\n'],
    ['a\nb', 2, 'x', 'a\nb\nx'],
    ['', 0, 'x', 'x\n'],
  ] as const) {
    const path = fileWith(sandbox, content);
    const answer = await edit(sandbox, { command: 'insert', path, insert_line, new_str });
    expect([content, answer['new_content'], readFileSync(path, 'utf8')]).toEqual([content, expected, expected]);
    expect(answer['output']).toContain(`${String(insert_line + 1).padStart(6)}\tx\n`);
  }
});

test('V1FILE-3 undo_edit undoes edits, one after another, and the creation of a file last', async ({ sandbox }) => {
  const path = join(sandbox.directory, 'new/file');
  await edit(sandbox, { command: 'create', path, file_text: 'a\n' });
  await edit(sandbox, { command: 'str_replace', path, old_str: 'a', new_str: 'b' });
  await edit(sandbox, { command: 'insert', path, insert_line: 0, new_str: 'top' });
  await post(sandbox, 'replace', { file: path, old_str: 'b', new_str: 'c' });

  expect(await edit(sandbox, { command: 'undo_edit', path })).toEqual({
    ...nothing,
    output:
      `Last edit to ${path} undone successfully. Here's the result of running \`cat -n\` on ${path}:\n` +
      '     1\ttop\n     2\tb\n     3\t\n',
    path,
    prev_exist: true,
    old_content: 'top\nc\n',
    new_content: 'top\nb\n',
  });
  await edit(sandbox, { command: 'undo_edit', path });
  await edit(sandbox, { command: 'undo_edit', path });
  expect(readFileSync(path, 'utf8')).toBe('a\n');
  expect(await edit(sandbox, { command: 'undo_edit', path })).toMatchObject({
    output: `Last edit to ${path} undone successfully: it was the creation of the file, which is gone.`,
    old_content: 'a\n',
    new_content: null,
  });
  expect(existsSync(path)).toBe(false);
  expect(await refusal(sandbox, { command: 'undo_edit', path })).toBe(
    `not_found: Invalid \`path\` parameter: ${path}. The path ${path} does not exist. Please provide a valid path.`,
  );
});

test('V1FILE-3 an edit is undone whatever others wrote since, and a created file that others filled is kept', async ({
  sandbox,
}) => {
  const path = fileWith(sandbox, 'a');
  await edit(sandbox, { command: 'str_replace', path, old_str: 'a', new_str: 'b' });
  writeFileSync(path, 'theirs');
  expect(await edit(sandbox, { command: 'undo_edit', path })).toMatchObject({
    old_content: 'theirs',
    new_content: 'a',
  });
  expect(await refusal(sandbox, { command: 'undo_edit', path })).toBe(
    `invalid_target: No edit history found for ${path}.`,
  );

  const created = join(sandbox.directory, 'created');
  await edit(sandbox, { command: 'create', path: created, file_text: 'x' });
  writeFileSync(created, 'theirs');
  expect(await refusal(sandbox, { command: 'undo_edit', path: created })).toBe(
    `invalid_target: ${created}: has changed since it was created`,
  );
  expect(readFileSync(created, 'utf8')).toBe('theirs');
  // v2 has no undo of a creation.
  const other = await sandbox.request('POST /v2/fs/edit', { path: created, command: 'undo_edit' });
  expect([other.status, other.body.message]).toEqual([400, `${created}: there is no edit to undo`]);
});

test('V1FILE-3 the last twenty edits of a file are kept', async ({ sandbox }) => {
  const path = fileWith(sandbox, '0');
  for (let i = 0; i < 21; i++) {
    await edit(sandbox, { command: 'str_replace', path, old_str: `${i}`, new_str: `${i + 1}` });
  }
  for (let i = 0; i < 20; i++) await edit(sandbox, { command: 'undo_edit', path });
  expect(readFileSync(path, 'utf8')).toBe('1');
  expect(await refusal(sandbox, { command: 'undo_edit', path })).toContain('No edit history found for ');
});

test('V1FILE-3 refusals are 200, with the words that clients look for', async ({ sandbox }) => {
  const path = fileWith(sandbox, 'one\ntwo\nthree\ntwo two\n');
  const absent = join(sandbox.directory, 'absent');
  const gone = `not_found: Invalid \`path\` parameter: ${absent}. The path ${absent} does not exist. Please provide a valid path.`;
  const directory = sandbox.directory;
  const isDirectory = `The path ${directory} is a directory and only the \`view\` command can be used on directories.`;
  const rows: readonly (readonly [object, string])[] = [
    [{ command: 'view', path: absent }, gone],
    [{ command: 'str_replace', path: absent, old_str: 'a', new_str: 'b' }, gone],
    [{ command: 'insert', path: absent, insert_line: 0, new_str: 'b' }, gone],
    [{ command: 'undo_edit', path: absent }, gone],
    [
      { command: 'str_replace', path, old_str: 'four', new_str: '4' },
      `invalid_target: No replacement was performed, old_str \`four\` did not appear verbatim in ${path}.`,
    ],
    [
      { command: 'str_replace', path, old_str: 'two', new_str: '2' },
      'invalid_target: No replacement was performed. Multiple occurrences of old_str `two` in lines [2, 4]. ' +
        'Please ensure it is unique; with replace_mode, multiple occurrences are replaced.',
    ],
    [
      { command: 'str_replace', path, old_str: 'one', new_str: 'one' },
      'invalid_target: Invalid `new_str` parameter: one. No replacement was performed: `new_str` and `old_str` must be different.',
    ],
    [
      { command: 'str_replace', path, old_str: '', new_str: 'x' },
      'invalid_target: Invalid `old_str` parameter: . It has no character.',
    ],
    [
      { command: 'str_replace', path, new_str: 'x' },
      'invalid_target: Parameter `old_str` is required for command: str_replace.',
    ],
    [{ command: 'create', path: absent }, 'invalid_target: Parameter `file_text` is required for command: create.'],
    [
      { command: 'insert', path, new_str: 'x' },
      'invalid_target: Parameter `insert_line` is required for command: insert.',
    ],
    [
      { command: 'insert', path, insert_line: 1 },
      'invalid_target: Parameter `new_str` is required for command: insert.',
    ],
    [
      { command: 'insert', path, insert_line: 5, new_str: 'x' },
      'invalid_target: Invalid `insert_line` parameter: 5. It should be within the range of allowed values: [0, 4]',
    ],
    [
      { command: 'insert', path, insert_line: -1, new_str: 'x' },
      'invalid_target: Invalid `insert_line` parameter: -1. It should be 0, the top, or the number of a line.',
    ],
    [{ command: 'undo_edit', path }, `invalid_target: No edit history found for ${path}.`],
    [
      { command: 'view', path: 'relative.py' },
      'invalid_path: Invalid `path` parameter: relative.py. The path should be an absolute path, starting with `/`.',
    ],
    [
      { command: 'create', path: '~/x', file_text: '' },
      'invalid_path: Invalid `path` parameter: ~/x. The path should be an absolute path, starting with `/`.',
    ],
    [
      { command: 'insert', path: directory, insert_line: 0, new_str: 'x' },
      `invalid_target: Invalid \`path\` parameter: ${directory}. ${isDirectory}`,
    ],
  ];
  for (const [body, message] of rows) expect([body, await refusal(sandbox, body)]).toEqual([body, message]);
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\ntwo two\n');
  for (const body of [{ command: 'rename', path }, { path }, { command: 'view' }]) {
    expect((await sandbox.request('POST /v1/file/str_replace_editor', body)).status).toBe(422);
  }
});

test('V1FILE-3 binary files and system errors are reported as on the other routes', async ({ sandbox }) => {
  const path = fileWith(sandbox, Buffer.of(0xff, 0xfe, 0xff));
  for (const body of [
    { command: 'view', path },
    { command: 'str_replace', path, old_str: 'a', new_str: 'b' },
  ]) {
    expect(await refusal(sandbox, body)).toBe(`decode_error: ${path}: is not UTF-8 text`);
  }
  const below = `${path}/below`;
  expect(await refusal(sandbox, { command: 'view', path: below })).toBe(
    `invalid_path: Failed to edit file: [Errno 20] Not a directory: '${below}'`,
  );
  expect(await refusal(sandbox, { command: 'view', path: '' })).toBe('invalid_path: no file can be called ""');
});

test('V1FILE-3 a message quotes a long text only up to a limit', async ({ sandbox }) => {
  const path = fileWith(sandbox, 'x');
  const message = await refusal(sandbox, { command: 'str_replace', path, old_str: 'y'.repeat(100_000), new_str: '' });
  expect(message.length).toBeLessThan(1500);
  expect(message).toContain(`${'y'.repeat(1000)}…`);
});
