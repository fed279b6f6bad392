/** The behavior of content searches. */
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { callTool } from '../harness/mcp-client.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { asTestAccount } from '../harness/test-account.ts';
import { plantTree, type TreeNode } from '../harness/tree.ts';
import { cpuTicks, until } from '../harness/until.ts';

function grep(sandbox: Sandbox, path: string, pattern: string, more: Readonly<Record<string, unknown>> = {}) {
  return sandbox.ok('POST /v2/fs/grep', { path, pattern, ...more });
}

/** `path:line:content` of each match. */
function hits(root: string, answer: JsonObject): string[] {
  return (answer['matches'] as JsonObject[]).map(
    (match) => `${(match['file'] as string).replace(`${root}/`, '')}:${match['line_number']}:${match['line_content']}`,
  );
}

const corpus: Readonly<Record<string, TreeNode>> = {
  'plain.txt': 'one\nfoo two\nthree\nfoo foo\nend',
  'crlf.txt': 'foo\r\nbar\r\n',
  latin: Buffer.from('caf\xe9 foo\n', 'latin1'),
  'bom.txt': '\ufefffoo bom\n',
  'binary.bin': 'foo\n\0\n',
  'late-binary.bin': `foo\n${'x'.repeat(200_000)}\n\0`,
  '.hidden': 'foo hidden\n',
  'code/a.ts': 'const foo = 1;\n',
  'code/b.py': 'foo = 1\n',
  'code-2/a.ts': 'foo\n',
  'repo/.git/HEAD': 'foo\n',
  'repo/.gitignore': 'dist/\n*.log\n!keep.log\n',
  'repo/dist/x.ts': 'foo\n',
  'repo/a.log': 'foo\n',
  'repo/keep.log': 'foo\n',
  'no-repo/.gitignore': '*.log\n',
  'no-repo/a.log': 'foo\n',
  'ignored/.ignore': 'x\n',
  'ignored/x': 'foo\n',
  link: { to: 'plain.txt' },
  dangling: { to: 'nowhere' },
  round: { to: '.' },
};

const expectedHits = [
  'bom.txt:1:foo bom',
  'code/a.ts:1:const foo = 1;',
  'code/b.py:1:foo = 1',
  'code-2/a.ts:1:foo',
  'crlf.txt:1:foo',
  'latin:1:caf\ufffd foo',
  'no-repo/a.log:1:foo',
  'plain.txt:2:foo two',
  'plain.txt:4:foo foo',
  'repo/keep.log:1:foo',
];

test('V2FS-GREP FILE-7 matching lines of a tree are found in the order of the tree', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'corpus'), corpus);
  const pipe = await sandbox.run({ command: 'mkfifo', args: [join(root, 'pipe')], shell: 'none' });
  expect(pipe['exit_code']).toBe(0);

  const answer = await grep(sandbox, root, 'foo');

  expect(hits(root, answer)).toEqual(expectedHits);
  expect(answer).toMatchObject({
    path: root,
    pattern: 'foo',
    match_count: 10,
    files_matched: 9,
    truncated: false,
    engine: 'ripgrep',
  });
  expect([11, null]).toContain(answer['files_searched']);
  expect(answer['matches'][0]).toEqual({
    file: `${root}/bom.txt`,
    line_number: 1,
    line_content: 'foo bom',
    context_before: [],
    context_after: [],
  });
});

