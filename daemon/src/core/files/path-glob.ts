/** Reads what a caller gives as a glob on paths below a directory, and says what is wrong with it. */
import { FileFailure } from '../../kit/file-failure.ts';
import { Glob, GlobError } from '../../kit/glob.ts';

export interface PathGlobOptions {
  /** A pattern without a `/` is about names at any depth, and not below the directory itself alone. */
  readonly isAnyDepth: boolean;
  /** Wildcards match names that begin with a dot. */
  readonly matchesHidden: boolean;
}

/** `path` is the directory that it is about. */
export function readPathGlob(pattern: string, path: string, { isAnyDepth, matchesHidden }: PathGlobOptions): Glob {
  const refuse = (message: string, hint: string): FileFailure =>
    new FileFailure({
      operation: 'search',
      path,
      errnoName: 'EINVAL',
      message: `${JSON.stringify(pattern)} ${message}`,
      hint,
    });
  const text = pattern.replace(/^(?:\.\/+)+/, '');
  if (text.startsWith('/')) {
    throw refuse(
      'is an absolute path, not a glob below one',
      'Give the directory as path, and as pattern what is below it.',
    );
  }
  const names = text.split('/');
  if (names.includes('..'))
    throw refuse('leads out of path', 'Give the directory to search in as path, without .. in the pattern.');
  if (names.includes('') || names.includes('.')) {
    throw refuse(
      'has an empty name or a . between two /',
      'Write it as src/**/*.ts; type=directory finds directories.',
    );
  }
  try {
    return new Glob(isAnyDepth && names.length === 1 ? `**/${text}` : text, { hasBraces: true, matchesHidden });
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw refuse(`is no glob: ${error.message}`, 'Put a backslash before a character that stands for itself.');
  }
}
