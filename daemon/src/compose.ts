/** The one place that constructs things. */
import { statfsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { describeV1, describeV2, loadV1, rootRoutes, surfaceNames, v2Planes } from './api.ts';
import { consoleFile } from './assets/console.ts';
import { composeCode, type Code } from './compose-code.ts';
import { composeFiles, composeWatchers } from './compose-files.ts';
import { composeScreens, composeTerminals } from './compose-terminals.ts';
import type { Config } from './config.ts';
import { Capabilities } from './core/capabilities/capabilities.ts';
import { Tools } from './core/capabilities/tool-run.ts';
import { unservedProbes } from './core/capabilities/unserved.ts';
import type { Command } from './core/commands/command.ts';
import { Commands } from './core/commands/commands.ts';
import { imageEnvironment } from './core/identity/environment.ts';
import { Launcher } from './core/commands/launcher.ts';
import { LogBudget, type LogBudgetLimits } from './core/commands/log-budget.ts';
import { execProbe } from './core/commands/probe.ts';
import { Sessions, type Session } from './core/commands/sessions.ts';
import { UsedIds, type UsedId } from './core/commands/used-ids.ts';
import { filesProbe } from './core/files/probe.ts';
import { ScratchDirectories } from './core/files/scratch.ts';
import { Accounts } from './core/identity/accounts.ts';
import { Packages } from './core/ops/packages.ts';
import { Sandbox } from './core/ops/sandbox.ts';
import { Toolchains } from './core/ops/toolchain.ts';
import type { Terminals } from './core/terminals/terminals.ts';
import { mostWatchers, type Watchers } from './core/watch/watchers.ts';
import { Daemon } from './daemon.ts';
import { unmatchedRoute, type AppDeps } from './http/app.ts';
import { ApiKey } from './http/auth.ts';
import { frameAncestors } from './http/guard.ts';
import { BodyRoom, maxArrivingBytes, maxJsonBodyBytes } from './http/body.ts';
import { OpenStreams } from './http/open-streams.ts';
import { bindPlanes } from './http/planes.ts';
import { bindRoutes } from './http/route.ts';
import type { Logger } from './kit/logger.ts';
import { once } from './kit/once.ts';
import { SystemAccounts } from './platform/accounts.ts';
import type { Boot } from './platform/init.ts';
import { LineFile } from './platform/line-file.ts';
import { fileStamp, readMachine } from './platform/machine.ts';
import { Metrics, type GaugeSource } from './platform/metrics.ts';
import { processGauges } from './platform/process-gauges.ts';
import { findProgram, findTrustedProgram } from './platform/programs.ts';
import { KeeperSpawn } from './platform/spawn.ts';
import { StateFile } from './platform/state-file.ts';
import type { Tracing } from './platform/tracing.ts';
import { commit, version } from './version.ts';

export interface DaemonInputs {
  readonly config: Config;
  readonly boot: Boot;
  /** Owned by init for this daemon. */
  readonly runtimeDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

const mebibyte = 1024 * 1024;
/** The file systems that live in memory, by the magic numbers of statfs(2). */
const memoryFileSystems = new Set([0x01021994, 0x858458f6]);

export async function composeDaemon(inputs: DaemonInputs): Promise<Daemon> {
  const { config, boot, runtimeDirectory, environment, logger } = inputs;
  const startedMs = performance.now();
  const closing = new AbortController();
  const accounts = new Accounts({
    database: new SystemAccounts(),
    own: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    defaultUser: config.defaultUser,
    platform: process.platform,
  });
  const limits = logLimits(config, runtimeDirectory);
  const streams = new OpenStreams(config.maxStreams);
  const tracing = await openTracing(boot, environment, logger);
  const onEnd = ({ state, startedMs }: Command) =>
    metrics.observeCommand({ status: state.status, seconds: ((state.endedMs ?? startedMs) - startedMs) / 1000 });
  const { spawn, sessions, commands } = composeCommands({ ...inputs, accounts, limits, onEnd });
  const files = composeFiles({ environment, runtimeDirectory, logger, spawn, accounts });
  void files.parts
    .clearStale()
    .catch((error: unknown) => logger.error('unfinished files could not be cleared', { reason: String(error) }));
  const watchers = composeWatchers(files.places, logger);
  const terminals = composeTerminals({
    ...{ accounts, config, logger, runtimeDirectory, spawn },
    environment: { ...environment, ...Object.fromEntries(boot.scrubbed) },
    streamKeptBytes: limits.capBytes,
  });
  const tools = composeTools({ environment, logger, spawn, accounts });
  const code = composeCode({
    ...{ accounts, config, logger, runtimeDirectory, spawn },
    tools: tools.tools,
    environment: { ...environment, ...Object.fromEntries(boot.scrubbed) },
    versions: () => tools.toolchains.look(),
    scratch: new ScratchDirectories(files),
  });
  const metrics = new Metrics(gauges({ runtimeDirectory, commands, code, sessions, streams, terminals, watchers }));
  const operations = composeOperations({ config, environment, runtimeDirectory, accounts, limits, code, ...tools });
  const v1 = await loadV1(config.apiSurface === 'full');
  const uptimeSeconds = () => Math.round(performance.now() - startedMs) / 1000;
  const planes = {
    ...operations,
    ...{ commands, files, terminals, watchers },
    ...{ code: code.sessions, codeInfo: code.info, screens: composeScreens(), closing: closing.signal },
  };
  const guard = { allowedHosts: config.allowedHosts, corsOrigins: config.corsOrigins };
  const app: AppDeps = {
    apiKey: new ApiKey(config.apiKey),
    guard,
    body: {
      maxBytes: maxJsonBodyBytes,
      room: new BodyRoom(maxArrivingBytes),
      stallMs: config.bodyStallSeconds * 1000,
    },
    streams,
    logger,
    routes: bindRoutes(rootRoutes, {
      ...{ version, uptimeSeconds, frameAncestors: frameAncestors(guard) },
      readConsole: () => readFile(consoleFile, 'utf8'),
      renderMetrics: () => metrics.render(),
    }),
    planes: [
      ...bindPlanes(v1.planes, { ...planes, openApi: once(() => describeV1(v1.planes)) }),
      ...bindPlanes(v2Planes, { ...planes, openApi: once(describeV2) }),
    ],
    descriptions: surfaceNames.map((name) => `/${name}/openapi.json`),
    removedHint: v1.removedHint,
    onResponse(facts) {
      metrics.observeRequest(facts);
      tracing?.observe({ ...facts, route: facts.route === unmatchedRoute ? null : facts.route });
    },
  };
  return new Daemon({
    ...inputs,
    app,
    code: code.sessions,
    commands,
    sessions,
    terminals,
    watchers,
    spawn,
    tracing,
    closing,
  });
}

interface CommandsInputs extends DaemonInputs {
  readonly accounts: Accounts;
  readonly limits: LogBudgetLimits;
  readonly onEnd: (command: Command) => void;
}

function composeCommands({ config, boot, runtimeDirectory, environment, logger, accounts, ...inputs }: CommandsInputs) {
  const onFault = (what: string, error: unknown) =>
    logger.error('the runtime directory', { what, reason: String(error) });
  const spawn = new KeeperSpawn(runtimeDirectory, (name, error) => onFault(`${name} could not be taken over`, error));
  const budget = new LogBudget(inputs.limits);
  const sessions = new Sessions({
    store: new StateFile<readonly Session[]>(`${runtimeDirectory}/sessions.json`, [], onFault),
    maxSessions: config.maxCommandSessions,
    now: Date.now,
    onFault,
  });
  const launcher = new Launcher({
    spawn,
    accounts,
    findProgram,
    environment: imageEnvironment({ ...environment, ...Object.fromEntries(boot.scrubbed) }),
    budget,
    keptBytes: () => commands.keptBytes(),
    now: Date.now,
  });
  const commands: Commands = new Commands({
    launcher,
    sessions,
    usedIds: new UsedIds(new LineFile<UsedId>(`${runtimeDirectory}/used-ids.ndjson`, onFault), Date.now, onFault),
    maxRunning: config.maxCommands,
    platform: process.platform,
    budget,
    onFault,
    onEnd: inputs.onEnd,
    now: Date.now,
  });
  return { spawn, sessions, commands };
}

interface Gauged {
  readonly runtimeDirectory: string;
  readonly commands: Commands;
  readonly code: Code;
  readonly sessions: Sessions;
  readonly streams: OpenStreams;
  readonly terminals: Terminals;
  readonly watchers: Watchers;
}

function gauges({ runtimeDirectory, commands, code, sessions, streams, terminals, watchers }: Gauged): GaugeSource[] {
  return [
    ...processGauges(runtimeDirectory),
    { name: 'sandboxd_commands_running', help: 'Commands that run.', read: () => commands.running },
    {
      name: 'sandboxd_commands_kept',
      help: 'Commands that can be read, ended ones included.',
      read: () => commands.kept,
    },
    { name: 'sandboxd_command_sessions', help: 'Command sessions.', read: () => sessions.list().length },
    { name: 'sandboxd_open_streams', help: 'Open streams.', read: () => streams.count },
    { name: 'sandboxd_terminals', help: 'Terminal sessions whose shell lives.', read: () => terminals.living },
    {
      name: 'sandboxd_code_interpreters',
      help: 'Plain interpreters that run code.',
      read: () => code.sessions.living('repl'),
    },
    { name: 'sandboxd_code_kernels', help: 'Kernels that run code.', read: () => code.sessions.living('kernel') },
    { name: 'sandboxd_watchers', help: 'Watchers of files.', read: () => watchers.count },
  ];
}

interface ToolsInputs extends Pick<DaemonInputs, 'environment' | 'logger'> {
  readonly spawn: KeeperSpawn;
  readonly accounts: Accounts;
}

function composeTools({ environment, logger, spawn, accounts }: ToolsInputs) {
  // A tool runs without what steers a loader: that is given back to commands alone.
  const toolEnvironment = imageEnvironment(environment);
  const find = (program: string) => findProgram(program, toolEnvironment['PATH'] ?? '');
  const findTrusted = (program: string) => findTrustedProgram(program, toolEnvironment['PATH'] ?? '');
  const tools = new Tools({
    spawn,
    accounts,
    environment: toolEnvironment,
    onFault: (error) => logger.error('a tool could not be put away', { reason: String(error) }),
  });
  return { find, findTrusted, tools, toolchains: new Toolchains({ find, stampOf: fileStamp, tools }) };
}

interface OperationsInputs extends Omit<DaemonInputs, 'boot' | 'logger'>, ReturnType<typeof composeTools> {
  readonly accounts: Accounts;
  readonly limits: LogBudgetLimits;
  readonly code: Code;
}

function composeOperations({ config, environment, accounts, code, ...inputs }: OperationsInputs) {
  const { find, findTrusted, tools, toolchains } = inputs;
  const sandbox = new Sandbox({
    version,
    commit,
    pid: process.pid,
    accounts,
    defaultUser: config.defaultUser,
    runtimeDir: inputs.runtimeDirectory,
    startedMs: performance.timeOrigin,
    limits: {
      runningCommands: config.maxCommands,
      commandSessions: config.maxCommandSessions,
      streams: config.maxStreams,
      terminals: config.maxTerminals,
      watchers: mostWatchers,
      jsonBodyBytes: maxJsonBodyBytes,
      logBytesPerStream: inputs.limits.capBytes,
      logBytes: inputs.limits.totalBytes,
    },
    readMachine: () => readMachine(environment),
  });
  return {
    sandbox,
    capabilities: new Capabilities(
      {
        ...unservedProbes({ find, environment }),
        codeInterpreter: code.info.probe,
        exec: execProbe(find, config.terminalBackend),
        files: filesProbe({ find, findTrusted }),
      },
      Date.now,
    ),
    packages: new Packages(tools),
    toolchains,
  };
}

/** Loaded only where a collector is named, because it takes megabytes. */
async function openTracing(
  { secrets }: Boot,
  environment: DaemonInputs['environment'],
  logger: Logger,
): Promise<Tracing | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment;
  if (!(all || traces) || environment['OTEL_SDK_DISABLED'] === 'true') return null;
  const { Tracing } = await import('./platform/tracing.ts');
  return new Tracing({
    version,
    headers: secrets.get('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? secrets.get('OTEL_EXPORTER_OTLP_HEADERS') ?? null,
    onUnreachable: (reason) => logger.warn('traces cannot be sent', { reason }),
  });
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
