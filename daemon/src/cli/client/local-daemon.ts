/** Finds the daemon that runs on this machine, and asks its init. */
import { readConfig } from '../../config.ts';
import type { Environment } from '../../kit/types/environment.ts';
import type { Arguments } from '../arguments.ts';
import { ClientFailure } from './failure.ts';

/** The directories in which a daemon may run, the most likely first. */
export type Places = (wanted: string | null, port: number) => readonly { readonly path: string }[];

export const localDaemonFlags = {
  '--runtime-dir DIR': 'runtime directory of the running daemon (SVC_RUNTIME_DIR); default: the usual places',
  '--port PORT': 'port of the running daemon, which is part of the usual places (SVC_PORT)',
  '--json': 'print the outcome as JSON',
};

/** The daemon continues as it was, or none runs. */
class LocalDaemonFailure extends ClientFailure {
  override readonly exitCode = 1;
}

/** `ask` returns null when no daemon runs in the directory. */
export async function askLocalDaemon<Answer>(
  places: Places,
  given: Arguments,
  environment: Environment,
  ask: (directory: string) => Promise<Answer | null>,
): Promise<{ readonly path: string; readonly answer: Answer }> {
  try {
    const found = findPlaces(places, given.value('runtime-dir'), given.value('port'), environment);
    for (const { path } of found) {
      const answer = await ask(path);
      if (answer !== null) return { path, answer };
    }
    const looked = found.map(({ path }) => path).join(', ');
    throw new Error(`no running boxkeep was found in ${looked}; pass the --port or --runtime-dir of its start`);
  } catch (error) {
    throw new LocalDaemonFailure(error instanceof Error ? error.message : String(error));
  }
}

function findPlaces(places: Places, directory: string | null, port: string | null, environment: Environment) {
  const flags = [
    ...(directory === null ? [] : [`--runtime-dir=${directory}`]),
    ...(port === null ? [] : [`--port=${port}`]),
  ];
  const config = readConfig({ arguments: flags, environment, secrets: new Map() });
  return places(config.runtimeDir, config.port);
}
