/** How the REST routes refuse, and every call whose key is wrong: the clients map the code to their exceptions. */
import { statusOf } from '../../http/route/envelope.ts';
import { CoreError, type ErrorCode } from '../../kit/errors.ts';

/** Where the protocol answers another status than ours. */
const ownStatus: Partial<Record<ErrorCode, number>> = { invalid_input: 400, unsupported_coding: 400 };

/** The message, and what the caller can do. */
export function adviceOf(error: Error): string {
  return error instanceof CoreError && error.hint !== null ? `${error.message}. ${error.hint}` : error.message;
}

/** The code interpreter refuses in plain text, but for a body that is not as it should be. */
export function plainFailure(error: CoreError): Response {
  const { code, message } = error;
  const status = plainStatus(code);
  return code === 'invalid_input'
    ? Response.json({ detail: message }, { status })
    : new Response(adviceOf(error), { status });
}

export const plainStatus = (code: ErrorCode): number => codeStatus[code] ?? statusOf[code];

const codeStatus: Partial<Record<ErrorCode, number>> = { kernel_unknown: 400, unavailable: 500 };

export const statusIn = (code: ErrorCode): number => ownStatus[code] ?? statusOf[code];

export function failure({ code, message }: CoreError): Response {
  const status = statusIn(code);
  return Response.json({ code: status, message }, { status });
}
