/** Shortens a failure and its hint to what helps a person. */
import { BoxError } from '../../../clients/typescript/src/index.ts';

const routeNamed = /\/v\d\/|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) \//;

/** Without the sentences that name a route, because these help programs only. Null when nothing is left. */
export function hintForPerson(hint: string): string | null {
  const sentences = hint.split(/(?<=\.) /).filter((sentence) => !routeNamed.test(sentence));
  return sentences.length === 0 ? null : sentences.join(' ');
}

/** The message of a failure, and what a person can do. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = error instanceof BoxError && error.hint !== null ? hintForPerson(error.hint) : null;
  return hint === null ? error.message : `${error.message}. ${hint}`;
}
