/** The rules of the repository as functions from files to problems, one line per problem. */
import { anchorsOf, linksOf } from '../documents.mjs';
import type { SourceFile } from './files.ts';

export type Rule = (files: readonly SourceFile[]) => string[];

const isSource = ({ path }: SourceFile): boolean => /\.(ts|mts|mjs|cjs|c|h)$/.test(path);
const isShipped = ({ path }: SourceFile): boolean => path.startsWith('daemon/src/') && !path.endsWith('.test.ts');
/** The specification is kept unchanged, and the lockfile belongs to npm. */
const isOurs = ({ path }: SourceFile): boolean => !path.startsWith('test/contract/') && path !== 'package-lock.json';
const isDocument = ({ path }: SourceFile): boolean => path.endsWith('.md') && !path.startsWith('docs/reference/');

/** Each matching line of a file, as `path:line: what`. */
function lines(files: readonly SourceFile[], pattern: RegExp, what: string): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${what}`] : [])),
  );
}

export const opensWithSentence: Rule = (files) =>
  files
    .filter(isSource)
    .filter(({ text }) => !/[.!?:]$/.test(firstSentence(text)) || firstSentence(text).split(' ').length < 3)
    .map(({ path }) => `${path}: does not open with a sentence that says what it is for`);

/** The first paragraph of the comment that opens a file, without comment markers. */
function firstSentence(text: string): string {
  const body = text.replace(/^#!.*\n/, '');
  const comment = /^\/\*\*?([\s\S]*?)\*\//.exec(body)?.[1] ?? /^(?:\/\/.*\n)+/.exec(body)?.[0] ?? '';
  const plain = comment.replaceAll(/^[ \t]*(?:\*|\/\/) ?/gm, '').trim();
  return (plain.split(/\n\s*\n/)[0] ?? '').replaceAll(/\s+/g, ' ');
}

export const noUnfinishedWork: Rule = (files) =>
  lines(
    files.filter(isOurs),
    new RegExp(String.raw`\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\b`),
    'work that is left open',
  );

/** Places of one machine: its folders, and the registry from which it installs packages. */
export const noForeignPlace: Rule = (files) => {
  const folder = ['', 'work'].join('/');
  const foreignPath = new RegExp(String.raw`\.\.\/shar${'ed'}\b|(?<![\w.}])${folder}(?=[/\s"'\x60),;]|$)`);
  const registry = new RegExp(
    String.raw`https?://[^\s"'\x60/]*(?:regis${'try'}|artifactory|nexus|mirror|pypi|npmjs)[^\s"'\x60/]*`,
    'i',
  );
  return [
    ...lines(files.filter(isOurs), foreignPath, 'a path outside the repository'),
    ...lines(files, registry, 'the host of a package registry'),
  ];
};

/** A program under test with the defaults of its settings would find what runs on this machine. */
export const testsCloseThePortsOfThisMachine: Rule = (files) => {
  const starts = /\[\.\.\.(?:launchCommand|program|sourceProgram)\(|clientCommand\(\), 'start'|\bspawn\w*\(first, rest/;
  return files
    .filter(({ path, text }) => /^test\/.*\.ts$/.test(path) && starts.test(text))
    .filter(({ text }) => !/\b(?:programEnvironment|closedPorts)\b/.test(text))
    .map(({ path }) => `${path}: starts a program without programEnvironment of test/harness/closed-ports.ts`);
};

export const noSilentCatch: Rule = (files) =>
  files
    .filter(isSource)
    .filter(({ text }) => /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}|\.catch\(\s*\(\w*\)\s*=>\s*\{\s*\}\s*\)/.test(text))
    .map(({ path }) => `${path}: a catch without a word why`);

/** The linter covers `Bun`. This rule covers expressions that are not identifiers. */
export const runtimeInOnePlace: Rule = (files) =>
  lines(
    files.filter(isShipped).filter(({ path }) => !/^daemon\/src\/(platform\/|main\.ts$)/.test(path)),
    /\bimport\.meta\.(?:dir|dirname|file|filename|path|url|require)\b/,
    'files are found through platform/ only',
  );

/** Files that read or write a format of Jupyter, ripgrep or npm, whose keys have underscores. */
const foreignFormats = [
  'core/code/backends/jupyter-messages.ts',
  'core/code/backends/kernel.ts',
  'core/code/backends/kernels.ts',
  'core/code/backends/note.ts',
  'core/code/cells/cell.ts',
  'core/code/cells/large-values.ts',
  'core/code/cells/notebook.ts',
  'core/code/cells/outputs.ts',
  'core/files/search/grep/ripgrep-report.ts',
  'core/ops/packages.ts',
].map((path) => `daemon/src/${path}`);

/** Arguments that every surface with an editor has under these names, and a folder. */
const namesOfAll = ['old_str', 'new_str', 'view_range', 'insert_line', 'replace_mode', 'undo_edit', 'node_modules'];

/** Sentences of core that name an argument as one surface does; `advise` of `kit/advice.ts` has slots for that. */
function namedArguments(files: readonly SourceFile[]): string[] {
  const sentence = /'[^'\n]*'|`[^`\n]*`/g;
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      if (/^\s*(?:\/?\*|\/\/)/.test(line)) return [];
      const words = (line.match(sentence) ?? [])
        .filter((literal) => literal.includes(' '))
        .flatMap((literal) => literal.match(/(?<![\w$]|#\{)[a-z]+(?:_[a-z]+)+\b/g) ?? [])
        .filter((word) => !namesOfAll.includes(word));
      return words.map((word) => `${path}:${index + 1}: names the argument ${word}`);
    }),
  );
}

/** Surfaces name routes and wire keys; what is below them does not. */
export const coreKnowsNoWire: Rule = (files) => {
  const inner = files.filter(isShipped).filter(({ path }) => /^daemon\/src\/(?:core|kit|protocols)\//.test(path));
  return [
    ...lines(inner, /\/v[12]\b/, 'names a version of the HTTP interface'),
    ...lines(inner, /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) \//, 'names a route'),
    ...namedArguments(inner.filter(({ path }) => !foreignFormats.includes(path))),
    ...lines(
      inner.filter(({ path }) => !foreignFormats.includes(path)),
      /(?:^|[{,(;]|\breadonly )\s*['"]?[a-z][a-z\d]*(?:_[a-z\d]+)+['"]?\??:(?=\s|$)/,
      'has a key in snake_case',
    ),
  ];
};

/** More files than this are hard to read in one listing. */
const maxInFolder = 25;

/** A folder with more sources says in its README why it is flat. */
export const foldersAreSmall: Rule = (files) => {
  const paths = new Set(files.map(({ path }) => path));
  const sources = files.filter(isSource).filter(({ path }) => !path.includes('.test.'));
  const folders = Map.groupBy(sources, ({ path }) => path.slice(0, path.lastIndexOf('/') + 1));
  return [...folders]
    .filter(([folder, { length }]) => length > maxInFolder && !paths.has(`${folder}README.md`))
    .map(([folder, { length }]) => `${folder} has ${length} sources, and no README.md that says why`);
};

/** Names of declarations that stand for a word of the field (STYLE.md). */
const renamed: Readonly<Record<string, string>> = {
  deeds: 'verbPhrases',
  descent: 'walk',
  farewell: 'reportEnding',
  knock: 'probe',
  most: 'max',
  patience: 'deadline',
  seeOff: 'drain',
  told: 'reported',
  untold: 'unsent',
};

export const namesAreOfTheField: Rule = (files) => {
  const words = Object.keys(renamed).join('|');
  const declared = new RegExp(
    String.raw`(?:\b(?:const|let|using|function|class|type|readonly|get)\s+|[#({,]\s*)(${words})(?=\s*[:=(),?;}])`,
  );
  return files
    .filter(isShipped)
    .filter(({ path }) => path.endsWith('.ts'))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const name = declared.exec(line)?.[1];
        return name === undefined ? [] : [`${path}:${index + 1}: ${name} is called ${renamed[name]} elsewhere`];
      }),
    );
};

/**
 * `npm run gen` writes the version where other tools look for it. The files of package managers name versions of others,
 * and an example shows any version.
 */
export const versionOnce: Rule = (files) => {
  const { version } = parse(files, 'daemon/package.json') as { version: string };
  const isWritten = ({ path }: SourceFile): boolean =>
    /^(?:daemon\/package\.json|daemon\/src\/http\/description\/|CHANGELOG\.md|clients\/python\/src\/boxkeep\/_wire\.py|clients\/typescript\/(?:package\.json|src\/wire\.ts)$|spec\/|docs\/reference\/|deploy\/kubernetes\/)/.test(
      path,
    ) || /(?:package-lock\.json|requirements\.txt|\.lock)$/.test(path);
  const whole = new RegExp(String.raw`(?<![\d.])${version.replaceAll('.', String.raw`\.`)}(?![\w.-]*\d)`);
  return files
    .filter((file) => !isWritten(file) && isOurs(file) && whole.test(file.text))
    .map(({ path }) => `${path}: repeats the version, which is in daemon/package.json`);
};

/** The project had another name before, which only the changelog may mention. */
export const oldNameIsGone: Rule = (files) => {
  // The program of agent-sandbox has the same name, in paths of Go, in variables and in names of its clients.
  const oldName = new RegExp(
    `(?<!(?:packages|cmd)/|Runtime)[sS]andbox${'d'}(?!InCluster|RESTPort|GRPCPort)|SANDBOX${'D'}(?!_(?:REST|GRPC)_ADDR)`,
  );
  return files
    .filter(({ path }) => !path.startsWith('test/contract/') && path !== 'CHANGELOG.md')
    .flatMap((file) => [
      ...(oldName.test(file.path) ? [`${file.path}: has the old name in its path`] : []),
      ...lines([file], oldName, 'the old name of the project'),
    ]);
};

/** A class has one name in the daemon, and a name has one class. */
export const classNamesAreUnique: Rule = (files) => {
  const seen = new Map<string, string>();
  return files
    .filter(({ path }) => path.startsWith('daemon/src/') && path.endsWith('.ts'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?(?:abstract )?class (\w+)/gm)].flatMap(([, name = '']) => {
        const other = seen.get(name);
        seen.set(name, path);
        return other === undefined ? [] : [`${path}: has a class ${name}, as ${other} has`];
      }),
    );
};

/** Declarations of this many members are the same type, whatever their names; shorter ones may agree by chance. */
const minSharedMembers = 3;

/** A type that two files need is in a third. v1 repeats what it needs, so that it can be deleted as a whole. */
export const typesHaveOneHome: Rule = (files) => {
  const declared = files
    .filter(isShipped)
    .filter(({ path }) => path.endsWith('.ts') && !path.startsWith('daemon/src/surfaces/v1/'))
    .flatMap(typesIn);
  return declared.flatMap((type, index) => {
    const other = declared.slice(0, index).find((earlier) => isSameType(earlier, type));
    return other ? [`${type.path}: declares ${type.name}, which is ${other.name} of ${other.path}`] : [];
  });
};

interface DeclaredType {
  readonly path: string;
  readonly name: string;
  readonly isExported: boolean;
  /** Sorted, without comments. */
  readonly members: readonly string[];
}

function isSameType(one: DeclaredType, other: DeclaredType): boolean {
  if (one.path === other.path || one.members.join(';') !== other.members.join(';')) return false;
  return one.name === other.name || (one.isExported && other.isExported && one.members.length >= minSharedMembers);
}

/** Interfaces and aliases at the top of a file, but those that name a value of the file. */
function typesIn({ path, text }: SourceFile): DeclaredType[] {
  const plain = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/ .*/g, '');
  const declarations =
    /^(export )?(?:interface (\w+)([^{\n]*)\{\n([\s\S]*?)\n\}|type (\w+) =([\s\S]*?);)(?=\n(?! |\}))/gm;
  return [...plain.matchAll(declarations)]
    .map(([, exported, name, heritage = '', body, alias, definition]) => ({
      path,
      name: name ?? alias ?? '',
      isExported: exported !== undefined,
      members: `${heritage};${body ?? definition?.replace(/^\s*\{([\s\S]*)\}$/, '$1') ?? ''}`
        .split(';')
        .map((member) => member.replaceAll(/\s+/g, ' ').trim())
        .filter((member) => member !== '')
        .sort(),
    }))
    .filter(({ members }) => members.length > 0 && !members.some((member) => member.includes('typeof ')));
}

/** Limits are called `max…`. */
/** Wording changes, so what a caller needs of our own errors is a class, a code or a field. */
export const ownErrorsAreNotParsed: Rule = (files) =>
  lines(
    files.filter(isShipped),
    /\b(?:error|cause|reason)\.message(?:\.(?:includes|startsWith|endsWith|match|search)\(| [!=]==)/,
    'reads the words of an error',
  );

/** What is written belongs to an object that `compose/` constructs, so that two daemons in one process share nothing. */
export const modulesHoldNoState: Rule = (files) =>
  lines(
    files.filter(isShipped).filter(({ path }) => path.endsWith('.ts')),
    /^(?:export )?(?:let |const \w+(?:: [^=]+)? = new (?:Map|Set)(?:<.*>)?\(\))/,
    'state of a module',
  );

/** A count of lines in a decision is that of the file named before it, within a quarter. */
export const decisionsCountLines: Rule = (files) => {
  const lengths = new Map(files.map(({ path, text }) => [path, text.split('\n').length - 1]));
  const counted = /`([\w./-]+\.ts)`[^`.]*?\babout (\d+) lines/g;
  return files
    .filter(({ path }) => path.startsWith('docs/decisions/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(counted)].flatMap(([, name = '', count]) => {
        const length = lengths.get(name) ?? lengths.get(`daemon/src/${name}`);
        const isRight = length === undefined || Math.abs(length - Number(count)) <= Number(count) / 4;
        return isRight ? [] : [`${path}: ${name} has ${length} lines, not about ${count}`];
      }),
    );
};

/** The table of planes says where each plane stands in every layer. */
export const planesAreListed: Rule = (files) => {
  const shared = ['capabilities', 'identity', 'processes'];
  const planes = new Set(files.flatMap(({ path }) => /^daemon\/src\/core\/(\w+)\//.exec(path)?.[1] ?? []));
  const table = content(files, 'CONTRIBUTING.md');
  return [...planes]
    .filter((plane) => !shared.includes(plane) && !table.includes(`| \`core/${plane}/\``))
    .map((plane) => `CONTRIBUTING.md: has no row for core/${plane}/`);
};

export const limitsAreCalledMax: Rule = (files) =>
  lines(
    files.filter(({ path }) => /\.(?:ts|mjs|cjs|c|h|py)$/.test(path)),
    new RegExp(`\\b${'mos' + 't'}[A-Z][A-Za-z]*\\b`),
    'a limit that is not called max…',
  );

export const dependenciesHaveReasons: Rule = (files) => {
  const named = ['package.json', 'console/package.json', 'daemon/package.json', 'site/package.json'].flatMap((path) => {
    const manifest = parse(files, path) as Record<string, Record<string, string> | undefined>;
    return Object.entries({
      ...manifest['dependencies'],
      ...manifest['devDependencies'],
      ...manifest['optionalDependencies'],
    });
  });
  const reasons = new Set(
    [...content(files, 'docs/dependencies.md').matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]),
  );
  const names = new Set(named.map(([name]) => name));
  return [
    ...named.filter(([name]) => !reasons.has(name)).map(([name]) => `docs/dependencies.md: has no reason for ${name}`),
    ...named
      .filter(([, range]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(range))
      .map(([name, range]) => `${name}: ${range} is not one exact version`),
    ...[...reasons]
      .filter((name) => !names.has(name ?? ''))
      .map((name) => `docs/dependencies.md: ${name} is not a dependency`),
  ];
};

export const lockfileNamesNoHost: Rule = (files) =>
  lines(
    files.filter(({ path }) => path === 'package-lock.json'),
    /"resolved": "[a-z+]+:/,
    'an address',
  );

/** npm omits packages for another platform that it cannot find, and then `npm ci` refuses the lockfile everywhere. */
export const lockfileIsWhole: Rule = (files) => {
  const { packages = {} } = parse(files, 'package-lock.json') as {
    packages?: Record<string, { optionalDependencies?: object }>;
  };
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages))
      .map(
        (name) =>
          `package-lock.json: lacks ${name}; make it anew with npm install --package-lock-only in an empty copy`,
      ),
  );
};

