/** The behavior of listing directories and finding files by name. */
import { chmodSync, mkdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from '../harness/mcp-client.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { plantTree } from '../harness/tree.ts';

const project = {
  'README.md': '# hello\n',
  'src/main.ts': 'main\n',
  'src/deep/er/util.ts': 'util\n',
  'src/deep/.secret/key.ts': 'key\n',
  '.env': 'A=1\n',
  'a-b': 'x',
  'a/c.tar.gz': 'x',
  empty: null,
  'to-src': { to: 'src' },
  'to-file': { to: 'README.md' },
  dangling: { to: 'nowhere' },
  round: { to: '.' },
};

function plantProject(sandbox: Sandbox): string {
  return plantTree(join(sandbox.directory, 'project'), project);
}

function query(values: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)] as [string, string]);
  return new URLSearchParams(texts).toString();
}

function list(sandbox: Sandbox, path: string, values: Readonly<Record<string, unknown>> = {}): Promise<JsonObject> {
  return sandbox.ok(`GET /v2/fs/list?${query({ path, ...values })}`);
}

/** The paths of an answer below a directory, in order. */
function below(root: string, answer: JsonObject): string[] {
  return (answer['files'] as (string | { path: string })[])
    .map((file) => (typeof file === 'string' ? file : file.path))
    .map((path) => path.slice(root.length + 1));
}

async function found(sandbox: Sandbox, root: string, pattern: string, values = {}): Promise<string[]> {
  return below(root, await sandbox.ok(`GET /v2/fs/search?${query({ path: root, pattern, ...values })}`));
}

test('FILE-5 V2FS-LIST a directory is listed with every field of its entries', async ({ sandbox }) => {
  const root = plantProject(sandbox);
  utimesSync(join(root, 'README.md'), 1_700_000_000, 1_700_000_000.25);

  const answer = await list(sandbox, root);

  expect(below(root, answer)).toEqual([
    '.env',
    'README.md',
    'a',
    'a-b',
    'dangling',
    'empty',
    'round',
    'src',
    'to-file',
    'to-src',
  ]);
  expect(answer).toMatchObject({
    path: root,
    total_count: 10,
    file_count: 5,
    directory_count: 5,
    truncated: false,
    next_cursor: null,
    skipped: [],
    skipped_count: 0,
  });
  expect(answer['files'][1]).toEqual({
    name: 'README.md',
    path: `${root}/README.md`,
    is_directory: false,
    is_symlink: false,
    size: 8,
    extension: '.md',
    modified_time: '2023-11-14T22:13:20.250Z',
    is_hidden: false,
  });
  expect(answer['files'][0]).toMatchObject({ name: '.env', extension: '', is_hidden: true });
  expect(answer['files'][2]).toMatchObject({ name: 'a', extension: '', is_directory: true });
});

test('V2FS-LISTTREE a tree is listed in order, to a depth, with hidden names or without', async ({ sandbox }) => {
  const root = plantProject(sandbox);
  const visible = ['README.md', 'a', 'a/c.tar.gz', 'a-b', 'dangling', 'empty', 'round', 'src', 'src/deep'];
  const ends = ['src/main.ts', 'to-file', 'to-src'];

  const whole = await list(sandbox, root, { recursive: true, show_hidden: false });
  const two = await list(sandbox, root, { recursive: true, show_hidden: false, max_depth: 2 });
  const one = await list(sandbox, root, { recursive: true, max_depth: 1 });
  const hidden = await list(sandbox, root, { recursive: true });

  expect(below(root, whole)).toEqual([...visible, 'src/deep/er', 'src/deep/er/util.ts', ...ends]);
  expect(below(root, two)).toEqual([...visible, ...ends]);
  expect(one).toEqual(await list(sandbox, root));
  expect(below(root, hidden)).toContain('src/deep/.secret/key.ts');
  expect(whole['files'][2]).toMatchObject({ name: 'c.tar.gz', extension: '.gz' });
});

