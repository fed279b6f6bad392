/** The skills of a real directory: valid and broken ones, hostile links, huge files and very many folders. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseYaml } from '../../../platform/host/yaml.ts';
import { Skills } from './skills.ts';

let outside = '';
let root = '';
const { signal } = new AbortController();

beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'boxkeep-skills-')));
  root = join(outside, 'skills');
  mkdirSync(root);
});

afterEach(() => rmSync(outside, { recursive: true, force: true }));

const skills = () => new Skills({ directory: root, parseYaml });

function write(path: string, content: string | Uint8Array): string {
  const whole = join(root, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, content);
  return whole;
}

const skill = (name: string, body = 'Do it.\n') => `---\nname: ${name}\ndescription: What ${name} does.\n---\n${body}`;

/** The reason for a folder with this SKILL.md, and null when it is a skill. */
async function reasonFor(content: string | Uint8Array): Promise<string | null> {
  write('tried/SKILL.md', content);
  const { skills: valid, invalid } = await skills().list(signal);
  expect(valid.length + invalid.length).toBe(1);
  return invalid[0]?.reason ?? null;
}

async function refusal(name: string): Promise<string> {
  return await skills()
    .load(name, signal)
    .then(
      () => 'loaded',
      (error: Error & { hint?: string }) => `${error.message} | ${error.hint}`,
    );
}

test('a skill is listed by its name and description, and loaded with its body and its files', async () => {
  write(
    'pdf/SKILL.md',
    '---\nname: pdf-forms\ndescription: >-\n  Fills\n  forms.\nlicense: MIT\n---\n\n# Forms\n\nDo: it.\n',
  );
  write('pdf/scripts/fill.py', 'print()\n');
  write('pdf/REFERENCE.md', 'x');
  write('pdf/.git/config', 'hidden');
  write('README.md', 'not a skill');
  write('.cache/SKILL.md', skill('hidden'));
  const directory = join(root, 'pdf');
  const listed = { name: 'pdf-forms', description: 'Fills forms.', directory };
  expect(await skills().list(signal)).toEqual({ skills: [listed], invalid: [], isCut: false });
  expect(await skills().load('pdf-forms', signal)).toEqual({
    ...listed,
    body: '# Forms\n\nDo: it.',
    bodyPath: join(directory, 'SKILL.md'),
    isBodyCut: false,
    files: ['REFERENCE.md', 'scripts/fill.py'],
    areFilesCut: false,
  });
});

test('a change on disk is visible to the next call', async () => {
  const all = skills();
  expect((await all.list(signal)).skills).toEqual([]);
  write('a/SKILL.md', skill('a'));
  expect((await all.list(signal)).skills.map(({ name }) => name)).toEqual(['a']);
  write('a/SKILL.md', skill('b', 'Changed.'));
  expect((await all.load('b', signal)).body).toBe('Changed.');
  rmSync(join(root, 'a'), { recursive: true });
  expect((await all.list(signal)).skills).toEqual([]);
});

test('a broken SKILL.md is reported by its folder, with the reason', async () => {
  const cases: readonly (readonly [string | Uint8Array, string])[] = [
    ['# No front matter', 'SKILL.md does not begin with front matter between two lines of ---'],
    ['', 'SKILL.md does not begin with front matter between two lines of ---'],
    ['---\nname: a\ndescription: b\n', 'the front matter of SKILL.md has no closing line of ---'],
    [`---\nname: a\n${'#'.repeat(20_000)}\n---\n`, 'the front matter of SKILL.md is longer than 16384 bytes'],
    ['---\n- a\n---\n', 'the front matter of SKILL.md has no name and no description'],
    ['---\n---\n', 'the front matter of SKILL.md has no name and no description'],
    ['---\ndescription: b\n---\n', 'its front matter has no name'],
    ['---\nname: [a]\ndescription: b\n---\n', 'its front matter has no name'],
    ['---\nname: a\n---\n', 'its front matter has no description'],
    ['---\nname: a\ndescription: ""\n---\n', 'its front matter has no description'],
    [`---\nname: ${'a'.repeat(65)}\ndescription: b\n---\n`, 'its name is longer than 64 characters'],
    ['---\nname: "a\\nb"\ndescription: b\n---\n', 'its name has control characters'],
    [
      Buffer.concat([Buffer.from('---\nname: '), Buffer.of(0xff), Buffer.from('\n---\n')]),
      'SKILL.md is not UTF-8 text',
    ],
  ];
  for (const [content, reason] of cases) expect([content, await reasonFor(content)]).toEqual([content, reason]);
  for (const yaml of ['name: a\ndescription: Use: it', `name: ${'['.repeat(16_000)}`, 'a: &a [1]\nb: *c']) {
    expect(await reasonFor(`---\n${yaml}\n---\n`)).toMatch(/^the front matter of SKILL.md is not YAML \(.+\); put /);
  }
  expect(await refusal('tried')).toMatch(
    /^the skill "tried" cannot be loaded: the front matter .* \| Correct the skill/,
  );
  expect(await reasonFor('\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\nBody')).toBeNull();
  expect(await reasonFor('---\nname: a\ndescription: b\n---')).toBeNull();
});

