/** The 1.x routes that search files and text: search, find, glob, grep and list. */
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { attempt, failed, post } from '../harness/v1-files.ts';

/** Files by path, below a directory that is created for them. */
function plant(sandbox: Sandbox, files: Readonly<Record<string, string>>): string {
  const root = join(sandbox.directory, 'tree');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}

const project = {
  'a.py': 'import os\n# NEXT: one\n',
  'b.txt': 'two\n',
  'src/c.py': 'print("c")  # NEXT: two\n',
  'src/deep/d.py': 'd = 1\n',
  'src/deep/d.min.js': 'x'.repeat(100),
  'node_modules/e.py': 'NEXT\n',
  '.hidden/f.py': 'NEXT: hidden\n',
  'src/.g.py': 'NEXT: hidden too\n',
};

const names = (data: JsonObject, root: string): string[] =>
  (data['files'] as (string | { path: string })[]).map((file) =>
    (typeof file === 'string' ? file : file.path).slice(root.length + 1),
  );

test('V1FILE-10 search returns whole lines and their numbers, counted from 0', async ({ sandbox }) => {
  const file = join(sandbox.directory, 'text');
  const long = `needle${'x'.repeat(5000)}`;
  writeFileSync(file, `first\r\nneedle 1\r\n\n${long}\nNeedle\nthe last needle`);
  const search = (regex: string) => post(sandbox, 'search', { file, regex });
  expect(await search('needle')).toEqual({
    file,
    matches: ['needle 1', long, 'the last needle'],
    line_numbers: [1, 3, 5],
  });
  expect(await search('^needle')).toMatchObject({ line_numbers: [1, 3] });
  expect(await search('(?i)needle$')).toMatchObject({ matches: ['Needle', 'the last needle'], line_numbers: [4, 5] });
  expect(await search('needle \\d')).toMatchObject({ matches: ['needle 1'] });
  expect(await search('absent')).toEqual({ file, matches: [], line_numbers: [] });
  // As in Python.
  expect(await search('needle(?! \\d)')).toMatchObject({ line_numbers: [3, 5] });
  expect(await search('(?<=last )needle\\Z')).toMatchObject({ line_numbers: [5] });
  expect(await search('(?P<word>fir)st')).toMatchObject({ matches: ['first'] });
  expect(await search('n(e)\\1dle')).toMatchObject({ line_numbers: [1, 3, 5] });
});

test('V1FILE-10 an invalid pattern is a failure with the reason, and catastrophic backtracking is stopped', async ({
  sandbox,
}) => {
  const file = join(sandbox.directory, 'text');
  writeFileSync(file, `${'a'.repeat(40)}!\n`);
  for (const [regex, why] of [
    ['(', 'missing closing parenthesis'],
    ['[a', 'missing terminating ] for character class'],
    ['(?=', 'missing closing parenthesis'],
    ['a\\nb', 'the literal "\\n" is not allowed'],
    ['a\0b', 'the pattern contains a NUL byte'],
    ['(a+)+(?=b)', 'the pattern takes too long'],
  ] as const) {
    const data = await failed(sandbox, 'search', { file, regex });
    expect(data).toMatchObject({ error_type: 'invalid_target', operation: 'search', path: file });
    expect(data['message']).toStartWith('Failed to search in file: ');
    expect(data['message']).toContain(why);
  }
});

test('V1FILE-10 only the first of very many lines are returned, and the hint says so', async ({ sandbox }) => {
  const file = join(sandbox.directory, 'text');
  writeFileSync(file, 'x\n'.repeat(100_001));
  const { data, hint } = await attempt(sandbox, 'search', { file, regex: 'x' });
  expect(data['matches']).toHaveLength(100_000);
  expect((data['line_numbers'] as number[]).at(-1)).toBe(99_999);
  expect(hint).toBe('These are the first 100000 lines; POST /v1/file/grep returns more with offset.');
});

