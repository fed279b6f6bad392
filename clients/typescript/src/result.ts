/** The outcome of a call: the whole answer of the daemon, or one typed error. */
import type { Failure } from './wire.ts';

/**
 * `unreachable`: no answer came, so the daemon or the way to it is down. `not_boxkeep`: something else answers at this
 * address. `not_trusted`: the certificate of the daemon has no authority that the runtime trusts. `bad_key`: the key
 * cannot be one, or stands in the address. `gave_up`: the daemon was away for longer than the caller waits.
 * `no_websocket`: the runtime has none. `input_in_doubt`: nothing tells whether a terminal got what was typed.
 * `detached`: the caller has left the terminal. `local_failed`: a file or a program of this
 * machine. `content_differs`: the bytes of a transfer are not those of the file.
 */
export type ClientErrorCode =
  | 'unreachable'
  | 'not_boxkeep'
  | 'not_trusted'
  | 'bad_key'
  | 'gave_up'
  | 'local_failed'
  | 'content_differs'
  | 'no_websocket'
  | 'input_in_doubt'
  | 'detached';
export type ErrorCode = Failure['data']['code'] | ClientErrorCode;

export interface ErrorFacts {
  readonly code: ErrorCode;
  readonly message: string;
  /** What to do next; null where the message says it. */
  readonly hint?: string | null;
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean;
  /** Whether the call may have had its effect although it failed, because its answer was lost. */
  readonly isMaybeDone?: boolean;
  /** The HTTP status; null without an answer. */
  readonly status?: number | null;
  /** What the daemon says about the failure, such as `errno_name` of a file. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Of `invalid_input`: the fields that are wrong. */
  readonly errors?: Failure['errors'];
  readonly cause?: unknown;
}

/** Never holds the key. */
export class BoxError extends Error {
  override readonly name = 'BoxError';
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly retryable: boolean;
  /** The transport sets this where an earlier attempt of the same call may have arrived. */
  isMaybeDone: boolean;
  readonly status: number | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors: NonNullable<Failure['errors']>;

  constructor({ message, code, hint, retryable, isMaybeDone, status, data, errors, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint ?? null;
    this.retryable = retryable ?? false;
    this.isMaybeDone = isMaybeDone ?? false;
    this.status = status ?? null;
    this.data = data ?? {};
    this.errors = errors ?? [];
  }
}

/** A connection that was open is not any more. */
export function unreachable(message: string): BoxError {
  return new BoxError({ code: 'unreachable', message, retryable: true, isMaybeDone: true });
}

export type Result<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly error: BoxError };

export function succeeded<Body>(body: Body): Result<Body> {
  return { ok: true, body };
}

export function failed(error: BoxError): Result<never> {
  return { ok: false, error };
}

/** The outcome of work that throws BoxErrors. Other errors, such as that of an aborted signal, are passed on. */
export async function resultOf<Body>(work: () => Promise<Body>): Promise<Result<Body>> {
  try {
    return succeeded(await work());
  } catch (error) {
    if (error instanceof BoxError) return failed(error);
    throw error;
  }
}

/** The same object, whose methods return the body of a Result, or throw its error. */
export type Throwing<T> = {
  readonly [Name in keyof T]: T[Name] extends (...args: infer Args) => Promise<Result<infer Body>>
    ? (...args: Args) => Promise<Body extends Handle ? Throwing<Body> : Body>
    : T[Name] extends Plane
      ? Throwing<T[Name]>
      : T[Name];
};

/** A part of a sandbox whose methods return Results. */
export abstract class Plane {
  protected readonly isPlane = true;
}

/** Something in a sandbox that a method returns, and whose own methods return Results. */
export abstract class Handle extends Plane {
  protected readonly isHandle = true;
}

export function throwing<T extends object>(target: T): Throwing<T> {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (member instanceof Plane) return throwing(member);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const returned: unknown = Reflect.apply(member, target, args);
        return returned instanceof Promise ? returned.then(bodyOf) : returned;
      };
    },
  }) as Throwing<T>;
}

function bodyOf(value: unknown): unknown {
  if (!isResult(value)) return value;
  if (!value.ok) throw value.error;
  return value.body instanceof Handle ? throwing(value.body) : value.body;
}

function isResult(value: unknown): value is Result<unknown> {
  return typeof value === 'object' && value !== null && 'ok' in value && ('body' in value || 'error' in value);
}
