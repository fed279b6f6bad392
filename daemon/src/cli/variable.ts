/** Parses the value of --env: a variable for the command in the sandbox. */
import type { Environment } from '../kit/types/environment.ts';
import { ClientFailure } from './client/failure.ts';

/** `NAME=VALUE`, or `NAME` to take the value of the local variable. */
export function variable(text: string, environment: Environment): [string, string] {
  const [name = ''] = text.split('=', 1);
  if (name.length < text.length) return [name, text.slice(name.length + 1)];
  const value = environment[name];
  if (value === undefined) throw new ClientFailure(`--env ${name}: there is no such variable here`);
  return [name, value];
}
