/** A server that is already running, reached by its address. */
import { listenersOn } from '../processes.ts';
import type { Contestant, FileTransfer, Peer } from './peer.ts';

export interface Wire {
  /** Answers when the server is healthy. */
  readonly healthPath: string;
  run(url: string, script: string): Promise<number>;
  follow(url: string, script: string): AsyncIterable<number>;
  files?(url: string): FileTransfer;
}

export function addressed(name: string, url: string, wire: Wire): Peer {
  return {
    name,
    canStartAnew: false,
    async open(): Promise<Contestant> {
      const health = await fetch(`${url}${wire.healthPath}`);
      if (!health.ok) throw new Error(`${url}${wire.healthPath}: ${health.status}`);
      return {
        name,
        url,
        pids: listenersOn(url),
        startMs: null,
        run: (script) => wire.run(url, script),
        follow: (script) => wire.follow(url, script),
        ...(wire.files ? { files: wire.files(url) } : {}),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  };
}
