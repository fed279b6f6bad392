/** The built-in engine and ripgrep find the same matches in random small trees, for every pattern that both support. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { provideRipgrep } from '../../../../../../tools/setup.mjs';
import { placeOf } from '../../read/ordering.ts';
import fileTypes from '../../../../assets/tables/file-types.txt' with { type: 'text' };
import { grepTree } from './engine.ts';
import { fileTypeNamed } from './file-type.ts';
import { type GrepQuery, PatternError } from './query.ts';
import { searchArguments } from './ripgrep-arguments.ts';
import { RipgrepReport } from './ripgrep-report.ts';

const home = mkdtempSync(join(tmpdir(), 'boxkeep-grep-'));
beforeAll(() => provideRipgrep());
afterAll(() => rmSync(home, { recursive: true, force: true }));

const plain: Omit<GrepQuery, 'root' | 'pattern'> = {
  fileName: null,
  isFixed: false,
  isCaseInsensitive: false,
  isMultiline: false,
  include: [],
  exclude: [],
  type: null,
  hasLookAround: false,
  cutsLines: true,
  linesBefore: 0,
  linesAfter: 0,
  maxFileBytes: 1024 * 1024,
  isRecursive: true,
  searchesHidden: false,
  obeysIgnoreFiles: true,
  limit: 100_000,
  offset: 0,
};

const typeNamed = (name: string) => fileTypeNamed(name, fileTypes);

function byRipgrep(query: GrepQuery): unknown {
  const args = searchArguments(query, { isSorted: false, seesBinary: true });
  const { stdout, stderr } = Bun.spawnSync(['rg', ...args], { cwd: query.root, env: { PATH: process.env['PATH'] } });
  const report = new RipgrepReport(query, 0);
  let start = 0;
  for (let end = stdout.indexOf(0x0a); end !== -1; end = stdout.indexOf(0x0a, start)) {
    report.add(stdout.subarray(start, end));
    start = end + 1;
  }
  if (!report.isWhole) return stderr.toString() === '' ? 'silent' : 'refused';
  const matches = report.matches.toSorted((a, b) => {
    const [left, right] = [placeOf(a.path), placeOf(b.path)];
    return left === right ? a.lineNumber - b.lineNumber : left < right ? -1 : 1;
  });
  return { matches, binary: report.binaryFiles.toSorted() };
}

function byBuiltIn(query: GrepQuery): unknown {
  try {
    const { matches, skipped } = grepTree(query);
    const binary = skipped.filter(({ errnoName }) => errnoName === 'EILSEQ').map(({ path }) => path);
    return { matches, binary: binary.toSorted() };
  } catch (error) {
    if (error instanceof PatternError) return 'refused';
    throw error;
  }
}

function expectSame(query: GrepQuery): void {
  const label = [query.pattern, { ...query, root: '' }];
  expect([...label, byBuiltIn(query)]).toEqual([...label, byRipgrep(query)]);
}

let count = 0;
type Files = readonly (readonly [path: string, content: string | Uint8Array])[];

function withTree(files: Files, work: (root: string) => void): void {
  const root = join(home, `tree-${count++}`);
  mkdirSync(root);
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  work(root);
  rmSync(root, { recursive: true });
}

const odd: Files = [
  ['plain.txt', 'one\ntwo foo\n\nfoo foo\nend'],
  ['crlf.txt', 'foo\r\nbar\r\n\r\nfoo'],
  ['latin', Buffer.from('caf\xe9 foo\n\xff\xfe\nna\xefve\n', 'latin1')],
  ['bom', '\ufefffoo first\n'],
  ['utf16', Buffer.from('\ufefffoo wide é\nnext\n', 'utf16le')],
  ['binary', 'foo\n\0foo\n'],
  ['late-binary', `foo\n${'x '.repeat(75_000)}\n\0\n`],
  ['empty', ''],
  ['newline', '\n'],
  ['blank', '\n\n\n'],
  ['words.md', 'naïve café Ünïcode ΑΒΓ αβγ ٣٤ 42 a_b  x\n\tTab\u2028sep\u00a0nbsp\n'],
  ['.hidden', 'foo hidden\n'],
  ['sub/.git/HEAD', 'foo\n'],
  ['sub/.gitignore', '*.log\n!keep.log\nbuild/\n{x,y}.tmp\n'],
  ['sub/a.log', 'foo log\n'],
  ['sub/keep.log', 'foo keep\n'],
  ['sub/x.tmp', 'foo tmp\n'],
  ['sub/build/o.txt', 'foo built\n'],
  ['sub/.ignore', '!a.log\nsecret*\n'],
  ['sub/secret.txt', 'foo secret\n'],
  ['outside.log', 'foo outside\n'],
  ['.gitignore', 'outside.log\n'],
  ['code.ts', 'const foo = 1;\nfunction bar() {\n  return foo;\n}\n'],
  ['code.py', 'def foo():\n  pass\n'],
  ['a-b/x', 'foo\n'],
  ['a/x', 'foo\n'],
];

const patterns = [
  'foo',
  'Foo',
  '(?i)FOO',
  'f(?i:O)o',
  '^foo',
  'foo$',
  '^$',
  '^',
  '$',
  'o+',
  '[^o]+',
  '.',
  'caf.',
  'caf\\W',
  'na.ve',
  '\\bfoo\\b',
  '\\w+ve\\b',
  '\\d+',
  '\\D',
  '\\s',
  '\\S+$',
  '[[:alpha:]]+$',
  '[[:^alpha:]]',
  '[\\w&&[^a-z]]',
  '[a-z--o]+',
  '\\p{Greek}+',
  '\\pL\\pN',
  '\\PL',
  'a|',
  'x*',
  '(foo|bar)\\(',
  '\\x66oo',
  '\\x{66}oo',
  '\\u0066',
  'foo\\z',
  '\\Afoo',
  '(?P<n>fo+)',
  '(?:ba)r',
  '[]o]',
  '[^]o]',
  'a{2}',
  'o{1,2}',
  'o{2,}',
  'o{1,2}?',
  'fo**',
  '\\t',
  '[\\t ]',
  'é',
  '\\.',
  '(?i)αβγ',
  '(?i)ÜNÏ',
  '\\r',
  '\\r$',
  '(?s)foo.',
  'foo(?i)X|BAR',
  '(?-i)foo',
  '(?m)^foo',
  '😀|x',
  // Patterns that Rust's regex refuses.
  '(',
  ')',
  '[a',
  'a{2,1}',
  '*a',
  '(?=foo)',
  '(?<!a)foo',
  '(a)\\1',
  '\\y',
  'foo{',
  '\\p{Nothing}',
  '[[:nothing:]]',
  '[z-a]',
  '\\',
  'a\\nb',
  '(?P<n',
  '(?z)a',
];

test('unusual files and patterns give the same matches in both engines', () => {
  withTree(odd, (root) => {
    symlinkSync('plain.txt', join(root, 'link'));
    symlinkSync('nowhere', join(root, 'dangling'));
    symlinkSync('sub', join(root, 'sublink'));
    for (const pattern of patterns) expectSame({ ...plain, root, pattern });
    for (const pattern of patterns)
      expectSame({ ...plain, root, pattern, isCaseInsensitive: true, linesBefore: 1, linesAfter: 2 });
    for (const pattern of patterns) expectSame({ ...plain, root, pattern, isFixed: true });
  });
});

test('a match across lines is the same in both engines', () => {
  withTree(
    odd.filter(([path]) => !path.includes('binary')),
    (root) => {
      for (const pattern of [
        'foo',
        'foo\\n',
        'foo.*end',
        'two.foo',
        '\\{.*\\}',
        'one\\ntwo',
        '\\nfoo',
        'o\\n\\n',
        '\\s+',
        'a*\\r?\\n',
        '^foo$',
        '[^x]*return',
        'one\ntwo',
      ]) {
        expectSame({ ...plain, root, pattern, isMultiline: true, linesBefore: 1, linesAfter: 1 });
      }
    },
  );
});

test('globs, types, hidden names, ignore files and sizes apply in the same order in both engines', () => {
  withTree(odd, (root) => {
    const variations: Partial<GrepQuery>[] = [
      { include: ['*.ts'] },
      { include: ['*.{ts,py}'] },
      { include: ['*'] },
      { include: ['.hidden'] },
      { include: ['*.log'] },
      { include: ['sub/**'] },
      { include: ['sub'] },
      { include: ['/code.ts'] },
      { include: ['**/x'] },
      { include: ['a/x', '*.py'] },
      { exclude: ['*.ts'] },
      { exclude: ['sub'] },
      { exclude: ['sub/'] },
      { include: ['*.ts', '*.py'], exclude: ['code.py'] },
      { exclude: ['sub/*.txt'] },
      { type: typeNamed('ts') },
      { type: typeNamed('py'), include: ['*.ts'] },
      { type: typeNamed('md') },
      { type: typeNamed('log') },
      { searchesHidden: true },
      { searchesHidden: true, exclude: ['.git'] },
      { obeysIgnoreFiles: false },
      { obeysIgnoreFiles: false, searchesHidden: true },
      { isRecursive: false },
      { maxFileBytes: 10 },
      { fileName: 'plain.txt' },
      { fileName: '.hidden' },
      { fileName: 'outside.log', type: typeNamed('ts') },
      { fileName: 'binary' },
      { fileName: 'late-binary' },
    ];
    for (const variation of variations) {
      for (const place of ['', 'sub', 'a'])
        expectSame({ ...plain, root: join(root, place), pattern: 'foo', ...variation });
    }
  });
});

