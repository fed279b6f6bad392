/** The program: flags and environment to settings, then the daemon, then an exit code. Nobody imports it. */
import { writeSync } from 'node:fs';
import { describeSurface, surfaceNames, type SurfaceName } from './api.ts';
import { attach } from './cli/attach.ts';
import { examine } from './cli/doctor.ts';
import { asText, hasFailed } from './cli/finding.ts';
import { httpVerbs, runnable, verbsHelp } from './cli/index.ts';
import { upgrade } from './cli/upgrade.ts';
import { composeDaemon } from './compose.ts';
import type { Daemon } from './daemon.ts';
import { readConfig, settingsHelp } from './config.ts';
import { Logger } from './kit/logger.ts';
import { SystemAccounts } from './platform/accounts.ts';
import { Init } from './platform/init.ts';
import { localTerminal } from './platform/local-terminal.ts';
import { logOutput } from './platform/log-output.ts';
import { releaseStartPages } from './platform/program-pages.ts';
import { findProgram } from './platform/programs.ts';
import { describePlaces, openRuntimeDirectory } from './platform/runtime-directory.ts';
import { requestUpgrade } from './platform/upgrade-request.ts';
import { version } from './version.ts';

/** By then whoever waited for the start has been answered: given back before, the pages would come back for that. */
const startPagesMs = 300;
const exitOk = 0;
const exitFailed = 1;
const exitUsage = 2;
const standardOutput = 1;
const standardError = 2;

const verbsWithPage = {
  upgrade: upgrade({ places: describePlaces, request: requestUpgrade }),
  ...httpVerbs,
  attach: attach(localTerminal),
};

const help = `sandboxd ${version}: runs commands in this machine and serves them over HTTP

  sandboxd start [flags]             run the daemon
  sandboxd doctor [--json] [flags]   look at this machine and say what start would miss
  sandboxd version                   print the version
  sandboxd print-openapi [v1|v2]     print the description of a surface (v2)
${verbsHelp(verbsWithPage)}
  sandboxd --help                    this page; behind another word, the page of that one

Flags of start, each with its variable; the flag wins:
${settingsHelp()}`;

const verbs: Readonly<Record<string, (args: readonly string[]) => Promise<number> | number>> = {
  start,
  doctor,
  version: () => print(version),
  'print-openapi': async ([surface = 'v2']) => {
    if (!isSurface(surface)) throw new Error(`no surface is named ${surface}; there are ${surfaceNames.join(' and ')}`);
    return print(JSON.stringify(await describeSurface(surface), null, 2));
  },
  ...runnable(verbsWithPage, process.env),
  help: () => print(help),
  '--help': () => print(help),
  '-h': () => print(help),
  '--version': () => print(version),
};

async function start(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) return print(help);
  const init = Init.connect();
  const config = readConfig({ arguments: args, environment: process.env, secrets: init.boot.secrets });
  const logger = new Logger(config.logLevel, logOutput(process.stdout));
  const runtimeDirectory = openRuntimeDirectory(init, config.runtimeDir, config.port);
  const daemon = await composeDaemon({ config, boot: init.boot, runtimeDirectory, environment: process.env, logger });
  if (init.boot.isSuccessor) {
    await daemon.warmUp();
    init.standBy(version);
  }
  const url = await daemon.open();
  const { isOver } = await offerSuccession(init, daemon);
  logger.info('serving', {
    url,
    version,
    pid: process.pid,
    runtime_dir: runtimeDirectory,
    key: config.apiKey !== null,
  });
  setTimeout(releaseStartPages, startPagesMs);
  const reason = await Promise.race([firstSignal(), isOver]);
  logger.info('closing', { reason });
  await daemon.close();
  return exitOk;
}

/** Resolves when init knows that this daemon serves, with a promise of the day on which another one has its place. */
async function offerSuccession(init: Init, daemon: Daemon): Promise<{ readonly isOver: Promise<string> }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  await init.ready(version, {
    onHandover: () => daemon.handOver(),
    onGoOn: () => daemon.takeBack(),
    onSucceeded: () => void daemon.leave().then(() => resolve('succeeded'), reject),
  });
  return { isOver: promise };
}

async function doctor(args: readonly string[]): Promise<number> {
  const path = process.env['PATH'] ?? '';
  const accounts = new SystemAccounts();
  const findings = await examine({
    arguments: args.filter((argument) => argument !== '--json'),
    environment: process.env,
    uid: process.getuid?.() ?? 0,
    find: (program) => findProgram(program, path),
    knowsAccount: (user) => /^\d+(:\d+)?$/.test(user) || accounts.byName(user) !== null,
    describePlaces,
  });
  print(args.includes('--json') ? JSON.stringify({ findings }, null, 2) : asText(findings));
  return hasFailed(findings) ? exitFailed : exitOk;
}

function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(name, resolve);
  });
}

function isSurface(name: string): name is SurfaceName {
  return (surfaceNames as readonly string[]).includes(name);
}

function print(text: string): number {
  writeSync(standardOutput, `${text}\n`);
  return exitOk;
}

async function run([verb = 'help', ...args]: readonly string[]): Promise<number> {
  try {
    const action = verbs[verb];
    if (!action) throw new Error(`no command is named ${verb}; sandboxd --help lists them`);
    return await action(args);
  } catch (error) {
    writeSync(standardError, `sandboxd: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitUsage;
  }
}

process.exit(await run(process.argv.slice(2)));
