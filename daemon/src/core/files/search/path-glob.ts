/** Parses a client's glob on paths below a directory, and explains what is wrong with an invalid glob. */
import type { NextStep } from '../../../kit/errors.ts';
import { FileFailure } from '../../../kit/file-failure.ts';
import { Glob, GlobError } from '../../../kit/text/glob.ts';

export interface PathGlobOptions {
  /** A pattern without a `/` matches names at any depth. Otherwise it matches only entries of the directory itself. */
  readonly isAnyDepth: boolean;
  /** A `/` at the beginning stands for the directory itself, and the pattern matches only from there. */
  readonly canAnchor?: boolean;
  /** Wildcards match names that begin with a dot. */
  readonly matchesHidden: boolean;
}

/** `path` is the directory that the glob is relative to. */
export function readPathGlob(
  pattern: string,
  path: string,
  { isAnyDepth, canAnchor = false, matchesHidden }: PathGlobOptions,
): Glob {
  const refuse = (message: string, hint: string, next: NextStep | null = null): FileFailure =>
    new FileFailure({
      operation: 'search',
      path,
      errnoName: 'EINVAL',
      message: `${JSON.stringify(pattern)} ${message}`,
      hint,
      next,
    });
  const isAnchored = canAnchor && pattern.startsWith('/') && !`${pattern}/`.startsWith(`${path}/`);
  const text = isAnchored ? pattern.slice(1) : pattern.replace(/^(?:\.\/+)+/, '');
  if (text.startsWith('/')) {
    throw refuse('is an absolute path, not a glob below one', 'Pass the directory as path, and the rest as the glob.');
  }
  const names = text.split('/');
  if (names.includes('..'))
    throw refuse('leads out of path', 'Pass the directory to search as path, without .. in the glob.');
  if (names.includes('') || names.includes('.')) {
    throw refuse('has an empty name or a . between two /', 'Write the glob as src/**/*.ts.', {
      operation: 'files.findDirectories',
    });
  }
  try {
    return new Glob(isAnyDepth && !isAnchored && names.length === 1 ? `**/${text}` : text, {
      hasBraces: true,
      matchesHidden,
    });
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw refuse(`is not a glob: ${error.message}`, 'Put a backslash before a literal character.');
  }
}