test('V2FS-LINKS a link is listed with the type of its target, and nothing below it is listed', async ({ sandbox }) => {
  const root = plantProject(sandbox);

  const { files } = await list(sandbox, root, { recursive: true });

  const links = (files as JsonObject[]).filter((file) => file['is_symlink']);
  expect(links.map(({ name, is_directory: isDirectory, size }) => [name, isDirectory, size > 0])).toEqual([
    ['dangling', false, true],
    ['round', true, true],
    ['to-file', false, true],
    ['to-src', true, true],
  ]);
  expect((await list(sandbox, join(root, 'to-src')))['total_count']).toBe(2);
});

test('V2FS-LISTPAGES each order resumes from the cursor, whatever entries appear or disappear meanwhile', async ({
  sandbox,
}) => {
  const root = join(sandbox.directory, 'pages');
  const sizes = [5, 3, 3, 9, 1, 7, 3];
  plantTree(root, Object.fromEntries(sizes.map((size, index) => [`d${index % 2}/f${index}`, 'x'.repeat(size)])));
  sizes.forEach((_, index) => utimesSync(join(root, `d${index % 2}/f${index}`), 0, 1000 - index));
  for (const name of ['d0', 'd1']) utimesSync(join(root, name), 0, 5000);

  for (const sort of ['path', 'name', 'size', 'modified']) {
    for (const order of ['asc', 'desc']) {
      const whole = below(root, await list(sandbox, root, { recursive: true, sort, order }));
      const pages: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await list(sandbox, root, { recursive: true, sort, order, limit: 2, ...(cursor && { cursor }) });
        expect(page).toMatchObject({ total_count: 9, file_count: 7, truncated: page['next_cursor'] !== null });
        pages.push(...below(root, page));
        cursor = page['next_cursor'] as string | null;
      } while (cursor !== null);
      expect([sort, order, pages]).toEqual([sort, order, whole]);
    }
  }
  const bySize = below(root, await list(sandbox, root, { recursive: true, sort: 'size' }));
  expect(bySize.slice(0, 5)).toEqual(['d0/f4', 'd0/f2', 'd0/f6', 'd1/f1', 'd0/f0']);
  const byTime = below(root, await list(sandbox, root, { recursive: true, sort: 'modified', order: 'desc' }));
  expect(byTime.slice(0, 4)).toEqual(['d1', 'd0', 'd0/f0', 'd1/f1']);
  const byName = below(root, await list(sandbox, root, { recursive: true, sort: 'name' }));
  expect(byName.slice(0, 4)).toEqual(['d0', 'd1', 'd0/f0', 'd1/f1']);

  const first = await list(sandbox, root, { recursive: true, limit: 3 });
  unlinkSync(join(root, 'd0/f2'));
  writeFileSync(join(root, 'd0/f1'), '');
  const rest = await list(sandbox, root, { recursive: true, cursor: first['next_cursor'] });
  expect([...below(root, first), ...below(root, rest)]).toEqual([
    'd0',
    'd0/f0',
    'd0/f2',
    'd0/f4',
    'd0/f6',
    'd1',
    'd1/f1',
    'd1/f3',
    'd1/f5',
  ]);
});

test('V2FS-LISTIGNORE entries that .gitignore files exclude are skipped, nested files and negations included', async ({
  sandbox,
}) => {
  const root = plantTree(join(sandbox.directory, 'ignored'), {
    '.gitignore': '*.log\nnode_modules/\n/dist\n!keep.log\n',
    'a.log': '',
    'keep.log': '',
    'dist/x': '',
    'sub/dist/x': '',
    'sub/.gitignore': '!b.log\nlocal\n',
    'sub/b.log': '',
    'sub/local/x': '',
    'sub/node_modules/x/keep.log': '',
    'inner/a.ts': '',
    'inner/a.log': '',
    '.git/HEAD': '',
  });

  const files = below(root, await list(sandbox, root, { recursive: true, ignore: 'gitignore' }));
  const inner = below(root, await list(sandbox, join(root, 'inner'), { ignore: 'gitignore' }));
  const search = await found(sandbox, root, '*.log', { ignore: 'gitignore' });

  expect(files).toEqual([
    '.gitignore',
    'inner',
    'inner/a.ts',
    'keep.log',
    'sub',
    'sub/.gitignore',
    'sub/b.log',
    'sub/dist',
    'sub/dist/x',
  ]);
  expect(inner).toEqual(['inner/a.ts']);
  expect(search).toEqual(['keep.log', 'sub/b.log']);
});

