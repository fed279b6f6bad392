/** The closed set of failures that core may raise; `http/envelope.ts` gives each its status. */

export const errorCodes = [
  'malformed_request',
  'bad_argument',
  'unauthorized',
  'forbidden',
  'route_not_found',
  'command_not_found',
  'session_not_found',
  'method_not_allowed',
  'command_id_reused',
  'stdin_closed',
  'upgrade_required',
  'body_too_large',
  'invalid_input',
  'capacity_reached',
  'not_implemented',
  'unavailable',
  'no_space_left',
  'file_not_found',
  'file_permission_denied',
  'file_exists',
  'file_invalid_target',
  'file_invalid_path',
  'file_bad_request',
  'file_read_only',
  'file_not_text',
  'file_too_large',
  'file_io_error',
  'precondition_failed',
  'range_not_satisfiable',
  'watcher_not_found',
  'terminal_not_found',
  'terminal_ended',
  'terminal_busy',
  'session_busy',
  'kernel_unknown',
  'tab_not_found',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export interface ErrorDetails {
  /** What to do next, in one sentence. */
  readonly hint?: string;
  /** Facts that a program can read. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A failure that the caller caused or can act on. Anything else that is thrown is a bug. */
export class CoreError extends Error {
  override readonly name = 'CoreError';
  readonly hint: string | null;
  readonly facts: Readonly<Record<string, unknown>> | null;

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message);
    this.hint = details.hint ?? null;
    this.facts = details.facts ?? null;
  }
}