test('V2FS-GREP every field works as documented', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'corpus'), corpus);
  const found = async (pattern: string, more = {}) => hits(root, await grep(sandbox, root, pattern, more));

  expect(await found('foo', { include: ['*.ts'] })).toEqual(
    ['code/a.ts:1:const foo = 1;', 'code-2/a.ts:1:foo', 'repo/dist/x.ts:1:foo'].slice(0, 2),
  );
  expect(await found('foo', { include: '*.{ts,py}', exclude: 'code-2' })).toEqual([
    'code/a.ts:1:const foo = 1;',
    'code/b.py:1:foo = 1',
  ]);
  expect(await found('foo', { include: ['/code/**'] })).toHaveLength(2);
  expect(await found('foo', { exclude: ['*.txt', 'code*', '*repo'] })).toEqual(['latin:1:caf\ufffd foo']);
  expect(await found('foo', { type: 'py' })).toEqual(['code/b.py:1:foo = 1']);
  expect(await found('FOO TWO', { case_insensitive: true })).toEqual(['plain.txt:2:foo two']);
  expect(await found('FOO TWO')).toEqual([]);
  expect(await found('o.', { fixed_strings: true })).toEqual([]);
  expect(await found('foo = 1', { fixed_strings: true })).toHaveLength(2);
  expect(await found('foo', { recursive: false })).toEqual(expectedHits.filter((hit) => !hit.includes('/')));
  expect(await found('hidden', { show_hidden: true })).toEqual(['.hidden:1:foo hidden']);
  expect(await found('foo', { ignore: 'none', include: '*.log' })).toHaveLength(3);
  expect(await found('foo', { max_file_size: '8', include: '*.txt' })).toEqual([]);
  expect(await found('foo', { max_file_size: 10, include: '*.txt' })).toEqual(['crlf.txt:1:foo']);
  expect(await found('two.three', { multiline: true })).toEqual(['plain.txt:2:foo two\nthree']);
  expect(await found('two\nthree', { multiline: true })).toEqual(['plain.txt:2:foo two\nthree']);
  expect(await found('--files')).toEqual([]);
  expect(await found('-e')).toEqual([]);

  const { matches } = await grep(sandbox, root, 'three', { context_before: 2, context_after: 1 });
  expect(matches).toEqual([
    {
      file: `${root}/plain.txt`,
      line_number: 3,
      line_content: 'three',
      context_before: ['one', 'foo two'],
      context_after: ['foo foo'],
    },
  ]);
});

test('V2FS-GREP a single file is searched whatever the filters say, and is reported under its own path', async ({
  sandbox,
}) => {
  const root = plantTree(join(sandbox.directory, 'corpus'), { ...corpus, 'odd [x]*.txt ': 'foo\n' });

  const named = async (name: string, more = {}) => hits(root, await grep(sandbox, join(root, name), 'foo', more));

  expect(await named('.hidden', { type: 'py' })).toEqual(['.hidden:1:foo hidden']);
  expect(await named('repo/a.log', { exclude: '*.log' })).toEqual(['repo/a.log:1:foo']);
  expect(await named('link')).toEqual(['link:2:foo two', 'link:4:foo foo']);
  expect(await named('odd [x]*.txt ')).toEqual(['odd [x]*.txt :1:foo']);
  expect(await named('binary.bin')).toEqual([]);
  expect(await named('round')).toHaveLength(11);
});

test('V2FS-GREP offset and max_results page through all matches in one order', async ({ sandbox }) => {
  const root = join(sandbox.directory, 'many');
  const names = Array.from({ length: 40 }, (_, index) => `d${index % 7}/f${index}`);
  plantTree(root, Object.fromEntries(names.map((name) => [name, 'foo\nbar\nfoo\n'])));
  const whole = await grep(sandbox, root, 'foo');

  const pages: string[] = [];
  for (let offset = 0; ; offset += 9) {
    const page = await grep(sandbox, root, 'foo', { offset, max_results: 9 });
    pages.push(...hits(root, page));
    if (page['truncated'] !== true) break;
    expect(page).toMatchObject({ match_count: 9, files_searched: null });
  }

  expect(pages).toEqual(hits(root, whole));
  expect(whole).toMatchObject({ match_count: 80, files_matched: 40, truncated: false });
  expect(await grep(sandbox, root, 'foo', { max_results: 80 })).toMatchObject({ truncated: false });
  expect(await grep(sandbox, root, 'foo', { offset: 80 })).toMatchObject({ match_count: 0, truncated: false });
});

