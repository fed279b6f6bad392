/** How the REST routes refuse, and every call whose key is wrong: the clients map the code to their exceptions. */
import { statusOf } from '../../http/route/envelope.ts';
import type { CoreError, ErrorCode } from '../../kit/errors.ts';

/** Where the protocol answers another status than ours. */
const ownStatus: Partial<Record<ErrorCode, number>> = { invalid_input: 400, unsupported_coding: 400 };

export function failure({ code, message }: CoreError): Response {
  const status = ownStatus[code] ?? statusOf[code];
  return Response.json({ code: status, message }, { status });
}
