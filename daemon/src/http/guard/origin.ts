/** The origin under which clients reach the daemon, from request headers, behind proxies too (contract, Browser). */

/** The start of a URL, without a final slash. */
export function publicOrigin(headers: Headers): string {
  const scheme = first(headers, 'x-forwarded-proto', /^https?$/i)?.toLowerCase() ?? 'http';
  const host = first(headers, 'x-forwarded-host', hostPattern) ?? headers.get('host') ?? 'localhost';
  const prefix = first(headers, 'x-forwarded-prefix', /^(?:\/[\w.~-]+)*\/?$/) ?? '';
  return `${scheme}://${host}${prefix.replace(/\/+$/, '')}`;
}

const hostPattern = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The first entry, because every proxy appends its own after a comma; null when that entry is not valid. */
function first(headers: Headers, name: string, pattern: RegExp): string | null {
  const value = headers.get(name)?.split(',')[0]?.trim() ?? '';
  return pattern.test(value) ? value : null;
}