test('a folder without SKILL.md and a second skill of one name are reported', async () => {
  mkdirSync(join(root, 'empty'));
  mkdirSync(join(root, 'folder/SKILL.md'), { recursive: true });
  write('one/SKILL.md', skill('same'));
  write('two/SKILL.md', skill('same'));
  expect(await skills().list(signal)).toMatchObject({
    skills: [{ name: 'same', directory: join(root, 'one') }],
    invalid: [
      { folder: 'empty', reason: 'it has no SKILL.md' },
      { folder: 'folder', reason: 'it is not a regular file' },
      { folder: 'two', reason: 'its name same is that of the skill in one' },
    ],
  });
});

test('nothing outside of the directory is read or listed, whatever the links', async () => {
  writeFileSync(join(outside, 'secret'), skill('secret'));
  mkdirSync(join(outside, 'other'));
  writeFileSync(join(outside, 'other/SKILL.md'), skill('other'));
  symlinkSync(join(outside, 'other'), join(root, 'linked'));
  symlinkSync('../other', join(root, 'relative'));
  for (const [folder, target] of [
    ['absolute', join(outside, 'secret')],
    ['device', '/dev/zero'],
    ['circle', 'SKILL.md'],
    ['root', '/etc/passwd'],
  ] as const) {
    mkdirSync(join(root, folder));
    symlinkSync(target, join(root, folder, 'SKILL.md'));
  }
  Bun.spawnSync(['mkfifo', join(root, 'pipe')]);
  mkdirSync(join(root, 'piped'));
  Bun.spawnSync(['mkfifo', join(root, 'piped/SKILL.md')]);
  write('good/SKILL.md', skill('good'));
  symlinkSync(join(outside, 'secret'), join(root, 'good/secret.md'));
  symlinkSync(outside, join(root, 'good/up'));
  symlinkSync('.', join(root, 'good/loop'));
  const { skills: valid, invalid } = await skills().list(signal);
  expect(valid.map(({ name }) => name)).toEqual(['good']);
  const leads = 'a link leads out of the directory';
  expect(Object.fromEntries(invalid.map(({ folder, reason }) => [folder, reason]))).toEqual({
    absolute: leads,
    circle: 'its links lead in a circle',
    device: leads,
    linked: leads,
    piped: 'it is not a regular file',
    relative: leads,
    root: leads,
  });
  expect((await skills().load('good', signal)).files).toEqual([]);
  for (const name of ['../other', 'linked', 'other', 'secret', '', '/etc/passwd']) {
    expect(await refusal(name)).not.toBe('loaded');
  }
});

test('links inside the directory work, as in a mounted volume', async () => {
  write('volume/..data/SKILL.md', skill('volume'));
  symlinkSync('..data/SKILL.md', join(root, 'volume/SKILL.md'));
  write('volume/..data/notes.md', 'notes');
  symlinkSync('..data/notes.md', join(root, 'volume/notes.md'));
  symlinkSync(root, join(outside, 'alias'));
  const through = new Skills({ directory: join(outside, 'alias'), parseYaml });
  expect(await through.load('volume', signal)).toMatchObject({
    body: 'Do it.',
    files: ['notes.md'],
  });
});

test('a huge skill is cut, and says so', async () => {
  write('huge/SKILL.md', skill('huge', 'é'.repeat(4_000_000)));
  for (let i = 0; i < 600; i++) write(`huge/files/${i}`, '');
  const { body, isBodyCut, files, areFilesCut } = await skills().load('huge', signal);
  expect([Buffer.byteLength(body), isBodyCut, files.length, areFilesCut]).toEqual([256 * 1024, true, 500, true]);
  write('deep/SKILL.md', skill('deep'));
  write(`deep/${'d/'.repeat(20)}file`, '');
  expect(await skills().load('deep', signal)).toMatchObject({ files: [], areFilesCut: true });
  write('long/SKILL.md', `---\nname: long\ndescription: ${'x'.repeat(2000)}\n---\n`);
  const { description } = await skills().load('long', signal);
  expect(description).toBe(`${'x'.repeat(1024)}…`);
});

test('a thousand skills are listed, and more are reported as cut', async () => {
  for (let i = 0; i < 1000; i++) write(`s${i}/SKILL.md`, skill(`s${i}`));
  const full = await skills().list(signal);
  expect([full.skills.length, full.isCut]).toEqual([1000, false]);
  write('t/SKILL.md', skill('t'));
  const cut = await skills().list(signal);
  expect([cut.skills.length, cut.isCut]).toEqual([1000, true]);
  expect(await refusal('nothing')).toMatch(/^there is no skill "nothing" \| .*, and 980 more\.$/);
});

test('without a directory, the refusal says what to set', async () => {
  const message = (directory: string | null) =>
    new Skills({ directory, parseYaml })
      .list(signal)
      .catch((error: Error & { hint?: string }) => [error.message, error.hint]);
  expect(await message(null)).toEqual([
    'no directory of skills is configured',
    'Start the daemon with SVC_SKILLS_PATH set to a directory of skill folders.',
  ]);
  const absent = join(outside, 'absent');
  expect(await message(absent)).toEqual([
    `SVC_SKILLS_PATH ${absent} cannot be opened as a directory (ENOENT)`,
    'Create the directory, or start the daemon with another SVC_SKILLS_PATH.',
  ]);
  writeFileSync(absent, '');
  expect(await message(absent)).toContain(`SVC_SKILLS_PATH ${absent} cannot be opened as a directory (ENOTDIR)`);
  expect(readFileSync(absent, 'utf8')).toBe('');
});
