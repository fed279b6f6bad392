/** Parses .gitignore-style files and decides which pattern of the directories around a path applies to the path. */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { nullOnNow } from '../../../kit/errno.ts';
import { decodePath, systemPath } from '../../../kit/text/path-text.ts';
import { Glob, GlobError } from '../../../kit/text/glob.ts';

export interface IgnorePattern {
  /** `!`: the pattern includes a path that an earlier pattern ignores. */
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
  /** The pattern matches the path relative to its file. Otherwise the pattern matches names at any depth. */
  readonly isAnchored: boolean;
  readonly glob: Glob;
}

/** A larger file is not a list of patterns. */
const maxFileBytes = 1024 * 1024;

/** Skips invalid patterns, as git does. */
export function parseIgnoreFile(text: string): IgnorePattern[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line) => nullOnNow(GlobError, () => parseIgnoreLine(line)) ?? []);
}

/** Null for a comment or an empty line. Throws `GlobError`. */
function parseIgnoreLine(line: string): IgnorePattern | null {
  let text = withoutTrailingSpaces(line.replace(/\r$/, ''));
  if (text === '' || text.startsWith('#')) return null;
  const isNegated = text.startsWith('!');
  if (isNegated) text = text.slice(1);
  const isForDirectories = text.endsWith('/');
  if (isForDirectories) text = text.slice(0, -1);
  const isAnchored = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  if (text === '') return null;
  const glob = new Glob(text, { hasBraces: false, matchesHidden: true });
  return { isNegated, isForDirectories, isAnchored, glob };
}

/** Keeps a trailing space that is escaped by a backslash. */
function withoutTrailingSpaces(line: string): string {
  const text = line.replace(/ +$/, '');
  const isEscaped = /(?:^|[^\\])(?:\\\\)*\\$/.test(text);
  return isEscaped && text.length < line.length ? `${text} ` : text;
}

/** The patterns of one ignore file. */
export class IgnoreRules {
  constructor(
    /** The directory that anchored patterns are relative to, as an absolute path. */
    private readonly base: string,
    private readonly patterns: readonly IgnorePattern[],
  ) {}

  /** True if ignored, false if included again by a negated pattern, null if no pattern matches. */
  verdict(path: string, isDirectory: boolean): boolean | null {
    const below = path.slice(this.base === '/' ? 1 : this.base.length + 1).split('/');
    const name = below.at(-1) ?? '';
    for (let index = this.patterns.length - 1; index >= 0; index--) {
      const { isNegated, isForDirectories, isAnchored, glob } = this.patterns[index]!;
      if (isForDirectories && !isDirectory) continue;
      if (isAnchored ? glob.matches(below) : glob.matches([name])) return !isNegated;
    }
    return null;
  }
}

/** A chain of rules, nearest first. The first rules with a verdict decide. */
export interface IgnoreChain {
  readonly rules: IgnoreRules;
  readonly above: IgnoreChain | null;
}

export function chainVerdict(chain: IgnoreChain | null, path: string, isDirectory: boolean): boolean | null {
  for (let link = chain; link !== null; link = link.above) {
    const verdict = link.rules.verdict(path, isDirectory);
    if (verdict !== null) return verdict;
  }
  return null;
}

/** Extends the chain by the .gitignore of this directory. Returns the same chain if there is no such file. */
export function withIgnoreFile(above: IgnoreChain | null, directory: string): IgnoreChain | null {
  const text = readIgnoreFile(join(directory, '.gitignore'));
  if (text === null) return above;
  const patterns = parseIgnoreFile(text);
  return patterns.length === 0 ? above : { rules: new IgnoreRules(directory, patterns), above };
}

/** `directory` and all its parent directories, root first. */
export function lineageOf(directory: string): string[] {
  const names = directory.split('/').filter((name) => name !== '');
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)];
}

export function join(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** True at the top of a git repository or git worktree. */
export function hasRepository(directory: string): boolean {
  return existsSync(systemPath(join(directory, '.git')));
}

/** Null if the file is missing, unreadable or not a regular file. Opening a pipe does not block. */
function readIgnoreFile(path: string): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null; // The file is missing or unreadable, so there are no patterns.
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > maxFileBytes) return null;
    const buffer = Buffer.allocUnsafe(status.size);
    return decodePath(buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0)));
  } catch {
    return null; // The read failed, for example on a failing disk.
  } finally {
    closeSync(descriptor);
  }
}
