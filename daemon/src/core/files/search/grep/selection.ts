/** Decides which files are searched, with ripgrep's precedence: globs, ignore files, file type, hidden names. */
import { GlobError } from '../../../../kit/text/glob.ts';
import {
  chainVerdict,
  hasRepository,
  type IgnoreChain,
  type IgnorePattern,
  IgnoreRules,
  lineageOf,
  parseIgnoreLine,
  withIgnoreFile,
} from '../gitignore.ts';
import { typeGlobs } from './file-type.ts';
import { type GrepQuery, PatternError } from './query.ts';

/** The ignore rules of a directory and its parents. A kind with higher precedence wins at any depth. */
export interface IgnoreState {
  readonly own: IgnoreChain | null;
  readonly general: IgnoreChain | null;
  /** Null outside a repository. */
  readonly git: IgnoreChain | null;
  readonly isInRepository: boolean;
}

const nothingIgnored: IgnoreState = { own: null, general: null, git: null, isInRepository: false };

export class Selection {
  readonly #globs: IgnoreRules | null;
  readonly #hasIncludes: boolean;
  readonly #type: IgnoreRules | null;

  /** Throws `PatternError`. */
  constructor(private readonly query: GrepQuery) {
    const { root, include, exclude, type } = query;
    const patterns = [...include, ...exclude.map((glob) => `!${glob}`)].flatMap((line) => parseGlob(line) ?? []);
    this.#globs = patterns.length === 0 ? null : new IgnoreRules(root, patterns);
    this.#hasIncludes = include.length > 0;
    this.#type =
      type === null
        ? null
        : new IgnoreRules(
            root,
            typeGlobs(type).flatMap((line) => parseGlob(line) ?? []),
          );
  }

  /** The state of the parent directories of the root, whose ignore files apply too. */
  start(): IgnoreState {
    if (!this.query.obeysIgnoreFiles) return nothingIgnored;
    const lineage = lineageOf(this.query.root).slice(0, -1);
    return lineage.reduce<IgnoreState>((state, directory) => this.enter(state, directory), nothingIgnored);
  }

  enter(state: IgnoreState, directory: string): IgnoreState {
    if (!this.query.obeysIgnoreFiles) return state;
    const isTop = hasRepository(directory);
    // A nested repository has its own rules.
    const git = isTop ? null : state.git;
    const isInRepository = isTop || state.isInRepository;
    return {
      own: withIgnoreFile(state.own, directory, '.rgignore', 'ripgrep'),
      general: withIgnoreFile(state.general, directory, '.ignore', 'ripgrep'),
      git: isInRepository ? withIgnoreFile(git, directory, '.gitignore', 'ripgrep') : null,
      isInRepository,
    };
  }

  /** Whether to search a file or enter a directory. */
  takes(state: IgnoreState, path: string, name: string, isDirectory: boolean): boolean {
    const named = this.#globs?.verdict(path, isDirectory) ?? null;
    if (named !== null) return named;
    if (this.#hasIncludes && !isDirectory) return false;
    const ignored =
      chainVerdict(state.own, path, isDirectory) ??
      chainVerdict(state.general, path, isDirectory) ??
      chainVerdict(state.git, path, isDirectory);
    if (ignored === true) return false;
    const isOfType = this.#type !== null && !isDirectory ? this.#type.verdict(path, false) === true : null;
    if (isOfType === false) return false;
    return this.query.searchesHidden || ignored === false || isOfType === true || !name.startsWith('.');
  }
}

function parseGlob(line: string): IgnorePattern | null {
  try {
    return parseIgnoreLine(line, 'ripgrep');
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw new PatternError(`${JSON.stringify(line.replace(/^!/, ''))} is not a glob: ${error.message}`);
  }
}
