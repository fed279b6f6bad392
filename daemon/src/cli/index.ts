/** The sub-commands that are clients of a daemon, by their name. */
import { exec } from './exec.ts';
import { ClientFailure, exitClientFailed, ReaderGone } from './failure.ts';
import { kill } from './kill.ts';
import { logs } from './logs.ts';
import { ps } from './ps.ts';
import { print, say } from './standard-streams.ts';
import type { Environment } from './client.ts';
import type { Verb } from './verb.ts';

export type Verbs = Readonly<Record<string, Verb>>;

/** The verbs that talk with a daemon over HTTP alone. */
export const httpVerbs: Verbs = { exec, ps, kill, logs };

/** For the table of verbs in `main.ts`. */
export function runnable(
  verbs: Verbs,
  environment: Environment,
): Record<string, (args: readonly string[]) => Promise<number>> {
  const entries = Object.entries(verbs).map(
    ([name, verb]) => [name, (args: readonly string[]) => run(name, verb, args, environment)] as const,
  );
  return Object.fromEntries(entries);
}

/** Lines for `sandboxd --help`. */
export function verbsHelp(verbs: Verbs): string {
  const width = 33;
  return Object.values(verbs)
    .map(({ usage, summary }) => `  ${`sandboxd ${usage}`.padEnd(width)}  ${summary}`)
    .join('\n');
}

/** A code of 125 is always ours, and comes with one line on why; every other one is told by the verb. */
async function run(name: string, verb: Verb, args: readonly string[], environment: Environment): Promise<number> {
  try {
    if (!isHelpAsked(args)) return await verb.run(args, environment);
    await print(`sandboxd ${verb.usage}: ${verb.summary}\n\n${verb.details}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ReaderGone)) await say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof ClientFailure ? error.exitCode : exitClientFailed;
  }
}

function isHelpAsked(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((word) => word === '--help' || word === '-h');
}
