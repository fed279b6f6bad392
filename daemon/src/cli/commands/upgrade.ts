/** `boxkeep upgrade`: replaces the running daemon on this machine with the daemon of this file. */
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import type { Environment } from '../../kit/types/environment.ts';
import type { UpgradeOutcome, UpgradeRequest } from '../../kit/types/upgrade.ts';
import type { Arguments } from '../arguments.ts';
import { askLocalDaemon, localDaemonFlags, type Places } from '../client/local-daemon.ts';
import { print } from '../client/standard-streams.ts';
import type { Verb } from '../verb.ts';

export interface UpgradeDeps {
  readonly places: Places;
  /** Null when no daemon runs there. Rejects with one clear line when the old daemon continues. */
  readonly request: (directory: string, request: UpgradeRequest) => Promise<UpgradeOutcome | null>;
}

const details = `Run upgrade from the new file. Its daemon takes over from the daemon that runs on this machine, and init
becomes the new program. Requests wait for some milliseconds and none fails. Commands and sessions keep running.
If the new daemon cannot take over, the old daemon keeps serving, and upgrade prints the reason.

The file must belong to root or to the account of boxkeep, and other accounts must not be able to write to it.`;

export function upgrade(deps: UpgradeDeps): Verb {
  return {
    usage: 'upgrade [flags]',
    summary: 'replace the running daemon on this machine with this file',
    ...{ flags: localDaemonFlags, details },
    exits: '0 if the new daemon serves, 1 otherwise',
    isLocal: true,
    launcherFlags: ['file', 'daemon'], // The path of this file, and the command line of a daemon run from source.
    run: (given, environment) => run(deps, given, environment),
  };
}

async function run(deps: UpgradeDeps, given: Arguments, environment: Environment): Promise<number> {
  const request = { file: given.value('file') ?? '', daemon: given.all('daemon') };
  const { answer } = await askLocalDaemon(deps.places, given, environment, (path) => deps.request(path, request));
  await print(given.has('json') ? JSON.stringify(snakeKeys(answer)) : describe(answer));
  return 0;
}

function describe({ from, to, totalMs, heldMs, fault }: UpgradeOutcome): string {
  const line = `boxkeep ${from} is now ${to}, after ${totalMs} ms; requests waited ${heldMs} ms at most`;
  return fault === null ? line : `${line}\nThe upgrade is incomplete: ${fault}`;
}
