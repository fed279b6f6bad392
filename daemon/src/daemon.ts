/** The life cycle of a composed daemon: opens the port, may hand over to another daemon, and closes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isAgentSandboxOpenToOthers, isOpenToOthers, settings, settingWarnings, type Config } from './config.ts';
import type { Browser } from './core/browser/browser.ts';
import type { CodeSessions } from './core/code/sessions/sessions.ts';
import type { Commands } from './core/commands/commands.ts';
import type { Accounts } from './core/identity/accounts.ts';
import type { Tools } from './core/processes/tool.ts';
import type { Terminals } from './core/terminals/session/terminals.ts';
import type { Watchers } from './core/watch/watchers.ts';
import { createApp, type AppDeps, type FurtherPort } from './http/app.ts';
import { rehearse } from './http/route/rehearsal.ts';
import { failure } from './http/route/envelope.ts';
import { socketProtocol } from './http/stream/socket.ts';
import { readKeyFile } from './kit/api-key.ts';
import type { Logger } from './kit/logger.ts';
import type { Ownership } from './kit/ownership.ts';
import type { Environment } from './kit/types/environment.ts';
import type { Boot } from './platform/process/init.ts';
import { listen, listenAgain, listenBeside } from './platform/server/listen.ts';
import { Ports, type OpenListener, type Port } from './platform/server/ports.ts';
import { keepNoted, readNoted } from './platform/stores/runtime-directory.ts';
import type { KeeperSpawn } from './platform/process/spawn.ts';
import type { Tracing } from './platform/observe/tracing.ts';

export interface DaemonDeps {
  readonly config: Config;
  readonly boot: Boot;
  readonly ownership: Ownership;
  readonly runtimeDirectory: string;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly app: AppDeps;
  /** What other ports serve. */
  readonly further: readonly (FurtherPort & Pick<Port, 'bind' | 'ask'>)[];
  readonly accounts: Accounts;
  readonly browser: Browser;
  readonly code: CodeSessions;
  readonly commands: Commands;
  readonly terminals: Terminals;
  readonly tools: Tools;
  readonly watchers: Watchers;
  readonly spawn: KeeperSpawn;
  readonly tracing: Tracing | null;
  /** Aborted to end all streams. */
  readonly closing: AbortController;
}

/** Time for open streams to write their last line; init waits 2 s for the daemon. */
const closeMs = 1000;
/** Time for interpreters to end as programs do. Their keepers then give them 3 s more. */
const endCodeMs = 1000;
/** Time for requests to another machine, which acts on them even after the daemon stops waiting. */
const closeElsewhereMs = 500;

const keyStays = 'the API key stays as it was';
const openPortsMessage =
  'the ports of agent-sandbox ask for no key, and anyone who can connect runs commands. Limit who can connect.';
const openMessage = 'no key is set, and anyone who can connect runs commands. Set SVC_API_KEY.';

export class Daemon {
  readonly #ports = new Ports();

  constructor(private readonly deps: DaemonDeps) {}

  /** Prepares everything that does not touch resources of the daemon that still serves. */
  async warmUp(): Promise<void> {
    this.deps.spawn.foresee();
    await rehearse(this.deps.app);
  }

  /**
   * Notes the key of a file for the next daemon. A daemon that was started again, and whose file holds no key any more,
   * goes on with the noted one. Throws why the file holds no key when none is noted.
   */
  keepKey(failure: Error | null): void {
    const { app, logger, runtimeDirectory } = this.deps;
    if (!failure) return this.#noteKey();
    const digest = readNoted(runtimeDirectory, 'key-digest');
    if (digest === null) throw failure;
    app.apiKey.restore(digest);
    logger.warn(keyStays, { error: String(failure) });
  }

  /** Reads the key file again. The key stays when the file holds none. */
  readKeyAgain(path: string): void {
    const { app, logger } = this.deps;
    try {
      app.apiKey.replace(readKeyFile(path));
      this.#noteKey();
      logger.info('the API key was read again', { path });
    } catch (error) {
      logger.warn(keyStays, { error: String(error) });
    }
  }

