/** Searches file contents, with ripgrep if it can be trusted, otherwise with an equivalent built-in engine. */
import { promises as fs } from 'node:fs';
import { advise } from '../../../kit/advice.ts';
import { CoreError, type NextStep } from '../../../kit/errors.ts';
import type { MemoryBudget } from '../../../kit/memory-budget.ts';
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import { decodePath, systemPath } from '../../../kit/text/path-text.ts';
import type { PathResolver } from '../../processes/directory.ts';
import { fileTypeNamed } from './grep/file-type.ts';
import { newlineRefusal } from './grep/pattern.ts';
import {
  type FileType,
  type GrepBackend,
  type GrepEngine,
  type GrepFound,
  type GrepMatch,
  type GrepQuery,
  maxFoundLength,
  PatternError,
} from './grep/query.ts';
import { RipgrepFailure } from './grep/ripgrep.ts';
import { join } from './gitignore.ts';

export interface GrepRequest extends Omit<GrepQuery, 'root' | 'fileName' | 'type' | 'limit'> {
  readonly path: string;
  readonly user: string | null;
  /** A name from the table of file types. */
  readonly type: string | null;
  readonly maxResults: number;
}

export interface GrepResult {
  readonly path: string;
  /** The path is a file, which is searched whatever its name is. */
  readonly isFile: boolean;
  /** Matches in tree order. */
  readonly matches: readonly GrepMatch[];
  /** Null when the files were not counted, because the limit ended the search or the tree is large. */
  readonly filesSearched: number | null;
  /** Number of files with a match, up to the point where the search ended. */
  readonly filesMatched: number;
  /** The engine that ran the search. */
  readonly engine: GrepEngine;
  readonly isTruncated: boolean;
  /** The first files and directories that were not searched: binary files that match, too large or unreadable ones. */
  readonly skipped: GrepFound['skipped'];
  /** Null when not counted. */
  readonly skippedCount: number | null;
}

const mebibyte = 1024 * 1024;
/** A match across lines needs the whole text in memory, so this is the largest text that a caller may ask for. */
const maxMultilineBytes = 512 * mebibyte;
const defaultMultilineBytes = 16 * mebibyte;
/** Bytes of memory for each byte of such a text: as read, and decoded with two bytes for a character. */
const bytesPerTextByte = 4;
/** Bytes of memory for each character of an answer: as found, and as sent. */
const bytesPerFound = 3;
/** The memory of a thread with a heap of its own. */
const workerBytes = 16 * mebibyte;
/** Each search takes a thread or a process. More searches than processors are not faster. */
const maxRunning = 16;

const hints = {
  pattern: 'Patterns have the syntax of ripgrep; a backslash makes a special character literal.',
  glob: 'Globs have the syntax of .gitignore files, and {a,b}. Pass the globs of unwanted files as exclude.',
} as const;

interface Answered extends GrepFound {
  readonly engine: GrepEngine;
}

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
    /** Null when no trusted ripgrep is available now. */
    private readonly findRipgrep: () => GrepBackend | null,
    private readonly builtIn: GrepBackend,
  ) {}

  /** Throws the `FileFailure` of the path or of the pattern, `bad_argument` and `capacity_reached`. */
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
      engine: found.engine,
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

  async #inRoom(engine: GrepBackend, query: GrepQuery, signal: AbortSignal, ownBytes: number): Promise<GrepFound> {
    using _held = await this.files.room.admitInTurn(maxFoundLength * bytesPerFound + ownBytes, signal);
    return await engine.search(query, signal);
  }

  async #ask(query: GrepQuery, path: string, signal: AbortSignal): Promise<Answered> {
    try {
      const ripgrep = isText(query) && !query.hasLookAround ? this.findRipgrep() : null;
      const byRipgrep = ripgrep && (await this.#inRoom(ripgrep, query, signal, 0).catch(unlessItFailed));
      const textBytes = query.isMultiline ? (query.maxFileBytes ?? 0) * bytesPerTextByte : 0;
      const found = byRipgrep ?? (await this.#inRoom(this.builtIn, query, signal, workerBytes + textBytes));
      return { ...renamed(found, query, path), engine: byRipgrep ? 'ripgrep' : 'built-in' };
    } catch (error) {
      throw error instanceof PatternError ? badPattern(path, error.message) : error;
    }
  }
}

/** Refuses queries that the two engines would interpret differently. */
function refuseUnlessSound({ pattern, isMultiline, include, exclude }: GrepQuery, path: string): void {
  if (!isMultiline && pattern.includes('\n')) throw badPattern(path, newlineRefusal);
  for (const glob of [...include, ...exclude]) {
    const quoted = JSON.stringify(glob);
    if (glob.split('/').includes('..')) throw refusal(path, `${quoted} leads out of path`, hints.glob);
    if (/^[!#]|^\s*$/.test(glob))
      throw refusal(path, `${quoted} is not a glob: it is empty, or begins with ! or #`, hints.glob);
  }
}

/** If ripgrep fails for any reason, the built-in engine answers. */
function unlessItFailed(error: unknown): null {
  if (error instanceof RipgrepFailure) return null;
  throw error;
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

/** Program arguments cannot contain NUL bytes or malformed text. The built-in engine handles such queries. */
function isText({ root, fileName, include, exclude, pattern }: GrepQuery): boolean {
  return [root, fileName ?? '', pattern, ...include, ...exclude].every(
    (text) => text.isWellFormed() && !text.includes('\0'),
  );
}

function badPattern(path: string, message: string): FileFailure {
  const operation = message === newlineRefusal ? 'files.grepAcrossLines' : 'files.grepLiterally';
  return refusal(path, message, hints.pattern, { operation });
}

function refusal(path: string, message: string, hint: string, next: NextStep | null = null): FileFailure {
  return new FileFailure({ operation: 'grep', path, errnoName: 'EINVAL', message, hint, next });
}