test('V2FS-GREP a huge line is cut around the match, and a flood of matches is stopped', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'huge'), {
    'long.txt': `${'é'.repeat(10_000)}foo${'y'.repeat(10_000)}\n`,
    'flood.txt': 'foo\n'.repeat(200_000),
  });
  const fifty = openSync(join(root, 'fifty'), 'w');
  writeSync(fifty, Buffer.alloc(50 * 1024 * 1024, 'ab '));
  writeSync(fifty, 'foo\n');
  closeSync(fifty);
  const sparse = openSync(join(root, 'sparse'), 'w');
  ftruncateSync(sparse, 2 ** 40);
  closeSync(sparse);

  const long = await grep(sandbox, join(root, 'long.txt'), 'foo');
  const flood = await grep(sandbox, root, 'foo', { max_results: 10_000 });
  const large = await grep(sandbox, join(root, 'fifty'), 'foo', { max_file_size: '100M' });

  expect(long['matches'][0]['line_content']).toBe(
    `[… 9500 characters] ${'é'.repeat(500)}foo${'y'.repeat(1497)} [8503 characters …]`,
  );
  expect(flood).toMatchObject({ match_count: 10_000, truncated: true, files_matched: 2, files_searched: null });
  expect(large).toMatchObject({ match_count: 1, files_matched: 1 });
  expect(large['matches'][0]['line_content']).toBe(`${'ab '.repeat(634).slice(0, 1900)} [more characters …]`);
});

test('V2FS-GREP names that are not UTF-8 are reported as paths that requests accept', async ({ sandbox }) => {
  const root = join(sandbox.directory, 'names');
  mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xe9])]), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xe9]), Buffer.from('/f')]), 'foo\n');

  const { matches } = await grep(sandbox, root, 'foo');
  const file = matches[0]['file'] as string;

  expect(file).toBe(`file://${root}/%E9/f`);
  expect((await grep(sandbox, file, 'foo'))['matches']).toEqual(matches);
  expect((await grep(sandbox, `file://${root}/%E9`, 'foo'))['matches']).toEqual(matches);
});

interface Refusal {
  readonly body: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly message: RegExp;
  readonly facts?: readonly [errnoName: string, errorType: string];
}

test('V2FS-GREPREFUSED bad input is refused in one line', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'corpus'), {
    'a.txt': 'foo\n',
    'large.txt': 'x'.repeat(2 ** 20 + 1),
  });
  const bad = (pattern: string, message: RegExp): Refusal => ({
    body: { pattern },
    status: 400,
    message,
    facts: ['EINVAL', 'bad_request'],
  });
  const refusals: Refusal[] = [
    bad('foo(', /^the pattern does not compile: unclosed group$/),
    bad('x{1000000}', /^the pattern does not compile: compiled regex exceeds size limit of 16777216$/),
    bad('[a', /^the pattern does not compile: unclosed character class, at character 1$/),
    bad('*a', /^the pattern does not compile: repetition operator missing expression, at character 1$/),
    bad('(?=a)', /^the pattern does not compile: look-around, including [^\n]* is not supported, at character 1$/),
    bad('(a)\\1', /^the pattern does not compile: backreferences are not supported, at character 4$/),
    bad('a\nb', /^the pattern does not compile: the literal "\\n" is not allowed in a regex$/),
    bad('a\\nb', /^the pattern does not compile: the literal "\\n" is not allowed in a regex$/),
    {
      body: { pattern: 'a', type: 'none' },
      status: 400,
      message: /^unrecognized file type: none$/,
      facts: ['EINVAL', 'bad_request'],
    },
    {
      body: { pattern: 'a', include: '[a' },
      status: 400,
      message: /^"\[a" is not a glob: unclosed character class; missing '\]'$/,
      facts: ['EINVAL', 'bad_request'],
    },
    {
      body: { pattern: 'a', path: join(root, 'none') },
      status: 404,
      message: /No such file/,
      facts: ['ENOENT', 'not_found'],
    },
    {
      body: { pattern: 'a', path: '/dev/null' },
      status: 400,
      message: /No such device/,
      facts: ['ENXIO', 'invalid_target'],
    },
    {
      body: { pattern: 'a', path: join(root, 'large.txt'), max_file_size: '1M' },
      status: 413,
      message: /File too large/,
      facts: ['EFBIG', 'too_large'],
    },
    {
      body: { pattern: 'a', include: '../x' },
      status: 400,
      message: /"..\/x" leads out of path/,
      facts: ['EINVAL', 'bad_request'],
    },
    {
      body: { pattern: 'a', max_file_size: '1G', multiline: true },
      status: 400,
      message: /more than 512M, with multiline/,
      facts: ['EINVAL', 'bad_request'],
    },
    {
      body: { pattern: 'a', exclude: ['!x'] },
      status: 400,
      message: /"!x" is not a glob/,
      facts: ['EINVAL', 'bad_request'],
    },
    { body: { pattern: '' }, status: 422, message: /at least 1/ },
    { body: { pattern: 'a', max_file_size: '1T' }, status: 422, message: /max_file_size/ },
    { body: { pattern: 'a', max_results: 10_001 }, status: 422, message: /at most 10000/ },
    { body: { pattern: 'a', context_before: -1 }, status: 422, message: /at least 0/ },
  ];
  for (const { body, status, message, facts } of refusals) {
    const reply = await sandbox.request('POST /v2/fs/grep', { path: root, ...body });
    expect([body, reply.status, reply.body.message]).toEqual([body, status, expect.stringMatching(message)]);
    expect([body, (reply.body.hint ?? '').length > 0]).toEqual([body, true]);
    if (!facts) continue;
    expect(reply.body.data).toMatchObject({ errno_name: facts[0], error_type: facts[1], operation: 'grep' });
    expect(Object.keys(reply.body.data)).toHaveLength(9);
  }
});

