/** Writes a request as a command line of curl, with the key in a variable. */

export interface CurlRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Null without a body. */
  readonly body: unknown;
}

export function curlOf({ method, url, body }: CurlRequest): string {
  const parts = [`curl -s -X ${method} ${quoted(url)}`, '-H "authorization: Bearer $SVC_API_KEY"'];
  if (body !== null) parts.push("-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}

/** For a POSIX shell, in which nothing in single quotes has a meaning. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