test.each(['!', '!/', '/', '!\n.ignore', '!{}'])(
  'an ignore file with %j has the same effect in both engines',
  (content) => {
    withTree(
      [
        ['.ignore', content],
        ['.hidden', 'foo !'],
        ['sub/.hidden', 'foo'],
        ['plain', 'foo'],
      ],
      (root) => expectSame({ ...plain, root, pattern: 'foo|!' }),
    );
  },
);

const text = fc
  .array(fc.constantFrom('foo', 'fo', 'bar', 'é', '\n', '\n', '\r\n', ' ', '\t', 'A', '_', '9', '\u2028', '😀'), {
    maxLength: 30,
  })
  .map((parts) => parts.join(''));
const content = fc.oneof({ weight: 6, arbitrary: text }, { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) });
const files = fc.uniqueArray(
  fc.tuple(fc.constantFrom('a', 'b.ts', 'c/d', 'c/e.ts', '.h', 'c-d', 'g/.gitignore', '.ignore'), content),
  {
    selector: ([path]) => path,
    minLength: 1,
    maxLength: 6,
  },
);
const atom = fc.constantFrom(
  'foo',
  'o',
  'bar',
  '.',
  '[a-f]',
  '[^a-z]',
  '\\w',
  '\\W',
  '\\d',
  '\\s',
  '\\S',
  'é',
  '\\b',
  '(?:fo)',
  '(a|o)',
  '[[:alnum:]]',
  '_',
  '\\pL',
);
const repeated = fc
  .tuple(atom, fc.constantFrom('', '', '', '*', '+', '?', '{1,2}', '+?'))
  .map(([one, count]) => (one === '\\b' ? one : one + count));
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '^', '(?i)'),
    fc.array(repeated, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '$', '|bar'),
  )
  .map(([start, parts, end]) => start + parts.join('') + end);

test('any small tree and any pattern give the same matches in both engines', () => {
  fc.assert(
    fc.property(
      files,
      fc.array(pattern, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      fc.nat({ max: 2 }),
      (tree, some, isCaseInsensitive, lines) => {
        withTree(tree, (root) => {
          for (const one of some)
            expectSame({ ...plain, root, pattern: one, isCaseInsensitive, linesBefore: lines, linesAfter: lines });
        });
      },
    ),
    { numRuns: 60 },
  );
});
