/** Searches file contents with the ripgrep that the daemon carries. */
import { promises as fs } from 'node:fs';
import { advise } from '../../../kit/advice.ts';
import { CoreError, type NextStep } from '../../../kit/errors.ts';
import type { MemoryBudget } from '../../../kit/memory-budget.ts';
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import { decodePath, systemPath } from '../../../kit/text/path-text.ts';
import type { PathResolver } from '../../processes/directory.ts';
import { fileTypeNamed } from './grep/file-type.ts';
import {
  type FileType,
  type GrepFound,
  type GrepQuery,
  LineTooLong,
  maxFoundLength,
  PatternError,
} from './grep/query.ts';
import { newlineRefusal } from './grep/ripgrep-errors.ts';
import type { RipgrepGrep } from './grep/ripgrep.ts';
import { join } from './gitignore.ts';

export interface GrepRequest extends Omit<GrepQuery, 'root' | 'fileName' | 'type' | 'limit'> {
  readonly path: string;
  readonly user: string | null;
  /** A name from the table of file types. */
  readonly type: string | null;
  readonly maxResults: number;
}

export interface GrepResult extends Pick<GrepFound, 'matches' | 'skipped'> {
  readonly path: string;
  /** The path is a file, which is searched whatever its name is. */
  readonly isFile: boolean;
  /** Null when the files were not counted, because the limit ended the search or the tree is large. */
  readonly filesSearched: number | null;
  /** Number of files with a match, up to the point where the search ended. */
  readonly filesMatched: number;
  readonly isTruncated: boolean;
  /** Null when not counted. */
  readonly skippedCount: number | null;
}

const mebibyte = 1024 * 1024;
/** A match across lines needs the whole text in memory, so this is the largest text that a caller may ask for. */
const maxMultilineBytes = 512 * mebibyte;
const defaultMultilineBytes = 16 * mebibyte;
/** Bytes of memory for each byte of such a text: as read, as found, as printed, and as read by the daemon. */
const bytesPerTextByte = 4;
/** Bytes of memory for each character of an answer: as found, and as sent. */
const bytesPerFound = 3;
/** Each search takes a process. More searches than processors are not faster. */
const maxRunning = 16;

const hints = {
  pattern: 'Patterns have the syntax of ripgrep; a backslash makes a special character literal.',
  glob: 'Globs have the syntax of .gitignore files, and {a,b}. Pass the globs of unwanted files as exclude.',
} as const;

export interface GrepDeps {
  readonly paths: PathResolver;
  readonly room: MemoryBudget;
  /** Loads the table that `fileTypeNamed` reads. */
  readonly fileTypes: () => Promise<string>;
}

export class Grep {
  #running = 0;

  constructor(
    private readonly files: GrepDeps,
    private readonly ripgrep: RipgrepGrep,
  ) {}

  /** Throws the `FileFailure` of the path or of the pattern, `bad_argument`, `capacity_reached` and `unavailable`. */
  async search(request: GrepRequest, signal: AbortSignal): Promise<GrepResult> {
    const path = this.files.paths.resolve(request.path, request.user);
    const { maxResults, ...rest } = request;
    const { offset } = rest;
    const maxFileBytes = request.maxFileBytes ?? (request.isMultiline ? defaultMultilineBytes : null);
    const place = await this.#placeOf(path, maxFileBytes);
    const type = await this.#typeNamed(request.type);
    // Request one match more than needed, to detect that more matches exist.
    const query = { ...rest, ...place, type, maxFileBytes, limit: offset + maxResults + 1 };
    refuseUnlessSound(query, path);
    this.#refuseTooLarge(query, path);
    const found = await this.#bounded(() => this.#ask(query, path, signal));
    const reached = found.matches.slice(0, offset + maxResults);
    return {
      path,
      isFile: place.fileName !== null,
      matches: reached.slice(offset),
      filesSearched: found.filesSearched,
      filesMatched: new Set(reached.map((match) => match.path)).size,
      isTruncated: found.matches.length > reached.length || found.isCut || signal.aborted,
      skipped: found.skipped,
      skippedCount: found.skippedCount,
    };
  }