test('V1FILE-10 V1FILE-9 a file of any size is searched, and max_file_size leaves larger ones out', async ({
  sandbox,
}) => {
  const file = join(sandbox.directory, 'large');
  writeFileSync(file, `needle\n${'x'.repeat(16 * 1024 * 1024)}`);
  const lines = await post(sandbox, 'search', { file, regex: 'needle' });
  expect(lines).toMatchObject({ line_numbers: [0], matches: ['needle'] });
  const found = await post(sandbox, 'grep', { path: sandbox.directory, pattern: 'needle' });
  expect(found).toMatchObject({ match_count: 1, matches: [{ line_content: 'needle' }] });
  const { data, hint } = await attempt(sandbox, 'grep', {
    path: sandbox.directory,
    pattern: 'needle',
    max_file_size: '1M',
  });
  expect([data['match_count'], hint]).toEqual([
    0,
    `Left out: 1 file that is too large. POST /v1/file/grep with a larger max_file_size searches larger files. ${file}`,
  ]);
});

test('V1FILE-7 find descends only with **, and returns full paths, sorted', async ({ sandbox }) => {
  const root = plant(sandbox, project);
  const find = async (glob: string) => names(await post(sandbox, 'find', { path: root, glob }), root);
  const python = ['a.py', 'node_modules/e.py', 'src/c.py', 'src/deep/d.py'];
  expect(await find('*.py')).toEqual(['a.py']);
  expect(await find('**/*.py')).toEqual(python);
  expect(await find('d.py')).toEqual([]);
  expect(await find('**/d.py')).toEqual(['src/deep/d.py']);
  expect(await find('src/*.py')).toEqual(['src/c.py']);
  expect(await find('src/**/*.py')).toEqual(['src/c.py', 'src/deep/d.py']);
  expect(await find('**/*.{txt,js}')).toEqual(['b.txt', 'src/deep/d.min.js']);
  expect(await find('src/.*')).toEqual(['src/.g.py']);
  expect(await find('deep')).toEqual([]); // A directory is not a file.
  expect(await find('absent')).toEqual([]);
  expect(await post(sandbox, 'find', { path: root, glob: 'a.py' })).toEqual({ path: root, files: [`${root}/a.py`] });
});

test('V1FILE-7 V1FILE-8 an invalid glob is reported', async ({ sandbox }) => {
  const root = plant(sandbox, project);
  for (const [glob, why] of [
    ['', 'has an empty name'],
    ['/etc/*', 'is an absolute path'],
    ['../*', 'leads out of path'],
    ['[a', 'it has a [ without a ]'],
  ] as const) {
    for (const [verb, name] of [
      ['find', 'glob'],
      ['glob', 'pattern'],
    ] as const) {
      const data = await failed(sandbox, verb, { path: root, [name]: glob });
      expect(data).toMatchObject({ error_type: 'invalid_target', operation: verb });
      expect(data['message']).toContain(why);
    }
  }
  expect((await failed(sandbox, 'glob', { path: root, pattern: '*', exclude: ['{'] }))['message']).toContain(
    'is not a glob',
  );
});

test('V1FILE-7 V1FILE-6 only the first of very many files are returned, and the hint says so', async ({ sandbox }) => {
  const root = join(sandbox.directory, 'many');
  mkdirSync(root);
  for (let i = 0; i < 10_001; i++) writeFileSync(join(root, `f${String(i).padStart(5, '0')}`), '');
  const { data, hint } = await attempt(sandbox, 'find', { path: root, glob: '*' });
  expect([(data['files'] as string[]).length, (data['files'] as string[])[0]]).toEqual([10_000, `${root}/f00000`]);
  expect(hint).toBe('These are the first 10000 of 10001 files; give a narrower path or glob.');
  const listed = await attempt(sandbox, 'list', { path: root });
  expect([(listed.data['files'] as string[]).length, listed.hint]).toEqual([10_001, null]);
});

