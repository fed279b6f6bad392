/** The patterns by which a watcher leaves paths out, or tells of them alone. */
import { Glob, GlobError } from '../../kit/glob.ts';

export class PathPattern {
  readonly #glob: Glob;
  /** `src/**` is about `src` too. */
  readonly #directory: Glob | null;
  /** Without a `/` the pattern is about the name alone, at any depth. */
  readonly #isOfName: boolean;
  /** `*.pyc` and its like are most of all patterns, and every event is held against them. */
  readonly #ending: string | null;

  constructor(pattern: string) {
    const body = pattern.replace(/^\.\//, '').replace(/\/+$/, '');
    const path = body.replace(/^\/+/, '');
    this.#isOfName = !body.includes('/');
    this.#ending = /^\*[^*?[\]{}\\/]+$/.test(body) ? body.slice(1) : null;
    this.#glob = globOf(path);
    this.#directory = path.endsWith('/**') ? globOf(path.slice(0, -'/**'.length)) : null;
  }

  /** `path` is below the watched directory, without a `/` at either end. */
  matches(path: string): boolean {
    if (this.#ending !== null) return path.endsWith(this.#ending);
    const names = this.#isOfName ? [path.slice(path.lastIndexOf('/') + 1)] : path.split('/');
    return this.#glob.matches(names) || this.#directory?.matches(names) === true;
  }
}

/** What is no glob stands for itself. */
function globOf(text: string): Glob {
  try {
    return new Glob(text, { hasBraces: true, matchesHidden: true });
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    return new Glob(text.replaceAll(/[\\*?[\]{}]/g, '\\$&'), { hasBraces: false, matchesHidden: true });
  }
}
