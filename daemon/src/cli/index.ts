/** The sub-commands that are clients of a daemon, by name. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { Environment } from '../kit/types/environment.ts';
import { exec } from './commands/exec.ts';
import { ClientFailure, exitClientFailed, ReaderGone } from './client/failure.ts';
import { kill } from './commands/kill.ts';
import { logs } from './commands/logs.ts';
import { isHelpAsked, pageText } from './page.ts';
import { ps } from './commands/ps.ts';
import { print, say } from './client/standard-streams.ts';
import type { Verb } from './verb.ts';

export type Verbs = Readonly<Record<string, Verb>>;

/** Sub-commands that need only HTTP to the daemon. */
export const httpVerbs: Verbs = { exec, ps, kill, logs };

/** The entries for the table of verbs in `main.ts`. */
export function runnable(
  verbs: Verbs,
  environment: Environment,
): Record<string, (args: readonly string[]) => Promise<number>> {
  const entries = Object.entries(verbs).map(
    ([name, verb]) => [name, (args: readonly string[]) => run(name, verb, args, environment)] as const,
  );
  return Object.fromEntries(entries);
}

/** Runs a sub-command. Exit code 125 always means a failure of the client; the verb defines all other codes. */
async function run(name: string, verb: Verb, args: readonly string[], environment: Environment): Promise<number> {
  try {
    refuseOtherBytes(args);
    if (!isHelpAsked(args)) return await verb.run(args, environment);
    await print(pageText(verb));
    return 0;
  } catch (error) {
    if (!(error instanceof ReaderGone)) await say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof ClientFailure ? error.exitCode : exitClientFailed;
  }
}

/** The runtime replaces bytes that are not UTF-8 by U+FFFD. Only the system has the original bytes. */
function refuseOtherBytes(args: readonly string[]): void {
  if (!args.some((word) => word.includes('\ufffd'))) return;
  const words = readFileSync('/proc/self/cmdline', 'latin1').split('\0').slice(0, -1).slice(-args.length);
  if (words.every((word) => isUtf8(Buffer.from(word, 'latin1')))) return;
  throw new ClientFailure(
    'arguments must be UTF-8; write other bytes as escapes in a script, as in exec … --shell -- \'printf "\\377"\'',
  );
}
