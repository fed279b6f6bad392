/** Answers CORS preflights and adds CORS headers; only listed origins may call. */
import type { GuardSettings } from './guard.ts';

const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const exposedHeaders = 'x-request-id, etag, content-disposition, retry-after';
const preflightSeconds = 600;
const noContent = 204;

/** Answers a preflight of a listed origin without a key, because browsers send none. Null for any other request. */
export function preflight(settings: GuardSettings, request: Request): Response | null {
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) return null;
  if (!isListed(settings, request.headers)) return null;
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
  if (origin === null || !isListed(settings, headers)) return [];
  return [
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', exposedHeaders],
    ['vary', 'origin'],
  ];
}

function isListed({ corsOrigins }: GuardSettings, headers: Headers): boolean {
  return corsOrigins.includes(headers.get('origin') ?? '');
}
