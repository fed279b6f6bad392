/** The ports of a daemon: they open, are handed over and close together. */
import type { CoreError } from '../../kit/errors.ts';
import { askDirectly, HandoverGate, type Ask } from './handover-gate.ts';
import type { Fetch, Listener, ListenSettings } from './listen.ts';

export interface Port extends ListenSettings {
  readonly serve: Fetch;
  /** The answer to a request that this daemon does not serve. */
  readonly failure: (error: CoreError, path: string) => Response;
  /** How the next daemon is asked where `bind` serves another protocol. */
  readonly ask?: Ask;
}

export type OpenListener = (settings: ListenSettings, fetch: Fetch) => Listener | Promise<Listener>;

interface OpenPort {
  readonly hostname: string;
  readonly gate: HandoverGate;
  readonly listener: Listener;
}

/** The paths of the requests that report the health of this daemon. */
const probePaths: ReadonlySet<string> = new Set(['/health', '/v1/health']);
/** A daemon that listens on every address is reached at the loopback address. */
const anyAddresses = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

export class Ports {
  #all: readonly OpenPort[] = [];

  /** Opens every port, or none: throws like `listen`. */
  async open(ports: readonly Port[], openListener: OpenListener): Promise<void> {
    const opened: OpenPort[] = [];
    try {
      for (const { serve, failure, ask = askDirectly, ...settings } of ports) {
        const gate = new HandoverGate(probePaths, failure, ask);
        opened.push({ ...settings, gate, listener: await openListener(settings, gate.guard(serve)) });
      }
    } catch (error) {
      await Promise.all(opened.map(({ listener }) => listener.stop(0)));
      throw error;
    }
    this.#all = opened;
  }

  /** The number and the URL of the first port. */
  get first(): { readonly port: number; readonly url: string } | null {
    const [port] = this.#all;
    return port ? { port: port.listener.port, url: urlOf(port.hostname, port.listener.port) } : null;
  }

  /** Lets another daemon listen on the ports too. */
  async share(calledOff: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map(({ listener }) => listener.share(calledOff)));
  }

  async unshare(): Promise<void> {
    await Promise.all(this.#all.map(({ listener }) => listener.unshare()));
  }

  /** Holds requests that arrive from now on. */
  hold(): void {
    for (const { gate } of this.#all) gate.hold();
  }

  /** Serves the held requests here after all. */
  resume(): void {
    for (const { gate } of this.#all) gate.open();
  }

  /** Forwards requests to the daemon that now listens on the same ports. */
  forward(): void {
    for (const { gate, hostname, listener } of this.#all) {
      listener.leave();
      gate.forward(urlOf(anyAddresses.get(hostname) ?? hostname, listener.port));
    }
  }

  /** Resolves when the last connection of this daemon has ended. */
  async drain(): Promise<void> {
    await Promise.all(this.#all.map(({ listener }) => listener.drain()));
  }

  async stop(withinMs: number): Promise<void> {
    await Promise.all(this.#all.map(({ listener }) => listener.stop(withinMs)));
  }
}

function urlOf(hostname: string, port: number): string {
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}