  #noteKey(): void {
    const { app, runtimeDirectory } = this.deps;
    if (app.apiKey.digest !== null) keepNoted(runtimeDirectory, 'key-digest', app.apiKey.digest);
  }

  /** Recovers existing commands, terminals and code sessions, then listens. Returns the URL. */
  async open(): Promise<string> {
    const { code, commands, spawn, terminals, tools } = this.deps;
    const left = await spawn.recover();
    tools.recover(left.tools);
    terminals.recover(left.terminals);
    await code.recover(left.code);
    const recovered = commands.recover(left.commands);
    await this.deps.spawn.prepare();
    this.#tellStart(recovered);
    return await this.#listen();
  }

  /**
   * Holds new requests, finishes short work and releases every command. Returns how many ms requests were held. Does no
   * further step once the upgrade is called off.
   */
  async handOver(calledOff: AbortSignal): Promise<number> {
    if (!calledOff.aborted) await this.#ports.share(calledOff);
    if (calledOff.aborted) return 0;
    const heldFrom = performance.now();
    this.#ports.hold();
    const { code, commands, ownership, spawn, terminals } = this.deps;
    ownership.startLeaving();
    await Promise.all([code.handOver(calledOff), commands.handOver(calledOff), terminals.handOver(calledOff)]);
    await spawn.release(calledOff);
    return performance.now() - heldFrom;
  }

  /** Resumes everything after the other daemon has failed. Called after `handOver` has settled. */
  async takeBack(): Promise<void> {
    await this.#ports.unshare();
    const { code, commands, ownership, spawn, terminals } = this.deps;
    if (ownership.isOwned) return; // The upgrade was called off before the handover began.
    const hadKeepers = !ownership.isLeft;
    await spawn.reattach();
    ownership.takeBack();
    commands.takeBack();
    terminals.takeBack();
    code.takeBack();
    if (!hadKeepers) for (const plane of [commands, code]) plane.resumeInput();
    this.#ports.resume();
  }

  /** Forwards held and later requests to the daemon that now serves, until the last connection has ended. */
  async leave(): Promise<void> {
    // The other daemon knows nothing of these watchers. A client that follows one learns at once that it must create a
    // new one.
    this.deps.watchers[Symbol.dispose]();
    this.deps.terminals.clients.leave();
    this.#ports.forward();
    await this.#ports.drain();
  }

  /** Stops accepting, ends the streams, then closes the parts in reverse order of construction. */
  async close(): Promise<void> {
    const { browser, closing, code, tracing, commands, terminals, watchers, spawn } = this.deps;
    closing.abort();
    await Promise.all([this.#ports.stop(closeMs), code.letEnd(endCodeMs)]);
    await code.endElsewhere(closeElsewhereMs);
    await nextTurn(); // The log lines of the last answers follow one turn of the event loop later.
    await tracing?.close();
    await code.settle();
    watchers[Symbol.dispose]();
    terminals[Symbol.dispose]();
    browser[Symbol.dispose]();
    code[Symbol.dispose]();
    commands[Symbol.dispose]();
    spawn[Symbol.dispose]();
  }

  get #hostname(): string {
    const { host, apiKey } = this.deps.config;
    return host || (apiKey === null ? '127.0.0.1' : '0.0.0.0');
  }

  /** A restarted daemon, or a successor, listens on the port of the daemon before it. Returns the URL. */
  async #listen(): Promise<string> {
    const { app, boot, config, further, logger, runtimeDirectory } = this.deps;
    const noted = config.port === 0 && boot.restarts > 0 ? readNoted(runtimeDirectory, 'port') : null;
    const port = Number(noted ?? config.port);
    // Without a key, the further ports are for this machine alone, whatever SVC_HOST says.
    const furtherHostname = config.apiKey === null ? '127.0.0.1' : this.#hostname;
    const served = [
      { hostname: this.#hostname, port, variable: settings.port.variable, app },
      ...further.map((one) => ({ hostname: furtherHostname, ...one })),
    ];
    await this.#ports.open(
      served.map(({ app: deps, ...port }) => ({
        ...port,
        ...{ idleSeconds: config.idleSeconds, socketProtocol },
        ...{ serve: createApp(deps), failure: deps.failure ?? failure },
      })),
      openerOf(boot),
    );
    const { first } = this.#ports;
    if (!first) throw new Error('a daemon has a port');
    if (!keepNoted(runtimeDirectory, 'port', String(first.port)))
      logger.warn('no room to note the port', { port: first.port });
    return first.url;
  }

  #tellStart(recovered: { readonly running: number; readonly ended: number }): void {
    const { boot, logger } = this.deps;
    if (boot.isSuccessor) logger.info('took over from another daemon', { ...recovered });
    else if (boot.restarts > 0) logger.warn('started again by init', { restarts: boot.restarts, ...recovered });
    else {
      if (recovered.running + recovered.ended > 0) logger.info('took over', { ...recovered });
      this.#warnOfSettings();
    }
  }

  #warnOfSettings(): void {
    const { accounts, config, environment, logger } = this.deps;
    try {
      accounts.default();
    } catch (error) {
      logger.warn('commands without a user cannot run', { error: String(error) });
    }
    for (const { variable, message } of settingWarnings(environment, config.apiKey !== null)) {
      logger.warn(message, { variable });
    }
    if (isOpenToOthers(config)) logger.warn(openMessage, { host: config.host });
    if (isAgentSandboxOpenToOthers(config)) logger.warn(openPortsMessage, { host: config.agentSandboxHost });
  }
}

function openerOf({ isSuccessor, restarts }: Boot): OpenListener {
  if (isSuccessor) return listenBeside;
  return restarts > 0 ? listenAgain : listen;
}
