/** Describes why a folder is not a usable skill. */
import { errnoOf } from '../../../kit/errno.ts';

/** The message is one clause, to be shown after the name of the folder. */
export class SkillProblem extends Error {}

/** The reason as text. Any other error is a bug and is thrown again. */
export function reasonOf(error: unknown): string {
  if (error instanceof SkillProblem) return error.message;
  const errno = errnoOf(error);
  if (errno === null) throw error;
  return words[errno] ?? `it cannot be read (${errno})`;
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'it has no SKILL.md',
  ENOTDIR: 'it is not a directory',
  EACCES: 'the daemon may not read it',
  ELOOP: 'its links lead in a circle',
};