test('V1FILE-8 glob returns size and time, in the requested order', async ({ sandbox }) => {
  const root = plant(sandbox, { 'b.txt': '22', 'a.txt': '333', 'deep/c.txt': '1', '.dot.txt': '4444' });
  utimesSync(join(root, 'a.txt'), 1_700_000_000, 1_700_000_000.5);
  const glob = (body: object) => post(sandbox, 'glob', { path: root, pattern: '**/*.txt', ...body });
  const order = async (body: object) => names(await glob(body), root);
  expect(await glob({ pattern: 'a.*' })).toEqual({
    path: root,
    pattern: 'a.*',
    files: [
      {
        path: `${root}/a.txt`,
        name: 'a.txt',
        is_directory: false,
        size: 3,
        modified_time: '2023-11-14T22:13:20.500+00:00',
      },
    ],
    total_count: 1,
    truncated: false,
  });
  expect(await order({})).toEqual(['a.txt', 'b.txt', 'deep/c.txt']);
  expect(await order({ sort_desc: true })).toEqual(['deep/c.txt', 'b.txt', 'a.txt']);
  expect(await order({ sort_by: 'size' })).toEqual(['deep/c.txt', 'b.txt', 'a.txt']);
  expect((await order({ sort_by: 'modified' }))[0]).toBe('a.txt');
  expect(await order({ sort_by: 'name', include_hidden: true })).toEqual(['.dot.txt', 'a.txt', 'b.txt', 'deep/c.txt']);
  expect(await order({ sort_by: 'whatever' })).toEqual(['a.txt', 'b.txt', 'deep/c.txt']);
  const cut = await glob({ max_results: 1, include_metadata: false });
  expect(cut).toMatchObject({ total_count: 3, truncated: true, files: [{ size: null, modified_time: null }] });
  const nulls = { exclude: null, include_hidden: null, files_only: null, include_metadata: null, max_results: null };
  expect(await order({ ...nulls, sort_by: null, sort_desc: null })).toEqual(['a.txt', 'b.txt', 'deep/c.txt']);
});

test('V1FILE-8 ** is any depth and * is one, hidden names are optional, and excluded directories are not entered', async ({
  sandbox,
}) => {
  const root = plant(sandbox, project);
  symlinkSync('src', join(root, 'link'));
  const glob = async (body: object) => names(await post(sandbox, 'glob', { path: root, ...body }), root);
  expect(await glob({ pattern: '*.py' })).toEqual(['a.py']);
  expect(await glob({ pattern: '**/*.py', exclude: ['node_modules'] })).toEqual(['a.py', 'src/c.py', 'src/deep/d.py']);
  expect(await glob({ pattern: '**/*.py', exclude: ['node_modules/', 'src/**'] })).toEqual(['a.py']);
  expect(await glob({ pattern: '**/*.py', exclude: ['src/*/*.py', 'e.*'] })).toEqual(['a.py', 'src/c.py']);
  expect(await glob({ pattern: '**', exclude: ['*.min.js', '*.py'], files_only: false })).toEqual([
    'b.txt',
    'link',
    'node_modules',
    'src',
    'src/deep',
  ]);
  expect(await glob({ pattern: '**', include_hidden: true, exclude: ['src', 'node_modules'] })).toEqual([
    '.hidden/f.py',
    'a.py',
    'b.txt',
  ]);
  expect(await glob({ pattern: '.hidden/*' })).toEqual(['.hidden/f.py']);
});

test('V1FILE-9 grep returns matches with the lines around them, as ripgrep finds them', async ({ sandbox }) => {
  const root = plant(sandbox, project);
  const grep = (body: object) => post(sandbox, 'grep', { path: root, pattern: 'NEXT', ...body });
  const found = async (body: object) =>
    ((await grep(body))['matches'] as { file: string; line_number: number }[]).map(
      (match) => `${match.file.slice(root.length + 1)}:${match.line_number}`,
    );
  expect(await grep({ include: ['a.py'], context_before: 1, context_after: 1 })).toEqual({
    path: root,
    pattern: 'NEXT',
    matches: [
      {
        file: `${root}/a.py`,
        line_number: 2,
        line_content: '# NEXT: one',
        context_before: ['import os'],
        context_after: [],
      },
    ],
    match_count: 1,
    files_searched: 1,
    files_matched: 1,
    truncated: false,
  });
  expect(await found({})).toEqual(['a.py:2', 'node_modules/e.py:1', 'src/c.py:1']);
  expect(await found({ exclude: ['node_modules'] })).toEqual(['a.py:2', 'src/c.py:1']);
  expect(await found({ recursive: false })).toEqual(['a.py:2']);
  expect(await found({ pattern: 'next', case_insensitive: true, type: 'py', offset: 1, max_results: 1 })).toEqual([
    'node_modules/e.py:1',
  ]);
  expect(await found({ pattern: '(', fixed_strings: true })).toEqual(['src/c.py:1']);
  expect(await found({ pattern: 'os.*NEXT', multiline: true })).toEqual(['a.py:1']);
  expect(await found({ pattern: 'x', max_file_size: '50', include: ['*.js'] })).toEqual([]);
  expect(await found({ pattern: 'x', max_file_size: '1k', include: ['*.js'] })).toEqual(['src/deep/d.min.js:1']);
  expect(await grep({ max_results: 1 })).toMatchObject({ match_count: 1, truncated: true });
  const one = await post(sandbox, 'grep', { path: `${root}/src/c.py`, pattern: 'NEXT.*' });
  expect(one).toMatchObject({ path: `${root}/src/c.py`, match_count: 1 });
});

