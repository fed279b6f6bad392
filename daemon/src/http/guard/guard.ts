/** Refuses requests that a foreign web page made a browser send, by Host, Origin, Fetch Metadata and Referer. */
import { CoreError } from '../../kit/errors.ts';

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

const linkHint =
  'Type or paste the address into the browser, list the origin of the page in SVC_CORS_ORIGINS, or use a program.';
/**
 * What a foreign page may lead a person to: the console, which shows nothing of the sandbox by itself, and, through the
 * check of the gateway, the pages of its services. The key and the cookie of the gateway apply there as ever.
 */
const linkedPaths: ReadonlySet<string> = new Set(['/', '/internal/auth']);

/** The sender of a request that is served. */
export interface Sender {
  /** `listed`: a page whose origin the operator listed. `own`: a page of this address, a program or a person. */
  readonly page: 'own' | 'listed';
  /** False for links and embedded parts of pages: a stranger may have written the text that a listed page shows. */
  readonly mayChange: boolean;
}

/**
 * Throws `malformed_request` for a repeated Host, `forbidden` for a foreign Host or page. Browsers send Origin with
 * what a page may read or post, and Fetch Metadata with every request to a secure or loopback address. Without both,
 * the Referer is all there is.
 */
export function guardRequest(settings: GuardSettings, request: Pick<Request, 'method' | 'headers'>, url: URL): Sender {
  const { headers } = request;
  const host = headers.get('host') ?? url.host;
  if (host.includes(','))
    throw new CoreError('malformed_request', 'more than one Host header', { hint: 'Send one Host header.' });
  const name = hostName(host);
  if (!isServedHost(name, settings)) {
    throw new CoreError('forbidden', `the host ${name} is not served here`, { hint: hostHint });
  }
  const origin = headers.get('origin');
  if (origin !== null) {
    if (isOwnOrigin(origin, host)) return { page: 'own', mayChange: true };
    if (isListedOrigin(origin, settings)) return { page: 'listed', mayChange: true };
    throw new CoreError('forbidden', `the origin ${origin} is not allowed`, { hint: originHint });
  }
  const site = headers.get('sec-fetch-site');
  const page = originOf(headers.get('referer'));
  const isOwn = site === null ? page === null || isOwnOrigin(page, host) : site === 'same-origin';
  if (isOwn || (site === 'none' && !isPrefetch(headers))) return { page: 'own', mayChange: true };
  if (page !== null && isListedOrigin(page, settings)) return { page: 'listed', mayChange: false };
  if (isLink(request, url)) return { page: 'own', mayChange: false };
  throw new CoreError('forbidden', `a page of ${page ?? 'another origin'} sent the request`, { hint: linkHint });
}

/** Whether a page made a browser send the request, be it a page of this address. */
export function isSentByPage(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site');
  return headers.has('origin') || (site === null ? headers.has('referer') : site !== 'none');
}

/** Pages of other origins embed no answer, unless the operator listed their origin. */
export function resourcePolicy(sender: Sender | null): 'same-origin' | 'cross-origin' {
  return sender?.page === 'listed' ? 'cross-origin' : 'same-origin';
}

/** Allowed origins for Content-Security-Policy, which cannot express the rule for all names without a dot. */
export function frameAncestors({ allowedHosts, corsOrigins }: GuardSettings): string {
  const names = allowedHosts.filter((name) => /^(?:\*\.)?[\w.-]+$/.test(name));
  const hosts = names.flatMap((name) => [`http://${name}:*`, `https://${name}:*`]);
  return ["'self'", ...hosts, ...corsOrigins.filter((origin) => /^https?:\/\/[\w.:-]+$/.test(origin))].join(' ');
}

function isServedHost(name: string, { allowedHosts, hasKey, ownName }: GuardSettings): boolean {
  if (hasKey && allowedHosts.length === 0) return true;
  if (name === 'localhost' || name.endsWith('.localhost') || isAddress(name)) return true;
  return name === hostName(ownName) || isListed(name, allowedHosts);
}

/** Whether a person follows a link to a page; browsers without Fetch Metadata do not say so. */
function isLink({ method, headers }: Pick<Request, 'method' | 'headers'>, { pathname }: URL): boolean {
  if (!linkedPaths.has(pathname) || (method !== 'GET' && method !== 'HEAD') || isPrefetch(headers)) return false;
  if (!headers.has('sec-fetch-site')) return true;
  return headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document';
}

/** Browsers load addresses before a person opens them, also while the person types. */
function isPrefetch(headers: Headers): boolean {
  return /\bprefetch\b/i.test(headers.get('sec-purpose') ?? headers.get('purpose') ?? '');
}

function isListedOrigin(origin: string, { corsOrigins, allowedHosts }: GuardSettings): boolean {
  if (corsOrigins.includes(origin)) return true;
  const page = parsedOrigin(origin);
  return page !== null && isListed(hostName(page.hostname), allowedHosts);
}

/** Ignores X-Forwarded-Host, because a page can set that header. */
function isOwnOrigin(origin: string, host: string): boolean {
  const page = parsedOrigin(origin);
  // Behind a proxy that ends TLS, Host does not reveal the scheme. The page's scheme therefore sets the default port
  // for both.
  return page !== null && page.origin === URL.parse(`${page.protocol}//${host}`)?.origin;
}

function parsedOrigin(origin: string): URL | null {
  const page = URL.parse(origin);
  return page && /^https?:$/.test(page.protocol) ? page : null;
}

/** The origin of a Referer; a text that is not the address of a page stands for itself. */
function originOf(referer: string | null): string | null {
  return referer === null ? null : (parsedOrigin(referer)?.origin ?? referer);
}

/** The name in lower case, without the port, IPv6 brackets and the final dot of a fully qualified name. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}

/** Whether a name is an IP address. A parser of URLs has the whole of one; `node:net` brings the streams of the runtime. */
function isAddress(name: string): boolean {
  if (/^[\d.]+$/.test(name)) return URL.parse(`http://${name}`)?.hostname === name;
  return /^[\da-f:.]+$/.test(name) && URL.canParse(`http://[${name}]`);
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

const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const exposedHeaders = 'x-request-id, etag, content-disposition, retry-after';
const preflightSeconds = 600;
const noContent = 204;

/** Answers a preflight of a listed origin without a key, because browsers send none. Null for any other request. */
export function preflight(settings: GuardSettings, request: Request): Response | null {
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null;
  if (!isListedPage(settings, request.headers)) return null;
  const wanted = request.headers.get('access-control-request-headers');
  return new Response(null, {
    status: noContent,
    headers: {
      'access-control-allow-methods': allowedMethods,
      'access-control-max-age': String(preflightSeconds),
      ...(wanted === null ? {} : { 'access-control-allow-headers': wanted }),
    },
  });
}

/** The headers that let a page of a listed origin read the answer. */
export function corsHeaders(settings: GuardSettings, headers: Headers): readonly (readonly [string, string])[] {
  const origin = headers.get('origin');
  if (origin === null || !isListedPage(settings, headers)) return [];
  return [
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', exposedHeaders],
    ['vary', 'origin'],
  ];
}

function isListedPage({ corsOrigins }: GuardSettings, headers: Headers): boolean {
  return corsOrigins.includes(headers.get('origin') ?? '');
}
