/** The interface of a sub-command: its help page and its action. */
import type { Environment } from '../kit/types/environment.ts';
import type { Page } from './page.ts';

export interface Verb extends Page {
  /** Returns the exit code. Throws a ClientFailure. */
  run(args: readonly string[], environment: Environment): Promise<number>;
}
