/** What a request is about: the path or the page that it names, else the id in its route. */

const names = ['path', 'file', 'url', 'source', 'session_id', 'id'];

/** Null where the inputs name nothing. An address loses its query, its fragment and its account, which may be secret. */
export function subjectOf(...inputs: readonly unknown[]): string | null {
  const places = inputs.filter(
    (input): input is Record<string, unknown> => typeof input === 'object' && input !== null,
  );
  for (const name of names) {
    const value = places.map((place) => place[name]).find((given) => typeof given === 'string');
    if (typeof value === 'string') return name === 'url' ? addressOf(value) : value;
  }
  return null;
}

function addressOf(text: string): string {
  const url = URL.parse(text);
  if (!url) return text.replace(/[?#].*$/s, '');
  return url.host === '' ? url.protocol : `${url.protocol}//${url.host}${url.pathname}`;
}
