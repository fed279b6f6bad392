/** Shortens a hint of the daemon to what helps a person. */

const routeNamed = /\/v\d\/|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) \//;

/** Without the sentences that name a route, because these help programs only. Null when nothing is left. */
export function hintForPerson(hint: string): string | null {
  const sentences = hint.split(/(?<=\.) /).filter((sentence) => !routeNamed.test(sentence));
  return sentences.length === 0 ? null : sentences.join(' ');
}
