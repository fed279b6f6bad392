/** The envelope of every JSON answer, and the table from error codes to statuses. */
import { CoreError, type ErrorCode } from '../../kit/errors.ts';

/** Exhaustive, without a fallback: a new code does not compile until it has a status here. */
export const statusOf: Readonly<Record<ErrorCode, number>> = {
  malformed_request: 400,
  bad_argument: 400,
  unauthorized: 401,
  forbidden: 403,
  route_not_found: 404,
  command_not_found: 404,
  session_not_found: 404,
  method_not_allowed: 405,
  command_id_reused: 409,
  stdin_closed: 409,
  body_too_large: 413,
  unsupported_coding: 415,
  unsupported_media_type: 415,
  invalid_input: 422,
  upgrade_required: 426,
  capacity_reached: 429,
  not_implemented: 501,
  unavailable: 503,
  no_space_left: 507,
  file_not_found: 404,
  file_permission_denied: 403,
  file_exists: 409,
  file_invalid_target: 400,
  file_invalid_path: 400,
  file_bad_request: 400,
  file_read_only: 403,
  file_not_text: 422,
  file_too_large: 413,
  file_io_error: 500,
  precondition_failed: 409,
  range_not_satisfiable: 416,
  watcher_not_found: 404,
  terminal_not_found: 404,
  terminal_ended: 409,
  terminal_busy: 409,
  session_busy: 409,
  session_exists: 409,
  kernel_unknown: 422,
  tab_not_found: 404,
  ref_stale: 409,
  ref_malformed: 409,
  page_timeout: 504,
  navigation_failed: 502,
  // MCP answers it within a JSON-RPC error.
  tool_not_found: 404,
  internal_error: 500,
};

/** Seconds after which a refused client may try again, and the statuses that say so (RFC 9110, 10.2.3; RFC 6585, 4). */
const retryAfterSeconds = 1;
const waitingStatuses: ReadonlySet<number> = new Set([429, 503]);

export interface Envelope {
  readonly success: boolean;
  readonly message: string;
  readonly data: unknown;
  readonly hint: string | null;
}

/** One entry of `errors` in a 422: `location` starts with `body`, `query`, `path` or `header`. */
export interface ValidationError {
  readonly location: string;
  readonly message: string;
  readonly type: string;
}

/** Input that a schema refuses, or that turns out to be invalid while it is read, such as a multipart body. */
export class InvalidInput extends CoreError {
  constructor(readonly errors: readonly ValidationError[]) {
    const [first] = errors;
    super('invalid_input', first ? `${first.location}: ${first.message}` : 'the request is not valid', {
      hint: 'See errors for each field that has to change.',
    });
  }
}

/** An error outside the closed set: the client gets the request id, the log gets the stack. */
export class Bug extends CoreError {
  constructor(requestId: string) {
    super('internal_error', 'internal error', {
      hint: 'This is a bug in the daemon; report it with the request id and the log line that carries it.',
      facts: { request_id: requestId },
    });
  }
}

/** The message of a success that has nothing else to say. */
export const usualMessage = 'Operation successful';

type SuccessDetails = Pick<Envelope, 'message' | 'hint'> & { readonly isFailure: boolean };

/** The body of an answer with status 200, and with top-level fields beside those of the envelope. */
export function success(data: unknown, { message, hint, isFailure }: SuccessDetails, top: object = {}): object {
  const envelope: Envelope = { success: !isFailure, message: oneLine(message), data, hint };
  return { ...top, ...envelope };
}

export function isOfV1(path: string): boolean {
  return path.startsWith('/v1/');
}

/** `path` is that of the request: `data` of 1.x has no code. `more` are fields beside those of the envelope. */
export function failure(error: CoreError, path: string, more: object = {}): Response {
  const { code, facts, hint, isRetryable: retryable } = error;
  const data = isOfV1(path) ? facts : { code, retryable, ...facts };
  const envelope: Envelope = { success: false, message: oneLine(error.message), data, hint };
  const errors = error instanceof InvalidInput ? error.errors : validationErrors(error);
  return json({ ...envelope, ...(errors.length > 0 && { errors }), ...more }, statusOf[code], headersOf(error));
}

/** Joins the lines of a message: it may quote client input that has several lines. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*[\n\r\u2028\u2029]\s*/g, ' ');
}

/** Some failures that no schema can detect also count as failed validation (contract, Errors). */
function validationErrors({ code, facts, message }: CoreError): readonly ValidationError[] {
  if (code === 'kernel_unknown') return [{ location: 'body.kernel', message, type: 'enum' }];
  if (code !== 'file_not_text') return [];
  const place = facts?.['operation'] === 'read' ? 'query' : 'body';
  return [{ location: `${place}.path`, message, type: 'value_error' }];
}

function headersOf(error: CoreError): Record<string, string> {
  if (error.code === 'unauthorized') return { 'www-authenticate': 'Bearer' };
  if (error.isRetryable && waitingStatuses.has(statusOf[error.code]))
    return { 'retry-after': String(retryAfterSeconds) };
  if (error.code === 'unsupported_coding') return { 'accept-encoding': String(error.facts?.['accepted']) };
  if (error.code === 'upgrade_required') return { upgrade: 'websocket', 'sec-websocket-version': '13' };
  if (error.code === 'range_not_satisfiable') return { 'content-range': `bytes */${String(error.facts?.['size'])}` };
  const allow = error.code === 'method_not_allowed' ? error.facts?.['allow'] : undefined;
  return Array.isArray(allow) ? { allow: allow.join(', ') } : {};
}

export function json(body: object, status: number, headers: Record<string, string> = {}): Response {
  const text = Buffer.from(JSON.stringify(body));
  const length = String(text.length); // Set explicitly, so that the log line of the request can report the length.
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
  });
}
