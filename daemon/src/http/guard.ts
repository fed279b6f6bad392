/** Refuses requests that a foreign web page made a browser send, by Host and Origin. */
import { isIP } from 'node:net';
import { CoreError } from '../kit/errors.ts';

export interface GuardSettings {
  /** With a key and no listed names, any Host is served: a page that rebinds a name to this address lacks the key. */
  readonly hasKey: boolean;
  /** The machine's own host name, under which its network reaches the daemon. */
  readonly ownName: string;
  /** `name`, `*.suffix` (any name below the suffix), or `*` (any name without a dot, except localhost). */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may read answers: `https://app.example`, exactly as browsers send them. */
  readonly corsOrigins: readonly string[];
}

const hostHint =
  'Use an IP address, localhost or the host name of this machine, or list the name in SVC_ALLOWED_HOSTS.';
const originHint =
  'Open the page from the address of this daemon, or list the origin in SVC_CORS_ORIGINS or its host name in ' +
  'SVC_ALLOWED_HOSTS. A proxy must forward the Host header unchanged.';

/** Throws `malformed_request` for a repeated Host, `forbidden` for a foreign Host or Origin. */
export function guardRequest(settings: GuardSettings, headers: Headers, url: URL): void {
  const host = headers.get('host') ?? url.host;
  if (host.includes(','))
    throw new CoreError('malformed_request', 'more than one Host header', { hint: 'Send one Host header.' });
  const name = hostName(host);
  if (!isServedHost(name, settings)) {
    throw new CoreError('forbidden', `the host ${name} is not served here`, { hint: hostHint });
  }
  const origin = headers.get('origin');
  if (origin !== null && !isAllowedOrigin(origin, host, settings)) {
    throw new CoreError('forbidden', `the origin ${origin} is not allowed`, { hint: originHint });
  }
}

/** Allowed origins for Content-Security-Policy, which cannot express the rule for all names without a dot. */
export function frameAncestors({ allowedHosts, corsOrigins }: GuardSettings): string {
  const names = allowedHosts.filter((name) => /^(?:\*\.)?[\w.-]+$/.test(name));
  const hosts = names.flatMap((name) => [`http://${name}:*`, `https://${name}:*`]);
  return ["'self'", ...hosts, ...corsOrigins.filter((origin) => /^https?:\/\/[\w.:-]+$/.test(origin))].join(' ');
}

function isServedHost(name: string, { allowedHosts, hasKey, ownName }: GuardSettings): boolean {
  if (hasKey && allowedHosts.length === 0) return true;
  if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0) return true;
  return name === hostName(ownName) || isListed(name, allowedHosts);
}

/** Ignores X-Forwarded-Host, because a page can set that header. */
function isAllowedOrigin(origin: string, host: string, settings: GuardSettings): boolean {
  if (settings.corsOrigins.includes(origin)) return true;
  const page = URL.parse(origin);
  if (!page || !/^https?:$/.test(page.protocol)) return false;
  // Behind a proxy that ends TLS, Host does not reveal the scheme. The page's scheme therefore sets the default port
  // for both.
  const own = URL.parse(`${page.protocol}//${host}`);
  return page.origin === own?.origin || isListed(hostName(page.hostname), settings.allowedHosts);
}

/** The name in lower case, without the port, IPv6 brackets and the final dot of a fully qualified name. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

export function isListed(name: string, allowedHosts: readonly string[]): boolean {
  return allowedHosts.some((pattern) => matchesHost(name, pattern.toLowerCase()));
}

function matchesHost(name: string, pattern: string): boolean {
  // Pages on localhost and on IPv6 addresses are foreign unless their names are listed.
  if (pattern === '*') return name !== '' && !/[.:]/.test(name) && name !== 'localhost';
  if (pattern.startsWith('*.')) return name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
  return name === pattern;
}