test('V2FS-SEARCHPAGES a cursor resumes a search, and details names the type of each match', async ({ sandbox }) => {
  const root = plantProject(sandbox);
  await sandbox.run({ command: `mkfifo ${root}/pipe` });
  const search = (values: object) =>
    sandbox.ok(`GET /v2/fs/search?${query({ path: root, pattern: '*', type: 'any', ...values })}`);
  const whole = await search({ details: true });
  expect(whole).toMatchObject({ truncated: false, next_cursor: null });
  expect((whole['entries'] as { path: string }[]).map(({ path }) => path)).toEqual(whole['files']);
  const types = new Map((whole['entries'] as { path: string; type: string }[]).map(({ path, type }) => [path, type]));
  expect(['README.md', 'src', 'to-src', 'dangling', 'pipe'].map((name) => types.get(join(root, name)))).toEqual([
    'file',
    'directory',
    'symlink',
    'symlink',
    'other',
  ]);
  expect(await search({})).not.toHaveProperty('entries');

  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: JsonObject = await search({ limit: 3, ...(cursor && { cursor }) });
    expect(page).toMatchObject({ total_count: whole['total_count'], truncated: page['next_cursor'] !== null });
    pages.push(...page['files']);
    cursor = page['next_cursor'];
  }
  expect(pages).toEqual(whole['files']);
});

test('V2FS-SEARCH a / in front of the glob stands for the directory itself', async ({ sandbox }) => {
  const root = plantProject(sandbox);
  expect(await found(sandbox, root, '/*.md')).toEqual(['README.md']);
  expect(await found(sandbox, root, '/*.ts')).toEqual([]);
  expect(await found(sandbox, root, '/src/*.ts')).toEqual(['src/main.ts']);
  expect(await found(sandbox, root, '/**/*.ts')).toEqual(['src/deep/er/util.ts', 'src/main.ts']);
});

test('FILE-6 V2FS-SEARCH a glob with a / matches the path, and one without matches the name', async ({ sandbox }) => {
  const root = plantProject(sandbox);
  const expected: Readonly<Record<string, readonly string[]>> = {
    '*.ts': ['src/deep/er/util.ts', 'src/main.ts'],
    'src/*.ts': ['src/main.ts'],
    './src/*.ts': ['src/main.ts'],
    'src/**/*.ts': ['src/deep/er/util.ts', 'src/main.ts'],
    '**/er/**': ['src/deep/er/util.ts'],
    '**': ['README.md', 'a/c.tar.gz', 'a-b', 'dangling', 'src/deep/er/util.ts', 'src/main.ts', 'to-file'],
    'src/**/.secret/*.ts': ['src/deep/.secret/key.ts'],
    '.*': ['.env'],
    '.env': ['.env'],
    '*env': [],
    '{main,util}.ts': ['src/deep/er/util.ts', 'src/main.ts'],
    '{src,a}/{main.ts,*.gz}': ['a/c.tar.gz', 'src/main.ts'],
    '[a-m]*.ts': ['src/main.ts'],
    '[!a-m]*.ts': ['src/deep/er/util.ts'],
    'm??n.ts': ['src/main.ts'],
    'main.ts': ['src/main.ts'],
    'a\\-b': ['a-b'],
    'MAIN.ts': [],
    'to-src/*': [],
  };
  for (const [pattern, paths] of Object.entries(expected)) {
    expect([pattern, await found(sandbox, root, pattern)]).toEqual([pattern, [...paths]]);
  }
  expect(await found(sandbox, root, 'e*', { type: 'directory' })).toEqual(['empty', 'src/deep/er']);
  expect(await found(sandbox, root, 'to-*', { type: 'any' })).toEqual(['to-file', 'to-src']);
  expect(await sandbox.ok(`GET /v2/fs/search?${query({ path: root, pattern: 'main.ts' })}`)).toEqual({
    path: root,
    pattern: 'main.ts',
    files: [`${root}/src/main.ts`],
    total_count: 1,
    truncated: false,
    next_cursor: null,
    hidden_count: 1,
    skipped: [],
    skipped_count: 0,
    ignored_count: 0,
    link_count: 2,
  });
});

