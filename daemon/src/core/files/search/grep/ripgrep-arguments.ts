/** Builds the ripgrep command line for a query, so that no input of a caller can become an option. */
import { typeGlobs } from './file-type.ts';
import type { FileType, GrepQuery } from './query.ts';

export interface SearchOptions {
  readonly isSorted: boolean;
  /** Search binary files up to their end, as text whose lines end at NUL bytes, and report those that match. */
  readonly seesBinary: boolean;
}

/** Throws `PatternError` for an unknown type. */
export function searchArguments(query: GrepQuery, { isSorted, seesBinary }: SearchOptions): string[] {
  const { isFixed, isCaseInsensitive, isMultiline, linesBefore, linesAfter } = query;
  return [
    '--json',
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

/** Arguments that list the files that the same query would search. */
export function listArguments(query: GrepQuery): string[] {
  return ['--files', ...selectionArguments(query)];
}

function selectionArguments(query: GrepQuery): string[] {
  const { fileName, include, exclude, type, maxFileBytes, isRecursive, searchesHidden, obeysIgnoreFiles } = query;
  const filters =
    fileName === null
      ? [
          ...include.map((glob) => `--glob=${glob}`),
          ...exclude.map((glob) => `--glob=!${glob}`),
          ...typeArguments(type),
        ]
      : [`--glob=/${escapeGlob(fileName)}`];
  return [
    '--no-config',
    '--no-ignore-messages',
    ...(obeysIgnoreFiles ? ['--no-ignore-global', '--no-ignore-exclude'] : ['--no-ignore']),
    ...(searchesHidden ? ['--hidden'] : []),
    ...(isRecursive && fileName === null ? [] : ['--max-depth=1']),
    ...(maxFileBytes === null ? [] : [`--max-filesize=${maxFileBytes}`]),
    ...filters,
    '--',
    './',
  ];
}

/** Defines the type explicitly, because the type tables of ripgrep versions differ. */
function typeArguments(type: FileType | null): string[] {
  if (type === null) return [];
  const { name } = type;
  const globs = typeGlobs(type).map((glob) => `--type-add=${name}:${glob}`);
  return [`--type-clear=${name}`, ...globs, `--type=${name}`];
}

function escapeGlob(name: string): string {
  return name.replaceAll(/[*?[\]{}!#\\ ]/g, String.raw`\$&`);
}
