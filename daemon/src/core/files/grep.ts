/** Searches the contents of files, by ripgrep where that can be trusted, else by an engine with the same answers. */
import { promises as fs } from 'node:fs';
import { CoreError } from '../../kit/errors.ts';
import { asFileOperation, FileFailure } from '../../kit/file-failure.ts';
import { decodePath, systemPath } from '../../kit/path-text.ts';
import type { FilesContext } from './context.ts';
import { newlineRefusal } from './grep/pattern.ts';
import {
  type GrepBackend,
  type GrepEngine,
  type GrepFound,
  type GrepMatch,
  type GrepQuery,
  PatternError,
} from './grep/query.ts';
import { RipgrepFailure } from './grep/ripgrep.ts';
import { join } from './gitignore.ts';

export interface GrepRequest extends Omit<GrepQuery, 'root' | 'fileName' | 'limit'> {
  readonly path: string;
  readonly user: string | null;
  /** Matches passed over. */
  readonly offset: number;
  readonly maxResults: number;
}

export interface GrepResult {
  readonly path: string;
  /** In the order of the tree. */
  readonly matches: readonly GrepMatch[];
  /** Null where they were not counted: the limit ended the search, or the tree is large. */
  readonly filesSearched: number | null;
  /** Files with a match, as far as the search came. */
  readonly filesMatched: number;
  /** Who answered. */
  readonly engine: GrepEngine;
  readonly isTruncated: boolean;
}

/** Largest text that the built-in engine holds in memory. */
export const mostFileBytes = 512 * 1024 * 1024;
/** Each takes a thread or a process, and the processors are not more. */
const maxRunning = 16;

const hints = {
  pattern: 'Patterns have the syntax of ripgrep; fixed_strings takes the text as it is.',
  glob: 'Globs are as in .gitignore files, with {a,b}; exclude takes those of what is to be left out.',
  large: 'Give a larger max_file_size, up to 512M.',
} as const;

interface Answered extends GrepFound {
  readonly engine: GrepEngine;
}

export class Grep {
  #running = 0;

  constructor(
    private readonly files: Pick<FilesContext, 'places'>,
    /** Null when there is none that can be trusted, now. */
    private readonly findRipgrep: () => GrepBackend | null,
    private readonly builtIn: GrepBackend,
  ) {}

  /** Throws the `FileFailure` of the path or of the pattern, `bad_argument` and `capacity_reached`. */
  async search(request: GrepRequest, signal: AbortSignal): Promise<GrepResult> {
    const path = this.files.places.resolve(request.path, request.user);
    const { offset, maxResults, ...rest } = request;
    // One more than is asked for tells whether there is more.
    const query = { ...rest, ...(await this.#placeOf(path, request)), limit: offset + maxResults + 1 };
    refuseUnlessSound(query, path);
    const found = await this.#bounded(() => this.#ask(query, path, signal));
    const reached = found.matches.slice(0, offset + maxResults);
    return {
      path,
      matches: reached.slice(offset),
      filesSearched: found.filesSearched,
      filesMatched: new Set(reached.map((match) => match.path)).size,
      engine: found.engine,
      isTruncated: found.matches.length > reached.length || signal.aborted,
    };
  }

  /** A file that is named is searched whatever the filters say, but never silently left out for its size. */
  async #placeOf(path: string, { maxFileBytes }: GrepRequest): Promise<Pick<GrepQuery, 'root' | 'fileName'>> {
    return asFileOperation('grep', path, async () => {
      const status = await fs.stat(systemPath(path));
      await fs.access(systemPath(path), fs.constants.R_OK);
      if (status.isDirectory()) return { root: path, fileName: null };
      if (!status.isFile()) throw new FileFailure({ operation: 'grep', path, errnoName: 'ENXIO' });
      if (status.size > maxFileBytes) {
        throw new FileFailure({ operation: 'grep', path, errnoName: 'EFBIG', hint: hints.large });
      }
      const real = await realPath(path);
      const at = real.lastIndexOf('/');
      return { root: at === 0 ? '/' : real.slice(0, at), fileName: real.slice(at + 1) };
    });
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= maxRunning) {
      throw new CoreError('capacity_reached', `${maxRunning} searches run already`, { hint: 'Try again in a moment.' });
    }
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  async #ask(query: GrepQuery, path: string, signal: AbortSignal): Promise<Answered> {
    try {
      const ripgrep = isText(query) && !query.hasLookAround ? this.findRipgrep() : null;
      const byRipgrep = ripgrep && (await ripgrep.search(query, signal).catch(unlessItFailed));
      const found = byRipgrep ?? (await this.builtIn.search(query, signal));
      return { ...renamed(found, query, path), engine: byRipgrep ? 'ripgrep' : 'built-in' };
    } catch (error) {
      throw error instanceof PatternError ? refusal(path, error.message) : error;
    }
  }
}

/** What the engines would take in different ways. */
function refuseUnlessSound({ pattern, isMultiline, include, exclude, maxFileBytes }: GrepQuery, path: string): void {
  if (!isMultiline && pattern.includes('\n')) throw refusal(path, newlineRefusal);
  for (const glob of [...include, ...exclude]) {
    const told = JSON.stringify(glob);
    if (glob.split('/').includes('..')) throw refusal(path, `${told} leads out of path`, hints.glob);
    if (/^[!#]|^\s*$/.test(glob))
      throw refusal(path, `${told} is no glob: it is empty, or begins with ! or #`, hints.glob);
  }
  if (maxFileBytes > mostFileBytes) throw refusal(path, 'max_file_size is more than 512M', hints.large);
}

/** Whatever is wrong with the program: the built-in engine answers. */
function unlessItFailed(error: unknown): null {
  if (error instanceof RipgrepFailure) return null;
  throw error;
}

/** A file that was reached through a link is told by the path that was asked for. */
function renamed(found: GrepFound, { root, fileName }: GrepQuery, path: string): GrepFound {
  if (fileName === null || join(root, fileName) === path) return found;
  return { ...found, matches: found.matches.map((match) => ({ ...match, path })) };
}

async function realPath(path: string): Promise<string> {
  return decodePath(await fs.realpath(systemPath(path), { encoding: 'buffer' }));
}

/** Arguments of a program are text without a NUL byte; what is none goes to the built-in engine. */
function isText({ root, fileName, include, exclude, pattern }: GrepQuery): boolean {
  return [root, fileName ?? '', pattern, ...include, ...exclude].every(
    (text) => text.isWellFormed() && !text.includes('\0'),
  );
}

function refusal(path: string, message: string, hint: string = hints.pattern): FileFailure {
  return new FileFailure({ operation: 'grep', path, errnoName: 'EINVAL', message, hint });
}
