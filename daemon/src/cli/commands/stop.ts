/** `boxkeep stop`: ends the daemon that runs on this machine. */
import type { Stopped } from '../../kit/types/upgrade.ts';
import { askLocalDaemon, localDaemonFlags, type Places } from '../client/local-daemon.ts';
import { print } from '../client/standard-streams.ts';
import type { Verb } from '../verb.ts';

export interface StopDeps {
  readonly places: Places;
  /** Resolves when the daemon and its init have ended; null when none runs there. */
  readonly requestStop: (directory: string) => Promise<Stopped | null>;
}

export function stop({ places, requestStop }: StopDeps): Verb {
  return {
    usage: 'stop [flags]',
    summary: 'end the running daemon on this machine',
    flags: localDaemonFlags,
    details: `Does what SIGTERM does to the running boxkeep: it ends every command, and then itself, within 8 seconds. stop waits for
that. A supervisor that restarts boxkeep, such as systemd, starts it again.`,
    exits: '0 if the daemon has ended, 1 if none was found or the daemon is too old for stop',
    isLocal: true,

    async run(given, environment) {
      const { path, answer } = await askLocalDaemon(places, given, environment, requestStop);
      const { pid, version } = answer;
      const text = `stopped boxkeep ${version}, pid ${pid}, of ${path}`;
      await print(given.has('json') ? JSON.stringify({ pid, version, runtime_dir: path }) : text);
      return 0;
    },
  };
}
