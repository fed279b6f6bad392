/** What a sub-command is: a line in the list of `--help`, a page of its own, and what it does. */
import type { Environment } from './client.ts';

export interface Verb {
  /** What stands behind `sandboxd`. */
  readonly usage: string;
  /** For the list, in a few words. */
  readonly summary: string;
  readonly details: string;
  /** Answers the exit code. Throws a ClientFailure. */
  run(args: readonly string[], environment: Environment): Promise<number>;
}
