/** Refuses requests that a web page elsewhere made a browser send: by Host, and by Origin where there is one. */
import { isIP } from 'node:net';
import { CoreError } from '../kit/errors.ts';

export interface GuardSettings {
  /** Names beside the loopback ones: `name`, `*.suffix` (any name below it), or `*` (any name without a dot). */
  readonly allowedHosts: readonly string[];
  /** Origins that may read answers across origins: `https://app.example`, exactly as browsers send them. */
  readonly corsOrigins: readonly string[];
}

const hint = 'Use an IP address or localhost, or list the name in SVC_ALLOWED_HOSTS.';

/** Throws `malformed_request` for a doubled Host, `forbidden` for a name that is not ours. */
export function guardRequest(settings: GuardSettings, headers: Headers, url: URL): void {
  const host = headers.get('host') ?? url.host;
  if (host.includes(','))
    throw new CoreError('malformed_request', 'more than one Host header', { hint: 'Send one Host header.' });
  const name = hostName(host);
  if (!isAllowedHost(name, settings.allowedHosts)) {
    throw new CoreError('forbidden', `the host ${name} is not served here`, { hint });
  }
  const origin = headers.get('origin');
  if (origin !== null && !isAllowedOrigin(origin, settings)) {
    throw new CoreError('forbidden', `the origin ${origin} is not allowed`, {
      hint: 'List it in SVC_CORS_ORIGINS, or its host in SVC_ALLOWED_HOSTS.',
    });
  }
}

/** The same origins as sources of a Content-Security-Policy, which has none for all IP addresses or all names without a dot. */
export function frameAncestors({ allowedHosts, corsOrigins }: GuardSettings): string {
  const names = ['localhost', '127.0.0.1', ...allowedHosts].filter((name) => /^(?:\*\.)?[\w.-]+$/.test(name));
  const hosts = names.flatMap((name) => [`http://${name}:*`, `https://${name}:*`]);
  return ["'self'", ...hosts, ...corsOrigins.filter((origin) => /^https?:\/\/[\w.:-]+$/.test(origin))].join(' ');
}

function isAllowedOrigin(origin: string, settings: GuardSettings): boolean {
  if (settings.corsOrigins.includes(origin)) return true;
  const match = /^https?:\/\/([^/]+)$/.exec(origin);
  return match !== null && isAllowedHost(hostName(match[1] ?? ''), settings.allowedHosts);
}

/** Lower case, without the port, the brackets of IPv6 and the dot of a fully qualified name. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

export function isAllowedHost(name: string, allowed: readonly string[]): boolean {
  if (name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0) return true;
  return allowed.some((pattern) => matchesHost(name, pattern.toLowerCase()));
}

function matchesHost(name: string, pattern: string): boolean {
  if (pattern === '*') return name !== '' && !name.includes('.');
  if (pattern.startsWith('*.')) return name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
  return name === pattern;
}