test('V2FS-LEFTOUT a listing and a search count what they leave out, and the hint says how to get it', async ({
  sandbox,
}) => {
  const root = plantTree(join(sandbox.directory, 'left'), {
    '.git/HEAD': 'ref\n',
    '.gitignore': '*.log\nbuild/\n',
    'a.log': '',
    'build/x': '',
    'src/b.log': '',
    'src/c.ts': '',
    linked: { to: 'src' },
  });
  const answer = async (route: string, more: Record<string, string>) =>
    (await sandbox.request(`GET /v2/fs/${route}?${query({ path: root, ...more })}`)).body;
  const listed = await answer('list', { recursive: 'true', ignore: 'gitignore', show_hidden: 'false' });
  expect(listed.data).toMatchObject({ total_count: 3, ignored_count: 3, hidden_count: 2, link_count: 1 });
  expect(listed.hint).toBe(
    'Left out: 3 ignored (ignore=none lists them), 2 hidden (show_hidden=true lists them), ' +
      '1 linked directories not entered (pass their paths).',
  );
  const found = await answer('search', { pattern: '*.*', ignore: 'gitignore' });
  expect(found.data).toMatchObject({ total_count: 1, ignored_count: 4, link_count: 1 });
  const all = await answer('list', { recursive: 'true' });
  expect([all.data['ignored_count'], all.data['hidden_count'], all.data['link_count']]).toEqual([0, 0, 1]);
  expect((await answer('list', {})).hint).toBe(null);
  for (const [route, more, hidden] of [
    ['list', { recursive: true }, ''],
    ['glob', { pattern: '**' }, 'Hidden names were left out: 2; include_hidden finds them. '],
    ['find', { glob: '**/*.ts' }, 'Hidden names were left out: 1; a glob such as **/.* names them. '],
  ] as const) {
    const { hint } = (await sandbox.request(`POST /v1/file/${route}`, { path: root, ...more })).body;
    expect([route, hint]).toEqual([
      route,
      `${hidden}A link to a directory was not entered; a call with the path of the link lists it.`,
    ]);
  }
  const tool = await callTool(sandbox, 'sandbox_file_operations', { action: 'find', path: root, pattern: '*.ts' });
  expect(tool.text).toContain(
    '1 of 1 · 1 linked directories not entered · 1 hidden left out, a pattern such as .* names them]',
  );
});

test('V2FS-NAMES names that are not UTF-8 are listed and found, and requests accept their paths', async ({
  sandbox,
}) => {
  const root = join(sandbox.directory, 'names');
  const odd = Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]);
  mkdirSync(root);
  mkdirSync(odd);
  writeFileSync(Buffer.concat([odd, Buffer.from('/x.txt')]), 'x');

  const answer = await list(sandbox, root);
  const { name, path, is_directory: isDirectory } = answer['files'][0] as JsonObject;
  const again = await list(sandbox, path as string);
  const raw = await sandbox.ok(`GET /v2/fs/list?path=${root}/caf%E9`);

  expect({ name, path, isDirectory }).toEqual({ name: 'caf\ufffd', path: `file://${root}/caf%E9`, isDirectory: true });
  expect(again).toMatchObject({ path, files: [{ name: 'x.txt', path: `file://${root}/caf%E9/x.txt`, size: 1 }] });
  expect(raw).toEqual(again);
  expect(await sandbox.ok(`GET /v2/fs/search?${query({ path: root, pattern: '*.txt' })}`)).toMatchObject({
    files: [`file://${root}/caf%E9/x.txt`],
  });
  expect((await list(sandbox, root, { recursive: true }))['total_count']).toBe(2);
});