test('V1FILE-9 bad input to grep: a schema violation is 422, an invalid pattern or type a failure', async ({
  sandbox,
}) => {
  const root = plant(sandbox, project);
  for (const [body, location, type] of [
    [{ context_before: 21 }, 'body.context_before', 'too_large'],
    [{ max_results: 10_001 }, 'body.max_results', 'too_large'],
    [{ max_results: 0 }, 'body.max_results', 'too_small'],
    [{ max_file_size: 'huge' }, 'body.max_file_size', 'pattern'],
    [{ include: '*.py' }, 'body.include', 'array_type'],
  ] as const) {
    const { status, body: refused } = await sandbox.request('POST /v1/file/grep', {
      path: root,
      pattern: 'x',
      ...body,
    });
    expect([status, refused.errors]).toMatchObject([422, [{ location, type }]]);
  }
  for (const [body, why] of [
    [{ pattern: '(' }, 'unclosed group'],
    [{ type: 'nothing' }, 'unrecognized file type: nothing'],
    [{ include: ['../*'] }, 'leads out of path'],
    [{ include: ['\0'] }, 'contains a NUL byte'],
    [{ pattern: 'x|\0' }, 'contains a NUL byte'],
    [{ pattern: '\udcff' }, 'text that is not Unicode'],
    [{ max_file_size: '1G', multiline: true }, 'max_file_size is more than 512M'],
  ] as const) {
    const data = await failed(sandbox, 'grep', { path: root, pattern: 'x', ...body });
    expect(data).toMatchObject({ error_type: 'invalid_target', operation: 'grep' });
    expect(data['message']).toContain(why);
  }
});

test('V1FILE-6 list returns the requested fields of each entry, and counts files and directories', async ({
  sandbox,
}) => {
  const root = plant(sandbox, { 'b.txt': '22', 'a.md': '333', noext: '', '.dot': '1', 'sub/c.py': '1' });
  chmodSync(join(root, 'b.txt'), 0o640);
  utimesSync(join(root, 'b.txt'), 1_700_000_000, 1_700_000_000);
  const list = (body: object) => post(sandbox, 'list', { path: root, ...body });
  const plain = await list({});
  expect(plain).toMatchObject({ path: root, total_count: 5, directory_count: 1, file_count: 4 });
  expect(names(plain, root)).toEqual(['.dot', 'a.md', 'b.txt', 'noext', 'sub']);
  const entry = { name: 'b.txt', path: `${root}/b.txt`, is_directory: false, extension: '.txt' };
  const modified_time = '2023-11-14T22:13:20.000+00:00';
  expect((plain['files'] as object[])[2]).toEqual({ ...entry, size: 2, modified_time, permissions: null });
  const more = await list({ include_permissions: true, include_size: false });
  expect((more['files'] as object[])[2]).toEqual({ ...entry, size: null, modified_time, permissions: '640' });
  expect((plain['files'] as { extension: string }[]).map(({ extension }) => extension)).toEqual([
    '',
    '.md',
    '.txt',
    '',
    '',
  ]);

  expect(names(await list({ show_hidden: false }), root)).toEqual(['a.md', 'b.txt', 'noext', 'sub']);
  expect(names(await list({ recursive: true, show_hidden: false }), root)).toEqual([
    'a.md',
    'b.txt',
    'sub/c.py',
    'noext',
    'sub',
  ]);
  expect(names(await list({ recursive: true, max_depth: 1 }), root)).toHaveLength(5);
  const typed = await list({ recursive: true, file_types: ['.md', 'py'] });
  expect([names(typed, root), typed['file_count'], typed['directory_count']]).toEqual([
    ['a.md', 'sub/c.py', 'sub'],
    2,
    1,
  ]);
});

