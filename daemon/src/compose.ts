/** The one place that constructs things, and closes them in reverse. */
import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { describeSurface, rootRoutes, v1Routes, v2Routes } from './api.ts';
import type { Config } from './config.ts';
import { Commands } from './core/commands/commands.ts';
import { imageEnvironment } from './core/commands/environment.ts';
import { Launcher } from './core/commands/launcher.ts';
import { LogBudget, type LogBudgetLimits } from './core/commands/log-budget.ts';
import { Sessions, type Session } from './core/commands/sessions.ts';
import { UsedIds, type UsedId } from './core/commands/used-ids.ts';
import { Accounts } from './core/identity/accounts.ts';
import { createApp } from './http/app.ts';
import { ApiKey } from './http/auth.ts';
import { maxJsonBodyBytes } from './http/body.ts';
import { OpenStreams } from './http/open-streams.ts';
import { socketProtocol } from './http/socket.ts';
import { bindRoutes } from './http/route.ts';
import type { Logger } from './kit/logger.ts';
import { SystemAccounts } from './platform/accounts.ts';
import type { Boot } from './platform/init.ts';
import { listen } from './platform/listen.ts';
import { findProgram } from './platform/programs.ts';
import { keepPort, readPort } from './platform/runtime-directory.ts';
import { KeeperSpawn } from './platform/spawn.ts';
import { StateFile } from './platform/state-file.ts';
import { version } from './version.ts';

export interface DaemonInputs {
  readonly config: Config;
  readonly boot: Boot;
  /** Owned by init for this daemon. */
  readonly runtimeDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

export interface Daemon {
  readonly url: string;
  /** Stops accepting, tells the streams, and waits a moment for them to end. */
  close(): Promise<void>;
}

const mebibyte = 1024 * 1024;
/** What open streams get to write their last line; init waits 2 s for the daemon. */
const closeMs = 1000;

/** The file systems that live in memory, by the magic numbers of statfs(2). */
const memoryFileSystems = new Set([0x01021994, 0x858458f6]);

export async function composeDaemon({
  config,
  boot,
  runtimeDirectory,
  environment,
  logger,
}: DaemonInputs): Promise<Daemon> {
  const startedMs = performance.now();
  const closing = new AbortController();
  const accounts = new Accounts({
    database: new SystemAccounts(),
    own: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    defaultUser: config.defaultUser,
    platform: process.platform,
  });
  const spawn = new KeeperSpawn(runtimeDirectory);
  const budget = new LogBudget(logLimits(config, runtimeDirectory));
  const commands: Commands = new Commands({
    spawn,
    launcher: new Launcher({
      spawn,
      accounts,
      findProgram,
      environment: imageEnvironment({ ...environment, ...Object.fromEntries(boot.scrubbed) }),
      budget,
      endedBytes: () => commands.endedBytes(),
      now: Date.now,
    }),
    sessions: new Sessions({
      store: new StateFile<readonly Session[]>(`${runtimeDirectory}/sessions.json`, []),
      maxSessions: config.maxCommandSessions,
      now: Date.now,
    }),
    usedIds: new UsedIds(new StateFile<readonly UsedId[]>(`${runtimeDirectory}/used-ids.json`, []), Date.now),
    maxRunning: config.maxCommands,
    maxEndedBytes: budget.endedBytes,
    now: Date.now,
  });
  const recovered = await commands.recover();
  if (boot.restarts > 0) logger.warn('started again by init', { restarts: boot.restarts, ...recovered });

  const app = createApp({
    apiKey: new ApiKey(config.apiKey),
    guard: { allowedHosts: config.allowedHosts, corsOrigins: config.corsOrigins },
    body: { maxBytes: maxJsonBodyBytes, stallMs: config.bodyStallSeconds * 1000 },
    streams: new OpenStreams(config.maxStreams),
    logger,
    routes: [
      ...bindRoutes(rootRoutes, { version, uptimeSeconds: () => Math.round(performance.now() - startedMs) / 1000 }),
      ...bindRoutes(v1Routes, { openApi: describeSurface('v1') }),
      ...bindRoutes(v2Routes, { commands, closing: closing.signal, openApi: describeSurface('v2') }),
    ],
  });
  const hostname = config.host || (config.apiKey === null ? '127.0.0.1' : '0.0.0.0');
  const port = config.port === 0 && boot.restarts > 0 ? readPort(runtimeDirectory) : config.port;
  const listener = listen({ hostname, port, socketProtocol }, app);
  keepPort(runtimeDirectory, listener.port);

  return {
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${listener.port}`,
    async close() {
      closing.abort();
      await listener.stop(closeMs);
      commands[Symbol.dispose]();
      spawn[Symbol.dispose]();
    },
  };
}

/** What is kept by default, on a disk and in memory (contract, Commands). */
function logLimits({ streamKeptMib, totalKeptMib }: Config, directory: string): LogBudgetLimits {
  const isInMemory = memoryFileSystems.has(statfsSync(directory).type);
  const memoryBytes = Math.min(process.constrainedMemory() || totalmem(), totalmem());
  const total = isInMemory ? Math.min(2048 * mebibyte, Math.floor(memoryBytes / 10)) : 2048 * mebibyte;
  return {
    capBytes: (streamKeptMib ?? (isInMemory ? 64 : 256)) * mebibyte,
    totalBytes: totalKeptMib === null ? total : totalKeptMib * mebibyte,
  };
}