test(
  'V2FS-SKIPPED FERR-1 ERR-403 unreadable entries below the root are skipped and reported, and an unreadable root fails',
  async ({ sandbox }) => {
    const root = plantTree(join(sandbox.directory, 'closed'), { 'a/x': '', 'b/y': '', 'b/c/z': '' });
    chmodSync(join(root, 'b'), 0);
    try {
      const tree = await list(sandbox, root, { recursive: true });
      const search = await sandbox.ok(`GET /v2/fs/search?${query({ path: root, pattern: '*' })}`);
      const closed = await sandbox.request(`GET /v2/fs/list?${query({ path: join(root, 'b') })}`);

      expect(below(root, tree)).toEqual(['a', 'a/x', 'b']);
      for (const answer of [tree, search]) {
        expect(answer).toMatchObject({ skipped: [{ path: join(root, 'b'), errno_name: 'EACCES' }], skipped_count: 1 });
      }
      expect(closed).toMatchObject({
        status: 403,
        body: {
          success: false,
          data: {
            errno: 13,
            errno_name: 'EACCES',
            error_type: 'permission_denied',
            exception_type: 'PermissionError',
            message: `${join(root, 'b')}: Permission denied`,
            operation: 'list',
            path: join(root, 'b'),
            retryable: false,
          },
        },
      });
    } finally {
      chmodSync(join(root, 'b'), 0o755);
    }
  },
  asTestAccount(),
);

interface Refusal {
  readonly route: string;
  readonly status: number;
  readonly message: string;
  readonly facts?: readonly [errnoName: string, errorType: string];
}

test('V2FS-REFUSED bad input is refused with everything a client needs to correct the request', async ({ sandbox }) => {
  const root = plantProject(sandbox);
  const { next_cursor: cursor } = await list(sandbox, root, { limit: 1 });
  const place = (name: string) => `path=${join(root, name)}`;
  const refusals: Refusal[] = [
    {
      route: `list?${place('none')}`,
      status: 404,
      message: `${root}/none: No such file or directory`,
      facts: ['ENOENT', 'not_found'],
    },
    {
      route: `list?${place('dangling')}`,
      status: 404,
      message: `${root}/dangling: No such file or directory`,
      facts: ['ENOENT', 'not_found'],
    },
    {
      route: `list?${place('README.md')}`,
      status: 400,
      message: `${root}/README.md: Not a directory`,
      facts: ['ENOTDIR', 'invalid_path'],
    },
    {
      route: `search?pattern=*&${place('README.md')}`,
      status: 400,
      message: `${root}/README.md: Not a directory`,
      facts: ['ENOTDIR', 'invalid_path'],
    },
    {
      route: `list?${place('n'.repeat(256))}`,
      status: 400,
      message: `${root}/${'n'.repeat(256)}: File name too long`,
      facts: ['ENAMETOOLONG', 'invalid_path'],
    },
    ...Object.entries({
      '../x': 'leads out of path',
      'a/../../x': 'leads out of path',
      [`${root}/*`]: 'is an absolute path, not a glob below one',
      '//etc/*': 'is an absolute path, not a glob below one',
      'a//b': 'has an empty name or a . between two /',
      'src/': 'has an empty name or a . between two /',
      '[a': 'is not a glob: it has a [ without a ]',
      '{a,b': 'is not a glob: it has a { without a }',
      'a}': 'is not a glob: it has a } without a {',
      'a\\': 'is not a glob: it ends with a backslash',
      [`${'{a,b}'.repeat(11)}`]: 'is not a glob: it has more than 1024 alternatives',
    }).map(([pattern, message]): Refusal => ({
      route: `search?${query({ path: root, pattern })}`,
      status: 400,
      message: `${JSON.stringify(pattern)} ${message}`,
      facts: ['EINVAL', 'bad_request'],
    })),
    {
      route: `list?${query({ path: root, cursor: 'made-up' })}`,
      status: 400,
      message: 'cursor was not returned by a listing',
    },
    {
      route: `list?${query({ path: root, cursor, sort: 'size' })}`,
      status: 400,
      message: 'cursor belongs to a listing in another order',
    },
    {
      route: `list?${query({ path: root, cursor, order: 'desc' })}`,
      status: 400,
      message: 'cursor belongs to a listing in another order',
    },
    { route: 'list', status: 422, message: 'query.path: is required' },
    { route: `search?path=${root}`, status: 422, message: 'query.pattern: is required' },
    { route: `list?path=${root}&max_depth=0`, status: 422, message: 'query.max_depth: must be at least 1' },
    { route: `list?path=${root}&limit=10001`, status: 422, message: 'query.limit: must be at most 10000' },
    {
      route: `list?path=${root}&sort=age`,
      status: 422,
      message: 'query.sort: must be one of path, name, size, modified',
    },
    { route: 'list?path=/a%00b', status: 422, message: 'query.path: must not contain a NUL byte' },
    { route: 'list?path=~&user=nobody-here', status: 400, message: 'no account is named "nobody-here"' },
  ];
  for (const { route, status, message, facts } of refusals) {
    const reply = await sandbox.request(`GET /v2/fs/${route}`);
    expect([route, reply.status, reply.body.message]).toEqual([route, status, message]);
    expect([route, (reply.body.hint ?? '').length > 0]).toEqual([route, true]);
    if (!facts) continue;
    const { errno, ...data } = reply.body.data;
    expect([route, errno > 0]).toEqual([route, true]);
    expect([route, data]).toMatchObject([
      route,
      { errno_name: facts[0], error_type: facts[1], message, operation: route.split('?')[0], retryable: false },
    ]);
    expect([route, Object.keys(data).sort()]).toEqual([
      route,
      ['code', 'errno_name', 'error_type', 'exception_type', 'message', 'operation', 'path', 'retryable'],
    ]);
  }
});