test('V2FS-GREPEXPLODE a pattern that would backtrack for ever is matched in linear time, or refused in time', async ({
  sandbox,
}) => {
  const root = plantTree(join(sandbox.directory, 'explode'), { 'a.txt': `${'a'.repeat(40)}b\n` });
  expect((await grep(sandbox, root, '^(a+)+$'))['matches']).toEqual([]);

  const asked = { file: join(root, 'a.txt'), regex: '^(?=a)(a+)+$' };
  const answer = sandbox.request('POST /v1/file/search', asked);
  const startedMs = performance.now();
  await sandbox.ok('GET /health');
  expect(performance.now() - startedMs).toBeLessThan(1000);

  expect(await answer).toMatchObject({ body: { success: false, message: expect.stringMatching(tooSlow) } });
});

const tooSlow = /: the pattern takes too long, in .*\/a\.txt$/;

test(
  'V2FS-SKIPPED grep skips unreadable entries below the root, and fails on an unreadable root',
  async ({ sandbox }) => {
    const root = plantTree(join(sandbox.directory, 'closed'), { 'a/x': 'foo\n', 'b/y': 'foo\n', 'c/z': 'foo\n' });
    chmodSync(join(root, 'b'), 0);
    chmodSync(join(root, 'c/z'), 0);
    try {
      expect(hits(root, await grep(sandbox, root, 'foo'))).toEqual(['a/x:1:foo']);
      expect(await sandbox.request('POST /v2/fs/grep', { path: join(root, 'b'), pattern: 'foo' })).toMatchObject({
        status: 403,
        body: { data: { errno_name: 'EACCES', operation: 'grep', path: join(root, 'b') } },
      });
    } finally {
      chmodSync(join(root, 'b'), 0o755);
    }
  },
  asTestAccount(),
);

/** A program that leaves a witness file when it runs. */
function plantRipgrep(sandbox: Sandbox, directory: string, mode: number): string {
  const witness = join(sandbox.directory, 'witness');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'rg'), `#!/bin/sh\necho ran >> ${witness}\nexit 2\n`);
  chmodSync(join(directory, 'rg'), mode);
  return witness;
}

test(
  'V2FS-GREPTRUST the daemon runs the ripgrep that it carries, whatever is on PATH',
  async ({ sandbox }) => {
    const witness = plantRipgrep(sandbox, join(sandbox.directory, 'bin'), 0o755);
    const root = plantTree(join(sandbox.directory, 'corpus'), { a: 'foo\n' });

    const answer = await grep(sandbox, root, 'foo');
    const report = await sandbox.ok('GET /v1/capabilities?refresh=true');

    expect(hits(root, answer)).toEqual(['a:1:foo']);
    expect(await Bun.file(witness).exists()).toBe(false);
    expect(report['files']).toMatchObject({ status: 'ready', missing: [], warnings: [] });
    expect(report['files'].ripgrep).toMatch(/^\/.*\/rg$/);
    expect(report['files'].ripgrep).not.toStartWith(sandbox.directory);
  },
  { env: (sandbox) => ({ PATH: `${join(sandbox.directory, 'bin')}:/usr/bin:/bin` }) },
);

