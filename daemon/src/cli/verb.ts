/** The interface of a sub-command: its help page, its arguments and its action. */
import type { Environment } from '../kit/types/environment.ts';
import type { Arguments, Operands } from './arguments.ts';
import type { Page } from './page.ts';

export interface Verb extends Page, Operands {
  /** Returns the exit code. Throws a ClientFailure. */
  run(given: Arguments, environment: Environment): Promise<number>;
}
