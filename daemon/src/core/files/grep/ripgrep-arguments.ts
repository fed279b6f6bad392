/** The command line of ripgrep for a query: nothing that a caller says is ever an option. */
import type { GrepQuery } from './query.ts';
import { typeGlobs } from './selection.ts';

/** Throws `PatternError` for a type that is none. */
export function searchArguments(query: GrepQuery, isSorted: boolean): string[] {
  const { isFixed, isCaseInsensitive, isMultiline, linesBefore, linesAfter } = query;
  return [
    '--json',
    `--before-context=${linesBefore}`,
    `--after-context=${linesAfter}`,
    ...(isSorted ? ['--sort=path'] : []),
    ...(isFixed ? ['--fixed-strings'] : []),
    ...(isCaseInsensitive ? ['--ignore-case'] : ['--case-sensitive']),
    ...(isMultiline ? ['--multiline', '--multiline-dotall'] : []),
    `--regexp=${query.pattern}`,
    ...selectionArguments(query),
  ];
}

/** Lists what the same query would search. */
export function countArguments(query: GrepQuery): string[] {
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
    '--no-messages',
    ...(obeysIgnoreFiles ? ['--no-ignore-global', '--no-ignore-exclude'] : ['--no-ignore']),
    ...(searchesHidden ? ['--hidden'] : []),
    ...(isRecursive && fileName === null ? [] : ['--max-depth=1']),
    `--max-filesize=${maxFileBytes}`,
    ...filters,
    '--',
    './',
  ];
}

/** Defined anew, because the tables of its versions differ. */
function typeArguments(type: string | null): string[] {
  if (type === null) return [];
  const globs = typeGlobs(type).map((glob) => `--type-add=${type}:${glob}`);
  return [`--type-clear=${type}`, ...globs, `--type=${type}`];
}

function escapeGlob(name: string): string {
  return name.replaceAll(/[*?[\]{}!#\\ ]/g, String.raw`\$&`);
}
