/** The life of a daemon that has been composed: it opens its port, may hand over to another one, and closes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { settingWarnings, type Config } from './config.ts';
import type { CodeSessions } from './core/code/sessions.ts';
import type { Commands } from './core/commands/commands.ts';
import type { Sessions } from './core/commands/sessions.ts';
import type { Terminals } from './core/terminals/terminals.ts';
import type { Watchers } from './core/watch/watchers.ts';
import { createApp, type AppDeps } from './http/app.ts';
import { rehearse } from './http/rehearsal.ts';
import { socketProtocol } from './http/socket.ts';
import type { Logger } from './kit/logger.ts';
import { Door } from './platform/door.ts';
import type { Boot } from './platform/init.ts';
import { listen, listenBeside, type Listener } from './platform/listen.ts';
import { keepPort, readPort } from './platform/runtime-directory.ts';
import type { KeeperSpawn } from './platform/spawn.ts';
import type { Tracing } from './platform/tracing.ts';

export interface DaemonDeps {
  readonly config: Config;
  readonly boot: Boot;
  readonly runtimeDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly app: AppDeps;
  readonly code: CodeSessions;
  readonly commands: Commands;
  readonly sessions: Sessions;
  readonly terminals: Terminals;
  readonly watchers: Watchers;
  readonly spawn: KeeperSpawn;
  readonly tracing: Tracing | null;
  /** Aborted when the streams are to end. */
  readonly closing: AbortController;
}

/** What open streams get to write their last line; init waits 2 s for the daemon. */
const closeMs = 1000;
/** What was asked of another machine in that time holds, also where nobody hears the answer. */
const closeElsewhereMs = 500;

/** Who listens on every address is reached at this one. */
const anyAddresses = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

export class Daemon {
  readonly #door = new Door();
  #listener: Listener | null = null;

  constructor(private readonly deps: DaemonDeps) {}

  /** Does beforehand what does not touch what another daemon still owns. */
  async warmUp(): Promise<void> {
    this.deps.spawn.foresee();
    await rehearse(this.deps.app);
  }

  /** Takes up what is there, and listens; answers the URL. */
  async open(): Promise<string> {
    const { code, commands, spawn, terminals } = this.deps;
    const recovered = commands.recover(await code.recover(terminals.recover(await spawn.recover())));
    await this.deps.spawn.prepare();
    this.#tellStart(recovered);
    this.#listener = await this.#listen();
    return this.#url(this.#hostname);
  }

  /** Holds what comes, finishes what is short, and lets every command go; answers for how many ms that was. */
  async handOver(): Promise<number> {
    await this.#listener?.share();
    const heldFrom = performance.now();
    this.#door.hold();
    const { code, commands, terminals } = this.deps;
    await Promise.all([code.handOver(), commands.handOver(), terminals.handOver()]);
    await this.deps.spawn.letGo();
    return performance.now() - heldFrom;
  }

  /** The other daemon has failed: takes everything up again. */
  async takeBack(): Promise<void> {
    this.#listener?.unshare();
    await this.deps.spawn.takeBack();
    this.deps.commands.takeBack();
    this.deps.terminals.takeBack();
    this.deps.code.takeBack();
    this.#door.open();
  }

  /** The other daemon serves: passes on to it what was held and what still comes, up to the last connection. */
  async leave(): Promise<void> {
    if (!this.#listener) return;
    // The other one knows nothing of them: who follows one learns at once that it is to be made anew.
    this.deps.watchers[Symbol.dispose]();
    this.deps.terminals.attaching.leave();
    this.#door.passOn(this.#url(anyAddresses.get(this.#hostname) ?? this.#hostname));
    await this.#listener.seeOff();
  }

  /** Stops accepting, tells the streams, and waits a moment for them to end; then in reverse of the construction. */
  async close(): Promise<void> {
    const { closing, code, tracing, commands, sessions, terminals, watchers, spawn } = this.deps;
    closing.abort();
    await this.#listener?.stop(closeMs);
    await code.endElsewhere(closeElsewhereMs);
    await nextTurn(); // The last answers are logged a turn of the event loop behind them.
    await tracing?.close();
    await code.settle();
    watchers[Symbol.dispose]();
    terminals[Symbol.dispose]();
    code[Symbol.dispose]();
    commands[Symbol.dispose]();
    sessions[Symbol.dispose]();
    spawn[Symbol.dispose]();
  }

  get #hostname(): string {
    const { host, apiKey } = this.deps.config;
    return host || (apiKey === null ? '127.0.0.1' : '0.0.0.0');
  }

  #url(hostname: string): string {
    return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${this.#listener?.port}`;
  }

  /** A daemon that is started again, or succeeds another one, is found where that was. */
  async #listen(): Promise<Listener> {
    const { app, boot, config, logger, runtimeDirectory } = this.deps;
    const served = this.#door.through(createApp(app));
    const port = config.port === 0 && boot.restarts > 0 ? readPort(runtimeDirectory) : config.port;
    const settings = { hostname: this.#hostname, port, idleSeconds: config.idleSeconds, socketProtocol };
    const listener = boot.isSuccessor ? await listenBeside(settings, served) : listen(settings, served);
    if (!keepPort(runtimeDirectory, listener.port)) logger.warn('no room to note the port', { port: listener.port });
    return listener;
  }

  #tellStart(recovered: { readonly running: number; readonly ended: number }): void {
    const { boot, logger } = this.deps;
    if (boot.isSuccessor) logger.info('took over from another daemon', { ...recovered });
    else if (boot.restarts > 0) logger.warn('started again by init', { restarts: boot.restarts, ...recovered });
    else if (recovered.running + recovered.ended > 0) logger.info('took over', { ...recovered });
    else this.#warnOfSettings();
  }

  #warnOfSettings(): void {
    const { config, environment, logger } = this.deps;
    for (const { variable, message } of settingWarnings(environment, config.apiKey !== null)) {
      logger.warn(message, { variable });
    }
  }
}