test('V2FS-ABORT a client that disconnects ends the search', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'corpus'), {});
  const text = `${'a'.repeat(150)}\n`.repeat(50_000);
  for (let at = 0; at < 40; at++) writeFileSync(join(root, `f${at}`), text);
  const before = cpuTicks(sandbox);
  const leaving = new AbortController();
  const body = { path: root, pattern: '[a-z]+[a-y]+b', max_file_size: '100M' };
  // The test aborts this request.
  const answer = sandbox.fetch('POST /v2/fs/grep', body, { signal: leaving.signal }).catch(() => null);
  await until('it is being searched', () => sandbox.keepers().length > 0 || cpuTicks(sandbox) > before + 10);
  leaving.abort();
  await answer;

  const logged = () => sandbox.logLines().some((line) => line['route'] === '/v2/fs/grep');
  await until('the search has ended', () => logged() && sandbox.keepers().length === 0);
});

test('V2FS-GREPANY files of any size are searched, and max_file_size leaves larger ones out', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'any'), {
    'big.log': `${'x'.repeat(1_100_000)}\nneedle at the end\nnext\n`,
    'long-lines.txt': `${`${'y'.repeat(900_000)}\n`.repeat(12)}one needle\n`,
    'wide.txt': Buffer.from(`\ufeff${'é'.repeat(700_000)}\nneedle too`, 'utf16le'),
    'small.txt': 'needle\n',
  });
  expect(hits(root, await grep(sandbox, root, 'needle'))).toEqual([
    'big.log:2:needle at the end',
    'long-lines.txt:13:one needle',
    'small.txt:1:needle',
    'wide.txt:2:needle too',
  ]);
  const around = await grep(sandbox, root, 'needle', { context_before: 1, context_after: 1, include: 'big.log' });
  expect(around['matches']).toMatchObject([
    { context_before: [expect.stringMatching(/^x{2000} \[1098000 characters …\]$/)], context_after: ['next'] },
  ]);

  const { hint, data } = (
    await sandbox.request('POST /v2/fs/grep', { path: root, pattern: 'needle', max_file_size: '1M' })
  ).body;
  expect(hits(root, data)).toEqual(['small.txt:1:needle']);
  expect(data).toMatchObject({
    skipped: ['big.log', 'long-lines.txt', 'wide.txt'].map((name) => ({ path: join(root, name), errno_name: 'EFBIG' })),
    skipped_count: 3,
  });
  expect(hint).toBe(
    'Left out: 3 files that are too large. POST /v2/fs/grep with a larger max_file_size searches larger files.',
  );
});

test('V2FS-GREPANY a match across lines is sought in files up to 16 MiB, unless max_file_size says more', async ({
  sandbox,
}) => {
  const root = plantTree(join(sandbox.directory, 'across'), { 'a.txt': 'foo\nbar\n' });
  writeFileSync(join(root, 'large.txt'), `${'x\n'.repeat(9 * 1024 * 1024)}foo\nbar\n`);
  const across = { pattern: 'foo\\nbar', multiline: true };
  const small = await grep(sandbox, root, across.pattern, across);
  expect(hits(root, small)).toEqual(['a.txt:1:foo\nbar']);
  expect(small).toMatchObject({
    skipped: [{ path: join(root, 'large.txt'), errno_name: 'EFBIG' }],
    skipped_count: 1,
  });
  const all = await grep(sandbox, root, across.pattern, { ...across, max_file_size: '64M' });
  expect([hits(root, all).length, all['skipped_count']]).toEqual([2, 0]);
});

