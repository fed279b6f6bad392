/** How the ports of the surface refuse. */
import { statusOf } from '../../http/route/envelope.ts';
import type { CoreError, ErrorCode } from '../../kit/errors.ts';

/** Where the protocol answers another status than ours. */
const ownStatus: Partial<Record<ErrorCode, number>> = { invalid_input: 400, unsupported_coding: 400 };

const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'INVALID_ARGUMENT',
  409: 'CONFLICT',
  413: 'RESOURCE_EXHAUSTED',
  416: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  507: 'RESOURCE_EXHAUSTED',
};

export const statusIn = (code: ErrorCode): number => ownStatus[code] ?? statusOf[code];

/** A JSON object on the port of files. */
export function failure({ code, message }: CoreError): Response {
  const status = statusIn(code);
  return Response.json({ code: words[status] ?? 'INTERNAL', message }, { status });
}

/** On the port of the older interface. */
export function legacyFailure({ code, message }: CoreError): Response {
  const status = statusIn(code);
  return Response.json({ message: status === statusOf.forbidden ? 'Access denied' : message }, { status });
}