test('V2FS-SEARCH hidden names that a pattern passes over are counted, with the pattern that finds them', async ({
  sandbox,
}) => {
  const root = join(sandbox.directory, 'tree');
  plantTree(root, { '.env': '', '.github/ci.yml': '', 'src/.eslintrc.yml': '', 'src/a.yml': '' });
  const found = async (pattern: string) => {
    const { body } = await sandbox.request(`GET /v2/fs/search?${query({ path: root, pattern })}`);
    return [body.data['total_count'], body.data['hidden_count'], body.hint];
  };
  const hint = 'Left out: 2 hidden (a pattern such as .* or **/.*/** names them).';
  expect(await found('*.yml')).toEqual([1, 2, hint]);
  expect(await found('.*/**/*.yml')).toEqual([1, 0, null]);
  const { text } = await callTool(sandbox, 'sandbox_file_operations', { action: 'find', path: root, pattern: '*.yml' });
  expect(text).toContain('2 hidden left out');
  const v1 = async (route: string, body: object) =>
    (await sandbox.request(`POST /v1/file/${route}`, { path: root, ...body })).body.hint;
  expect(await v1('find', { glob: '**/*.yml' })).toBe(
    'Hidden names were left out: 2; a glob such as **/.* names them.',
  );
  expect(await v1('glob', { pattern: '**/*.yml' })).toContain('Hidden names were left out: 2; include_hidden');
  expect(await v1('list', { show_hidden: false })).toBe('Hidden names were left out: 2; show_hidden lists them.');
});

test(
  'V2FS-SKIPPED a view of a directory names what could not be read, on MCP and on v1',
  async ({ sandbox }) => {
    const root = plantTree(join(sandbox.directory, 'tree'), { 'open/a': '', 'closed/b': '' });
    chmodSync(join(root, 'closed'), 0);
    const view = { command: 'view', path: root };
    expect((await callTool(sandbox, 'sandbox_str_replace_editor', view)).text).toContain(
      `1 could not be read, ${root}/closed first`,
    );
    const { output } = await sandbox.ok('POST /v1/file/str_replace_editor', view);
    expect(output).toContain(`${root}/closed could not be read (EACCES).`);
  },
  asTestAccount(),
);
