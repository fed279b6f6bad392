/** The closed set of failures that core may raise; `http/route/envelope.ts` maps each to a status. */
import type { Advice, ArgumentName } from './advice.ts';
import { errnoOf, isOutOfDescriptors } from './errno.ts';
import type { Fields } from './types/fields.ts';

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
  'unsupported_coding',
  'unsupported_media_type',
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
  'session_exists',
  'kernel_unknown',
  'tab_not_found',
  'ref_stale',
  'ref_malformed',
  'page_timeout',
  'navigation_failed',
  'tool_not_found',
  'internal_error',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Failures that pass by themselves: the same call may succeed later. */
const passing: ReadonlySet<ErrorCode> = new Set(['capacity_reached', 'unavailable', 'terminal_busy', 'session_busy']);

/** The operations that an error may suggest as the next call, each with the arguments that the error knows. */
export const nextArguments = {
  'sandbox.read': [],
  'capabilities.read': [],
  'commands.start': [],
  'commands.startWithInput': [],
  'commands.startWithoutShell': [],
  'commands.read': ['id'],
  'commandSessions.create': [],
  'commandSessions.close': [],
  'files.list': [],
  'files.stat': [],
  'files.read': [],
  'files.write': [],
  'files.download': [],
  'files.readBytes': [],
  'files.findDirectories': [],
  'files.grepLiterally': [],
  'files.grepAcrossLines': [],
  'files.grepLargeFile': [],
  'files.grepBinary': [],
  'watch.start': [],
  'watch.stop': [],
  'terminals.start': [],
  'terminals.close': [],
  'terminals.look': ['id'],
  'terminals.type': ['id'],
  'terminals.interrupt': ['id'],
  'code.start': [],
  'code.close': [],
  'code.interrupt': ['id'],
  'code.runWithoutKernel': [],
  'browser.listTabs': [],
  'browser.openTab': [],
  'browser.navigate': [],
  'browser.snapshot': [],
  'browser.evaluate': [],
  'browser.sendCommand': [],
  'desktop.record': [],
} as const satisfies Readonly<Record<string, readonly 'id'[]>>;

type NextOperation = keyof typeof nextArguments;

export type NextStep<O extends NextOperation = NextOperation> = {
  [K in O]: { readonly operation: K } & { readonly [A in (typeof nextArguments)[K][number]]: string };
}[O];

/** How a surface calls each operation, as a sentence for the hint. A new operation does not compile without its call. */
export type NextCalls = { readonly [O in NextOperation]: string | ((step: NextStep<O>) => string) };

export interface ErrorDetails {
  /** What the caller can change, in one sentence without a route. */
  readonly hint?: string | null;
  /** The same where the sentence names arguments; the surface puts its own names in. */
  readonly advice?: Advice | null;
  /** The next call; the surface appends it to the hint. */
  readonly next?: NextStep | null;
  /** The argument that the message is about; the surface puts its own name of the argument before the message. */
  readonly argument?: ArgumentName;
  /** Facts that a program can read. */
  readonly facts?: Fields | null;
  /** Whether the same call may succeed later. By default the code decides. */
  readonly isRetryable?: boolean;
}

/** A failure that the caller caused or can act on. Any other thrown error is a bug. */
export class CoreError extends Error {
  override readonly name = 'CoreError';
  readonly hint: string | null;
  readonly advice: Advice | null;
  readonly next: NextStep | null;
  readonly argument: ArgumentName | null;
  readonly facts: Fields | null;
  readonly isRetryable: boolean;

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message);
    this.hint = details.hint ?? null;
    this.advice = details.advice ?? null;
    this.next = details.next ?? null;
    this.argument = details.argument ?? null;
    this.facts = details.facts ?? null;
    this.isRetryable = details.isRetryable ?? passing.has(code);
  }
}

/** The failure of the work itself; `await using` hides it when the disposal after it fails too. */
export function firstFailure(error: unknown): unknown {
  return error instanceof SuppressedError ? firstFailure(error.suppressed) : error;
}

export const noDescriptor = 'the daemon has no descriptor left';
export const descriptorHint = 'Try again when other calls or commands have ended, or raise the limit on open files.';

/** Maps a failure for want of a descriptor, which any call to the system may meet; returns other errors unchanged. */
export function withoutDescriptors(error: unknown): unknown {
  if (!isOutOfDescriptors(errnoOf(error))) return error;
  return new CoreError('unavailable', noDescriptor, {
    hint: descriptorHint,
  });
}
