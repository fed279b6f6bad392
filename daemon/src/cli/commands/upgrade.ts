/** `boxkeep upgrade`: replaces the running daemon on this machine with the daemon of this file. */
import { readConfig } from '../../config.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import type { Environment } from '../../kit/types/environment.ts';
import type { UpgradeOutcome, UpgradeRequest } from '../../kit/types/upgrade.ts';
import type { Arguments } from '../arguments.ts';
import { ClientFailure } from '../client/failure.ts';
import { print } from '../client/standard-streams.ts';
import type { Verb } from '../verb.ts';

export interface UpgradeDeps {
  /** The directories in which a daemon may run, the most likely first. */
  readonly places: (wanted: string | null, port: number) => readonly { readonly path: string }[];
  /** Null when no daemon runs there. Rejects with one clear line when the old daemon continues. */
  readonly request: (directory: string, request: UpgradeRequest) => Promise<UpgradeOutcome | null>;
}

const flags = {
  '--runtime-dir DIR': 'runtime directory of the running daemon (SVC_RUNTIME_DIR); default: the usual places',
  '--port PORT': 'port of the running daemon, which is part of the usual places (SVC_PORT)',
  '--json': 'print the outcome as JSON',
};

const details = `Run upgrade from the new file. Its daemon takes over from the daemon that runs on this machine, and init
becomes the new program. Requests wait for some milliseconds and none fails. Commands and sessions keep running.
If the new daemon cannot take over, the old daemon keeps serving, and upgrade prints the reason.

The file must belong to root or to the account of boxkeep, and other accounts must not be able to write to it.`;

/** The old daemon continues, or no daemon runs. */
class UpgradeFailure extends ClientFailure {
  override readonly exitCode = 1;
}

export function upgrade(deps: UpgradeDeps): Verb {
  return {
    usage: 'upgrade [flags]',
    summary: 'replace the running daemon on this machine with this file',
    ...{ flags, details },
    exits: '0 if the new daemon serves, 1 otherwise',
    isLocal: true,
    launcherFlags: ['file', 'daemon'], // The path of this file, and the command line of a daemon run from source.
    run: (given, environment) => run(deps, given, environment),
  };
}

async function run(deps: UpgradeDeps, given: Arguments, environment: Environment): Promise<number> {
  const request = { file: given.value('file') ?? '', daemon: given.all('daemon') };
  const places = findPlaces(deps, given.value('runtime-dir'), given.value('port'), environment);
  for (const { path } of places) {
    const outcome = await ask(deps, path, request);
    if (outcome === null) continue;
    await print(given.has('json') ? JSON.stringify(snakeKeys(outcome)) : describe(outcome));
    return 0;
  }
  const looked = places.map(({ path }) => path).join(', ');
  throw new UpgradeFailure(`no running boxkeep was found in ${looked}; pass its --runtime-dir`);
}

function findPlaces(deps: UpgradeDeps, directory: string | null, port: string | null, environment: Environment) {
  const flags = [
    ...(directory === null ? [] : [`--runtime-dir=${directory}`]),
    ...(port === null ? [] : [`--port=${port}`]),
  ];
  try {
    const config = readConfig({ arguments: flags, environment, secrets: new Map() });
    return deps.places(config.runtimeDir, config.port);
  } catch (error) {
    throw new UpgradeFailure(messageOf(error));
  }
}

async function ask(deps: UpgradeDeps, path: string, request: UpgradeRequest): Promise<UpgradeOutcome | null> {
  try {
    return await deps.request(path, request);
  } catch (error) {
    throw new UpgradeFailure(messageOf(error));
  }
}

function describe({ from, to, totalMs, heldMs, fault }: UpgradeOutcome): string {
  const line = `boxkeep ${from} is now ${to}, after ${totalMs} ms; requests waited ${heldMs} ms at most`;
  return fault === null ? line : `${line}\nThe upgrade is incomplete: ${fault}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
