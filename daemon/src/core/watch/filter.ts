/** Which entries below a watched directory are followed, and which are told. */
import { PathPattern } from './path-pattern.ts';

/** As in 1.x (contract, Watch). */
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

/** A write that is under way; it is told when it has its own name. */
const unfinished = '.svc-write-*.part';

const plainName = /^[^*?[\]{}\\/]+$/;

export class PathFilter {
  /** Patterns that are plain names. */
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

  /** Neither told nor, when it is a directory, looked into. */
  isExcluded(path: string): boolean {
    return this.#names.has(path.slice(path.lastIndexOf('/') + 1)) || this.#exclude.some((glob) => glob.matches(path));
  }

  isIncluded(path: string): boolean {
    return this.#include.length === 0 || this.#include.some((glob) => glob.matches(path));
  }
}
