/** Builds the ripgrep command line for a query, so that no input of a caller can become an option. */
import { typeGlobs } from './file-type.ts';
import { type FileType, type GrepQuery, longestSearchedLine } from './query.ts';

/** How ripgrep searches, and what it prints. */
export interface SearchForm {
  /** PCRE2 knows look-around and backreferences, in time that is not linear. */
  readonly engine: 'default' | 'pcre2';
  /** `rows` shows only the beginning of a long line, which ripgrep then never has in memory. */
  readonly output: 'json' | 'rows';
}

export interface SearchOptions extends SearchForm {
  readonly isSorted: boolean;
  /** Search binary files up to their end, as text whose lines end at NUL bytes, and report those that match. */
  readonly seesBinary: boolean;
}

/** A compiled pattern takes some times as much while it is compiled, within the memory of a search. */
const maxPatternBytes = 16 * 1024 * 1024;

/** Throws `PatternError` for an unknown type. */
export function searchArguments(query: GrepQuery, options: SearchOptions): string[] {
  const { engine, output, isSorted, seesBinary } = options;
  const { isFixed, isCaseInsensitive, isMultiline, linesBefore, linesAfter } = query;
  return [
    ...(output === 'json' ? ['--json'] : rowArguments),
    // A whole file, or a line of any length, is mapped instead of read. A mapped file is binary only by its beginning.
    isMultiline || output === 'rows' ? '--mmap' : '--no-mmap',
    `--engine=${engine}`,
    `--regex-size-limit=${maxPatternBytes}`,
    `--before-context=${linesBefore}`,
    `--after-context=${linesAfter}`,
    ...(isSorted ? ['--sort=path'] : []),
    ...(seesBinary ? ['--binary'] : []),
    ...(isFixed ? ['--fixed-strings'] : []),
    ...(isCaseInsensitive ? ['--ignore-case'] : ['--case-sensitive']),
    ...(isMultiline ? ['--multiline', '--multiline-dotall'] : []),
    `--regexp=${query.pattern}`,
    ...selectionArguments(query),
  ];
}

/** `<path> NUL <line number> : <line>`, with a `-` for a line around a match. */
const rowArguments = [
  '--no-heading',
  '--with-filename',
  '--null',
  '--line-number',
  '--color=never',
  `--max-columns=${longestSearchedLine}`,
  '--max-columns-preview',
];

/** Arguments that list the files that the same query would search. */
export function listArguments(query: GrepQuery): string[] {
  return ['--files', ...selectionArguments(query)];
}

function selectionArguments(query: GrepQuery): string[] {
  const { fileName, include, exclude, type, maxFileBytes, isRecursive, searchesHidden, obeysIgnoreFiles } = query;
  const filters = [
    ...include.map((glob) => `--glob=${glob}`),
    ...exclude.map((glob) => `--glob=!${glob}`),
    ...typeArguments(type),
  ];
  return [
    '--no-config',
    '--no-ignore-messages',
    ...(obeysIgnoreFiles ? ['--no-ignore-global', '--no-ignore-exclude'] : ['--no-ignore']),
    ...(searchesHidden ? ['--hidden'] : []),
    ...(isRecursive && fileName === null ? [] : ['--max-depth=1']),
    ...(maxFileBytes === null ? [] : [`--max-filesize=${maxFileBytes}`]),
    ...(fileName === null ? filters : []),
    '--',
    `./${fileName ?? ''}`,
  ];
}

/** Defines the type explicitly, because the type tables of ripgrep versions differ. */
function typeArguments(type: FileType | null): string[] {
  if (type === null) return [];
  const { name } = type;
  const globs = typeGlobs(type).map((glob) => `--type-add=${name}:${glob}`);
  return [`--type-clear=${name}`, ...globs, `--type=${name}`];
}