  /**
   * A single file is searched even if the filters exclude it. If the file is too large, the search fails, because
   * skipping the file would hide matches.
   */
  async #placeOf(path: string, maxFileBytes: number | null): Promise<Pick<GrepQuery, 'root' | 'fileName'>> {
    return asFileOperation('grep', path, async () => {
      const status = await fs.stat(systemPath(path));
      await fs.access(systemPath(path), fs.constants.R_OK);
      if (status.isDirectory()) return { root: path, fileName: null };
      if (!status.isFile()) throw new FileFailure({ operation: 'grep', path, errnoName: 'ENXIO' });
      if (status.size > (maxFileBytes ?? Infinity)) {
        const next = { operation: 'files.grepLargeFile' } as const;
        throw new FileFailure({ operation: 'grep', path, errnoName: 'EFBIG', next });
      }
      const real = await realPath(path);
      const at = real.lastIndexOf('/');
      return { root: at === 0 ? '/' : real.slice(0, at), fileName: real.slice(at + 1) };
    });
  }

  async #typeNamed(name: string | null): Promise<FileType | null> {
    return name === null ? null : fileTypeNamed(name, await this.files.fileTypes());
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

  #refuseTooLarge({ isMultiline, maxFileBytes }: GrepQuery, path: string): void {
    const fitting = Math.floor(this.files.room.shareBytes / bytesPerTextByte / mebibyte) * mebibyte;
    const maxBytes = Math.min(maxMultilineBytes, fitting);
    if (!isMultiline || (maxFileBytes ?? 0) <= maxBytes) return;
    const message = `is more than ${maxBytes / mebibyte}M, with multiline`;
    throw new FileFailure({
      ...{ operation: 'grep', path, errnoName: 'EINVAL', message, argument: 'maxFileSize' },
      advice: advise`Pass a ${'maxFileSize'} up to ${maxBytes / mebibyte}M.`,
    });
  }

  async #ask(query: GrepQuery, path: string, signal: AbortSignal): Promise<GrepFound> {
    const textBytes = query.isMultiline ? (query.maxFileBytes ?? 0) * bytesPerTextByte : 0;
    using _held = await this.files.room.admitInTurn(maxFoundLength * bytesPerFound + textBytes, signal);
    try {
      return renamed(await this.ripgrep.search(query, signal), query, path);
    } catch (error) {
      if (error instanceof LineTooLong) throw lineTooLong(query, path);
      throw error instanceof PatternError ? badPattern(path, error) : error;
    }
  }
}

/** Refuses what no argument of a program can contain, and globs that ripgrep does not take as globs. */
function refuseUnlessSound({ pattern, isMultiline, include, exclude }: GrepQuery, path: string): void {
  if (!isArgument(pattern))
    throw badPattern(path, new PatternError('the pattern contains a NUL byte or text that is not Unicode'));
  if (!isMultiline && pattern.includes('\n')) throw badPattern(path, newlineRefusal());
  for (const glob of [...include, ...exclude]) {
    const refuse = (message: string) => refusal(path, `${JSON.stringify(glob)} ${message}`, hints.glob);
    if (!isArgument(glob)) throw refuse('contains a NUL byte or text that is not Unicode');
    if (glob.split('/').includes('..')) throw refuse('leads out of path');
    if (/^[!#]|^\s*$/.test(glob)) throw refuse('is not a glob: it is empty, or begins with ! or #');
  }
}

function isArgument(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Reports a file that was reached through a link under the requested path. */
function renamed(found: GrepFound, { root, fileName }: GrepQuery, path: string): GrepFound {
  if (fileName === null || join(root, fileName) === path) return found;
  return {
    ...found,
    matches: found.matches.map((match) => ({ ...match, path })),
    skipped: found.skipped.map((skipped) => ({ ...skipped, path })),
  };
}

async function realPath(path: string): Promise<string> {
  return decodePath(await fs.realpath(systemPath(path), { encoding: 'buffer' }));
}

function lineTooLong({ isMultiline }: GrepQuery, path: string): FileFailure {
  const message = isMultiline
    ? 'a match across lines is too long for an answer'
    : 'a line of a file in another encoding than UTF-8 is too long for the memory of a search';
  const hint = isMultiline ? 'Write a pattern that matches less.' : 'Leave the file out, or split its lines.';
  return new FileFailure({ operation: 'grep', path, errnoName: 'EFBIG', message, hint });
}

function badPattern(path: string, { message, isAcrossLines }: PatternError): FileFailure {
  const operation = isAcrossLines ? 'files.grepAcrossLines' : 'files.grepLiterally';
  return refusal(path, message, hints.pattern, { operation });
}

function refusal(path: string, message: string, hint: string, next: NextStep | null = null): FileFailure {
  return new FileFailure({ operation: 'grep', path, errnoName: 'EINVAL', message, hint, next });
}
