/** Defines an operation once for every surface that calls it: the names on the wire, the errors it may raise, the work. */
import type { z } from 'zod';
import type { Answer } from '../kit/answer.ts';
import type { ErrorCode } from '../kit/errors.ts';

/** What an operation may learn about its caller. */
export interface Call {
  /** Fires when the caller has gone or has cancelled. */
  readonly signal: AbortSignal;
  /** Headers that lead from the log of one process to that of another. */
  readonly trace: Readonly<Record<string, string>>;
}

export interface Operation<Deps, I extends z.ZodType, O extends z.ZodType> {
  /** Unique, such as `desktop.act`. */
  readonly name: string;
  /** The names of v2. A surface with other names translates them. */
  readonly input: I;
  readonly output: O;
  /** Errors that it may raise for valid input. */
  readonly errors: readonly ErrorCode[];
  /** A property and not a method, so that `Deps` is checked strictly. */
  readonly run: (deps: Deps, input: z.output<I>, call: Call) => Promise<z.input<O> | Answer<z.input<O>>>;
}

/** The `operation` function of a plane. `Deps` is named once, so that the compiler reports other mistakes as they are. */
export function operationsOn<Deps>() {
  return <I extends z.ZodType, O extends z.ZodType>(operation: Operation<Deps, I, O>): Operation<Deps, I, O> =>
    operation;
}
