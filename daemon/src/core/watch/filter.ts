/** Decides which entries below a watched directory are watched and reported. */
import { PathPattern } from './path-pattern.ts';

/** The defaults of version 1.x (contract, Watch). */
export const defaultExclude: readonly string[] = [
  '.git',
  'node_modules',
  '__pycache__',
  '.venv',
  '*.pyc',
  '*.pyo',
  '.DS_Store',
  '*.swp',
  '*.swo',
];

/** A file that is being written. The file is reported when it gets its final name. */
const unfinished = '.svc-write-*.part';

const plainName = /^[^*?[\]{}\\/]+$/;

export class PathFilter {
  readonly #names: ReadonlySet<string>;
  readonly #exclude: readonly PathPattern[];
  readonly #include: readonly PathPattern[];

  constructor(exclude: readonly string[], include: readonly string[]) {
    this.#names = new Set(exclude.filter((pattern) => plainName.test(pattern)));
    this.#exclude = [...exclude.filter((pattern) => !plainName.test(pattern)), unfinished].map(
      (pattern) => new PathPattern(pattern),
    );
    this.#include = include.map((pattern) => new PathPattern(pattern));
  }

  /** True for an entry that is not reported. If the entry is a directory, it is not watched either. */
  isExcluded(path: string): boolean {
    return this.#names.has(path.slice(path.lastIndexOf('/') + 1)) || this.#exclude.some((glob) => glob.matches(path));
  }

  isIncluded(path: string): boolean {
    return this.#include.length === 0 || this.#include.some((glob) => glob.matches(path));
  }
}
