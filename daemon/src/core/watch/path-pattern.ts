/** Matches the exclude and include patterns of a watcher. */
import { nullOnNow } from '../../kit/errno.ts';
import { Glob, GlobError } from '../../kit/text/glob.ts';

export class PathPattern {
  readonly #glob: Glob;
  /** `src/**` matches `src` too. */
  readonly #directory: Glob | null;
  /** A pattern without a `/` matches only names, at any depth. */
  readonly #isOfName: boolean;
  /** A fast path, because most patterns look like `*.pyc` and every event is matched against all patterns. */
  readonly #ending: string | null;

  constructor(pattern: string) {
    const body = pattern.replace(/^\.\//, '').replace(/\/+$/, '');
    const path = body.replace(/^\/+/, '');
    this.#isOfName = !body.includes('/');
    this.#ending = /^\*[^*?[\]{}\\/]+$/.test(body) ? body.slice(1) : null;
    this.#glob = globOf(path);
    this.#directory = path.endsWith('/**') ? globOf(path.slice(0, -'/**'.length)) : null;
  }

  /** `path` is relative to the watched directory, without a leading or trailing `/`. */
  matches(path: string): boolean {
    if (this.#ending !== null) return path.endsWith(this.#ending);
    const names = this.#isOfName ? [path.slice(path.lastIndexOf('/') + 1)] : path.split('/');
    return this.#glob.matches(names) || this.#directory?.matches(names) === true;
  }
}

const options = { hasBraces: true, matchesHidden: true } as const;

/** Why a pattern is not a valid glob; null for a valid glob. */
export function globProblem(pattern: string): string | null {
  try {
    void new Glob(pattern.replace(/^\.?\/+/, '').replace(/\/+$/, ''), options);
    return null;
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    return error.message;
  }
}

/** Text that is not a valid glob matches itself literally. */
function globOf(text: string): Glob {
  const asGlob = nullOnNow(GlobError, () => new Glob(text, options));
  return asGlob ?? new Glob(text.replaceAll(/[\\*?[\]{}]/g, '\\$&'), { hasBraces: false, matchesHidden: true });
}
