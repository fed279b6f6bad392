/** Where clients reach the daemon, as their requests tell: through a proxy, what that says (contract, Browser). */

/** What a URL begins with, without a slash at the end. */
export function publicOrigin(headers: Headers): string {
  const scheme = first(headers, 'x-forwarded-proto', /^https?$/i)?.toLowerCase() ?? 'http';
  const host = first(headers, 'x-forwarded-host', hostPattern) ?? headers.get('host') ?? 'localhost';
  const prefix = first(headers, 'x-forwarded-prefix', /^(?:\/[\w.~-]+)*\/?$/) ?? '';
  return `${scheme}://${host}${prefix.replace(/\/+$/, '')}`;
}

const hostPattern = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Every proxy on the way adds its own behind a comma; null where the first one is none. */
function first(headers: Headers, name: string, pattern: RegExp): string | null {
  const value = headers.get(name)?.split(',')[0]?.trim() ?? '';
  return pattern.test(value) ? value : null;
}