/** The notes of a release are the part of the changelog that has its version; later changes stand above it. */
export const changelogIsKept: Rule = (files) => {
  const { version } = parse(files, 'daemon/package.json') as { version: string };
  const [newest = '', next = ''] = [...content(files, 'CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, name]) => name);
  const dated = newest === 'Unreleased' ? next : newest;
  return /^\S+ \(\d{4}-\d\d-\d\d\)$/.test(dated) && dated.startsWith(`${version} `)
    ? []
    : [`CHANGELOG.md: begins with neither "## ${version} (date)" nor "## Unreleased" and that`];
};

/** The folders that a path in a document may be relative to. */
const bases = ['', 'daemon/src/', 'native/'];

export const documentsNamePathsThatExist: Rule = (files) => {
  const known = new Set(files.flatMap(({ path }) => [path, ...folders(path)]));
  const starts = new Set(
    [...known].flatMap((path) =>
      bases.filter((base) => path.startsWith(base)).map((base) => path.slice(base.length).split('/')[0]),
    ),
  );
  const exists = (path: string): boolean => bases.some((base) => known.has(base + path));
  return files
    .filter((file) => isDocument(file) && isOurs(file))
    .flatMap((file) => {
      const quoted = pathsIn(file.text).filter(
        (path) => starts.has(path.split('/')[0]) || /\.(ts|mjs|cjs|md|c|h)$/.test(path),
      );
      const linked = linksOf(file.path, file.text).map(({ path }) => path);
      return [...quoted.filter((path) => !exists(path)), ...linked.filter((path) => !known.has(path))].map(
        (path) => `${file.path}: names ${path}, which does not exist`,
      );
    });
};

/** An anchor that no heading has leads to the top of the page, where the reader searches in vain. */
export const linksNameHeadings: Rule = (files) => {
  const anchors = new Map(
    files.filter(({ path }) => path.endsWith('.md')).map(({ path, text }) => [path, anchorsOf(text)]),
  );
  return files
    .filter((file) => isDocument(file) && isOurs(file))
    .flatMap((file) =>
      linksOf(file.path, file.text)
        .filter(({ path, anchor }) => anchor !== '' && !(anchors.get(path)?.includes(anchor) ?? true))
        .map(({ path, anchor }) => `${file.path}: links to ${path}#${anchor}, which is not a heading`),
    );
};

function folders(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/**
 * The texts in backticks that have the form of a path. For a pattern (`core/<plane>/x.ts`), only the fixed beginning.
 */
function pathsIn(text: string): string[] {
  const inline = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\s]+)`/g)].map((match) => match[1] ?? '');
  return inline
    .filter(
      (word) =>
        /^[\w.@][\w.@<>*{},+-]*(?:\/[\w.@<>*{},+-]*)*$/.test(word) &&
        (word.includes('/') || /\.(?:md|mjs|cjs)$/.test(word)),
    )
    .map((word) => word.replace(/\/?[^/]*[<*{].*$/, '').replace(/\/$/, ''))
    .filter((word) => word !== '' && !/^\.{1,2}$/.test(word));
}

export interface Requirement {
  readonly id: string;
  readonly text: string;
  readonly plane: string;
  readonly status: 'covered' | 'pending';
}

const planes = [
  'commands',
  'http',
  'operations',
  'files',
  'watch',
  'terminals',
  'code',
  'browser',
  'desktop',
  'mcp',
  'images',
  'v1',
];

export const requirementsAreTested: Rule = (files) => {
  const requirements = parse(files, 'test/conformance/requirements.json') as Requirement[];
  const quoted = files
    .filter(({ path }) => /^(?:test|daemon\/src)\/.*\.test\.ts$/.test(path))
    .flatMap((file) => quotedIds(file));
  const tested = new Set(quoted.map(({ id }) => id));
  const ids = requirements.map(({ id }) => id);
  return [
    ...requirements
      .filter(({ id, status }) => status === 'covered' && !tested.has(id))
      .map(({ id }) => `${id}: is covered, but no test quotes it`),
    ...quoted
      .filter(({ id }) => !ids.includes(id))
      .map(({ id, path }) => `${path}: quotes ${id}, which is not a requirement`),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: exists twice`),
    ...requirements
      .filter(({ plane, status }) => !planes.includes(plane) || !['covered', 'pending'].includes(status))
      .map(({ id, plane, status }) => `${id}: plane ${plane}, status ${status}`),
  ];
};

/** The ids at the beginning of a test's title: `test('CMD-1 a run answers…`. Several ids are separated by spaces. */
export function quotedIds({ path, text }: SourceFile): { path: string; id: string }[] {
  const titles = [
    ...text.matchAll(
      /\b(?:t|clientT|consoleT|engineT|programT)est(?:\.\w+)*(?:\([^()]*\))?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g,
    ),
  ].map((match) => match[2] ?? '');
  return titles.flatMap((title) => {
    const leading = /^(?:[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+[ ,]+)+/.exec(title)?.[0] ?? '';
    return leading
      .split(/[ ,]+/)
      .filter(Boolean)
      .map((id) => ({ path, id }));
  });
}

function content(files: readonly SourceFile[], path: string): string {
  return files.find((file) => file.path === path)?.text ?? '';
}

function parse(files: readonly SourceFile[], path: string): unknown {
  return JSON.parse(content(files, path) || '{}');
}
