/** Constructs the computer-use worker: a process that owns one display and serves it on loopback. */
import { loadWorkerRoutes } from '../api.ts';
import { openDesktop } from './display.ts';
import { settings } from '../config.ts';
import { createApp } from '../http/app.ts';
import { ApiKey } from '../http/guard/auth.ts';
import { MemoryBudget } from '../kit/memory-budget.ts';
import { guardLocalRequest } from '../http/guard/local-guard.ts';
import { OpenStreams } from '../http/stream/open-streams.ts';
import { socketProtocol } from '../http/stream/socket.ts';
import { readFlags } from '../kit/text/flags.ts';
import type { Logger } from '../kit/logger.ts';
import type { Environment } from '../kit/types/environment.ts';
import { listen, type Listener } from '../platform/server/listen.ts';
import { collectGarbage, freeMemoryBytes, memoryLimitBytes } from '../platform/memory/memory.ts';

export interface WorkerInputs {
  readonly arguments: readonly string[];
  readonly environment: Environment;
  readonly logger: Logger;
}

export interface Worker {
  readonly url: string;
  close(): Promise<void>;
}

/** Nothing but loopback: the worker has no key. */
const hostname = '127.0.0.1';
const bodyStallMs = 30_000;
const idleSeconds = 120;
const closeMs = 1000;
/** What the daemon asks for while a client watches the display. The daemon logs the calls of its clients. */
const quietPaths = new Set(['/health', '/v2/computer/changes', '/v2/computer/screenshot']);

export async function openWorker({ arguments: args, environment, logger }: WorkerInputs): Promise<Worker> {
  const port = portOf(args, environment);
  const desktop = openDesktop(environment);
  const app = createApp({
    apiKey: new ApiKey(null),
    guard: { hasKey: false, ownName: 'localhost', allowedHosts: [], corsOrigins: [] },
    guardFirst: guardLocalRequest,
    body: {
      room: new MemoryBudget({
        limitBytes: memoryLimitBytes(),
        freeBytes: freeMemoryBytes,
        collect: collectGarbage,
      }),
      stallMs: bodyStallMs,
    },
    streams: new OpenStreams(1),
    logger,
    quietPaths,
    routes: await loadWorkerRoutes({ desktop }),
    nearestHint: async () => 'GET /v2/openapi.json lists every route.',
  });
  const listener = await listen({ hostname, port, idleSeconds, socketProtocol }, app);
  return { url: `http://${hostname}:${listener.port}`, close: () => close(listener, desktop) };
}

async function close(listener: Listener, desktop: { close(): Promise<void> }): Promise<void> {
  await listener.stop(closeMs);
  await desktop.close();
}

/** Throws an Error with one line for what it does not understand. */
function portOf(args: readonly string[], environment: WorkerInputs['environment']): number {
  const unknown = (argument: string) =>
    new Error(`unknown argument ${argument}; boxkeep computer-use --help lists them`);
  const { given, words } = readFlags(args, { values: ['port'] }, unknown);
  if (words[0] !== undefined) throw unknown(words[0]);
  const flag = given.get('port')?.at(-1);
  const url = URL.parse(environment[settings.computerUseUrl.variable] || settings.computerUseUrl.fallback);
  const port = flag ?? (url?.port || (url?.protocol === 'https:' ? '443' : '80'));
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw new Error(`--port: ${JSON.stringify(port)} is not a port`);
}
