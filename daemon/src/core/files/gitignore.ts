/** Files such as .gitignore: their patterns, and what those of a directory and of all above it say of a path. */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { decodePath, systemPath } from '../../kit/path-text.ts';
import { Glob, GlobError } from '../../kit/glob.ts';

export interface IgnorePattern {
  /** `!`: what an earlier pattern ignores is kept. */
  readonly isNegated: boolean;
  readonly isForDirectories: boolean;
  /** It is about the path below the file that it stands in; otherwise about the name alone, at any depth. */
  readonly isAnchored: boolean;
  readonly glob: Glob;
}

/** More than this is no list of patterns. */
const maxFileBytes = 1024 * 1024;

/** What is no pattern matches nothing, as in git. `hasBraces` is ripgrep's reading of the same files. */
export function parseIgnoreFile(text: string, hasBraces: boolean): IgnorePattern[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line) => {
      try {
        return parseIgnoreLine(line, hasBraces) ?? [];
      } catch (error) {
        if (error instanceof GlobError) return [];
        throw error;
      }
    });
}

/** Null for a comment or an empty line. Throws `GlobError`. */
export function parseIgnoreLine(line: string, hasBraces: boolean): IgnorePattern | null {
  let text = withoutTrailingSpaces(line.replace(/\r$/, ''));
  if (text === '' || text.startsWith('#')) return null;
  const isNegated = text.startsWith('!');
  if (isNegated) text = text.slice(1);
  const isForDirectories = text.endsWith('/');
  if (isForDirectories) text = text.slice(0, -1);
  const isAnchored = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  if (text === '') return null;
  return { isNegated, isForDirectories, isAnchored, glob: new Glob(text, { hasBraces, matchesHidden: true }) };
}

/** A space behind a backslash stays. */
function withoutTrailingSpaces(line: string): string {
  const text = line.replace(/ +$/, '');
  const isEscaped = /(?:^|[^\\])(?:\\\\)*\\$/.test(text);
  return isEscaped && text.length < line.length ? `${text} ` : text;
}

/** The patterns of one place; the ones of the places above it come after them. */
export class IgnoreRules {
  constructor(
    /** The directory whose paths the anchored ones are about, absolute. */
    private readonly base: string,
    private readonly patterns: readonly IgnorePattern[],
  ) {}

  /** True: ignored; false: kept by a negated pattern; null: nothing is said of it. */
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

/** A chain of rules: the nearest one that says something decides. */
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

/** The chain with what a file of this directory adds; the same chain when there is no such file. */
export function withIgnoreFile(
  above: IgnoreChain | null,
  directory: string,
  fileName: string,
  hasBraces: boolean,
): IgnoreChain | null {
  const text = readIgnoreFile(join(directory, fileName));
  if (text === null) return above;
  const patterns = parseIgnoreFile(text, hasBraces);
  return patterns.length === 0 ? above : { rules: new IgnoreRules(directory, patterns), above };
}

/** `directory` and every directory above it, the root first. */
export function lineageOf(directory: string): string[] {
  const names = directory.split('/').filter((name) => name !== '');
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)];
}

export function join(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** True at the top of a repository, a worktree of git included. */
export function hasRepository(directory: string): boolean {
  return existsSync(systemPath(join(directory, '.git')));
}

/** Null for what is not there, not readable or no file; a pipe of that name is not waited for. */
function readIgnoreFile(path: string): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null; // Absent, or not ours to read: it says nothing.
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > maxFileBytes) return null;
    const buffer = Buffer.allocUnsafe(status.size);
    return decodePath(buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0)));
  } catch {
    return null; // Unreadable, as on a failing disk.
  } finally {
    closeSync(descriptor);
  }
}