test('V2FS-LEFTOUT binary files that match are named, and others do not count', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'binary'), {
    'early.bin': '\0needle\n',
    'late.bin': `needle\n${'x\n'.repeat(200_000)}\0`,
    'behind.bin': `${'x\n'.repeat(700_000)}\0${'x\n'.repeat(700_000)}needle`,
    'other.bin': 'nothing\0here\n',
    'wide-without-mark.txt': Buffer.from('needle\n', 'utf16le'),
    'text.txt': 'needle\n',
  });
  const named = ['behind.bin', 'early.bin', 'late.bin'].map((name) => ({
    path: join(root, name),
    errno_name: 'EILSEQ',
  }));
  const { hint, data } = (await sandbox.request('POST /v2/fs/grep', { path: root, pattern: 'needle' })).body;
  expect(hits(root, data)).toEqual(['text.txt:1:needle']);
  expect(data).toMatchObject({ skipped: named, skipped_count: 3, truncated: false });
  const left = 'Left out: 3 binary files that match.';
  expect(hint).toBe(`${left} POST /v2/commands with grep -a searches binary files as text.`);

  const v1 = (await sandbox.request('POST /v1/file/grep', { path: root, pattern: 'needle' })).body;
  expect(v1.hint).toStartWith(`${left} POST /v1/bash/exec with grep -a searches binary files as text. ${root}/`);
  const tool = await callTool(sandbox, 'sandbox_file_operations', { action: 'grep', path: root, pattern: 'needle' });
  expect(tool.text).toContain(`${left} sandbox_execute_bash with grep -a searches binary files as text. ${root}/`);
  expect(tool.data['skipped']).toEqual(named);

  const one = await grep(sandbox, join(root, 'late.bin'), 'needle');
  expect(one).toMatchObject({ match_count: 0, skipped: [named[2]], skipped_count: 1 });
  const inLine = (await sandbox.request('POST /v1/file/search', { file: join(root, 'late.bin'), regex: 'needle' }))
    .body;
  expect(inLine.hint).toStartWith('Left out: 1 binary file that matches.');
});

test('V2FS-LEFTOUT an answer without matches says which names were not searched', async ({ sandbox }) => {
  const root = plantTree(join(sandbox.directory, 'none'), { '.hidden': 'needle\n', '.ignore': 'x\n', x: 'needle\n' });
  const hintOf = async (more: object) =>
    (await sandbox.request('POST /v2/fs/grep', { path: root, pattern: 'needle', ...more })).body.hint;
  expect(await hintOf({})).toBe(
    'Hidden and ignored names are not searched by default: show_hidden true and ignore none searches them too.',
  );
  expect(await hintOf({ show_hidden: true, ignore: 'none' })).toBe(null);
  // A file that is named is searched whatever its name is.
  expect(await hintOf({ path: join(root, '.ignore') })).toBe(null);
  const byV1 = async (path: string) =>
    (await sandbox.request('POST /v1/file/grep', { path, pattern: 'needle' })).body.hint;
  expect([await byV1(root), await byV1(join(root, '.ignore'))]).toEqual([
    expect.stringContaining('Hidden names'),
    null,
  ]);
});

test(
  'V2FS-LEFTOUT V2FS-SKIPPED entries that cannot be read are counted and named',
  async ({ sandbox }) => {
    const root = join(sandbox.directory, 'closed');
    const { data, hint } = (await sandbox.request('POST /v2/fs/grep', { path: root, pattern: 'needle' })).body;
    expect(hits(root, data)).toEqual(['open:1:needle']);
    const names = ['directory', 'file: with (os error 2)'].map((name) => join(root, name));
    expect(data).toMatchObject({
      skipped: names.map((path) => ({ path, errno_name: 'EACCES' })),
      skipped_count: 2,
    });
    expect(hint).toBe('Left out: 2 entries that could not be read.');
    const v1 = await sandbox.request('POST /v1/file/grep', { path: root, pattern: 'needle' });
    expect([hits(root, v1.body.data), v1.body.hint]).toEqual([
      ['open:1:needle'],
      `Left out: 2 entries that could not be read. ${names.join(' ')}`,
    ]);
  },
  asTestAccount({
    prepare(sandbox) {
      const root = plantTree(join(sandbox.directory, 'closed'), {
        'directory/x': 'needle\n',
        'file: with (os error 2)': 'needle\n',
        open: 'needle\n',
      });
      chmodSync(join(root, 'directory'), 0);
      chmodSync(join(root, 'file: with (os error 2)'), 0);
    },
  }),
);