test('V1FILE-6 list sorts by name, size, time or type, and by name for anything else', async ({ sandbox }) => {
  const root = plant(sandbox, { 'b.txt': '22', 'a.md': '333', 'c.md': '', 'z/f': '' });
  utimesSync(join(root, 'b.txt'), 1, 1);
  const order = async (body: object) => names(await post(sandbox, 'list', { path: root, ...body }), root);
  const files = (all: string[]) => all.filter((name) => name !== 'z');
  expect(await order({ sort_by: 'type' })).toEqual(['z', 'a.md', 'c.md', 'b.txt']);
  expect(await order({ sort_by: 'type', sort_desc: true })).toEqual(['b.txt', 'c.md', 'a.md', 'z']);
  expect(files(await order({ sort_by: 'size' }))).toEqual(['c.md', 'b.txt', 'a.md']);
  expect((await order({ sort_by: 'modified' }))[0]).toBe('b.txt');
  expect(await order({ sort_by: 'extension', sort_desc: true })).toEqual(['z', 'c.md', 'b.txt', 'a.md']);
  const nulls = { recursive: null, show_hidden: null, file_types: null, max_depth: null, include_size: null };
  expect(await order({ ...nulls, include_permissions: null, sort_by: null, sort_desc: null })).toHaveLength(4);
});

test(
  'V1FILE-6 V1FILE-7 V1FILE-8 an unreadable directory is skipped, and the hint names it',
  async ({ sandbox }) => {
    const root = plant(sandbox, { 'a.py': '', 'closed/b.py': '' });
    chmodSync(join(root, 'closed'), 0o700);
    const hint = `${root}/closed could not be read (EACCES).`;
    for (const [verb, body] of [
      ['list', { recursive: true, file_types: ['.py'] }],
      ['find', { glob: '**/*.py' }],
      ['glob', { pattern: '**/*.py' }],
    ] as const) {
      const answer = await attempt(sandbox, verb, { path: root, ...body });
      expect([answer.success, answer.hint]).toEqual([true, hint]);
      expect(names(answer.data, root)).toContain('a.py');
    }
  },
  asTestAccount(),
);

test('V1FILE-7 V1FILE-8 V1FILE-10 hints name fields that the route has, and failures carry empty lists', async ({
  sandbox,
}) => {
  const root = plant(sandbox, project);
  const rows: readonly (readonly [string, object, RegExp, object])[] = [
    ['find', { glob: 'a//b' }, /^Write the glob as src\/\*\*\/\*\.ts\. POST \/v1\/file\/glob /, { files: [] }],
    ['find', { glob: '/a' }, /as path, and the rest as the glob/, { files: [] }],
    ['find', { glob: '../a' }, /without \.\. in the glob/, { files: [] }],
    ['glob', { pattern: 'a//b' }, /files_only: false finds directories too/, { files: [] }],
    ['grep', { pattern: '(' }, /fixed_strings searches for the text as it is/, { matches: [] }],
    ['search', { path: join(root, 'a.py'), regex: '(' }, /a backslash makes a special character literal/, {}],
    ['search', { path: join(root, 'a.py'), regex: 'a\nb' }, /a backslash/, {}],
  ];
  for (const [verb, body, hint, lists] of rows) {
    const answer = await attempt(sandbox, verb, { path: root, ...body });
    expect([body, answer.success, answer.hint]).toEqual([body, false, expect.stringMatching(hint)]);
    expect(answer.data).toMatchObject(lists);
    expect(answer.message).not.toContain('multiline');
  }
});
