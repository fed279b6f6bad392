/** The sub-commands that are clients of a daemon. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { Environment } from '../kit/types/environment.ts';
import { attach } from './attach/attach.ts';
import type { SystemTerminal } from './attach/local.ts';
import { completions } from './commands/completions.ts';
import { completedTable } from './completions/table.ts';
import { localPages } from './local-pages.ts';
import { cp } from './commands/cp.ts';
import { mcp } from './commands/mcp.ts';
import { code } from './commands/code.ts';
import { exec } from './commands/exec.ts';
import { ClientFailure, describeError, exitClientFailed, ReaderGone } from './client/failure.ts';
import { kill } from './commands/kill.ts';
import { logs } from './commands/logs.ts';
import { HelpAsked, readArguments } from './arguments.ts';
import { pageText } from './page.ts';
import { ps } from './commands/ps.ts';
import { print, say } from './client/standard-streams.ts';
import { screenshot } from './commands/screenshot.ts';
import { status } from './commands/status.ts';
import { watch } from './commands/watch.ts';
import { open } from './commands/open.ts';
import { stop, type StopDeps } from './commands/stop.ts';
import { upgrade, type UpgradeDeps } from './commands/upgrade.ts';
import type { Verb } from './verb.ts';

export { exitCodesText } from './exit-codes.ts';

export interface ClientVerbDeps {
  readonly upgrade: UpgradeDeps;
  readonly stop: StopDeps;
  readonly terminal: SystemTerminal;
}

/** By name, in the order of the help page. */
export function clientVerbs(deps: ClientVerbDeps): Readonly<Record<string, Verb>> {
  const verbs: Readonly<Record<string, Verb>> = {
    upgrade: upgrade(deps.upgrade),
    stop: stop(deps.stop),
    ...{ status, exec, ps, kill, logs },
    attach: attach(deps.terminal),
    cp: cp(deps.terminal),
    ...{ watch, code, screenshot, mcp },
    open: open(deps.terminal),
    completions: completions(() => completedTable(localPages, verbs)),
  };
  return verbs;
}

/** Runs a sub-command. Exit code 125 always means a failure of the client; the verb defines all other codes. */
export async function runVerb(
  name: string,
  verb: Verb,
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  try {
    refuseOtherBytes(args);
    return await verb.run(readArguments(args, verb, environment), environment);
  } catch (error) {
    if (error instanceof HelpAsked) return await printPage(verb);
    if (!(error instanceof ReaderGone)) await say(`${name}: ${describeError(error)}`);
    return error instanceof ClientFailure ? error.exitCode : exitClientFailed;
  }
}

async function printPage(verb: Verb): Promise<number> {
  await print(pageText(verb));
  return 0;
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
