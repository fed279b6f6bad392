/** The entry point: turns flags and environment into settings, runs a verb, and exits with its code. */
import { writeSync } from 'node:fs';
import { randomBytes } from './kit/crypto.ts';
import { describeSurface, surfaceNames, type SurfaceName } from './api.ts';
import { localPages } from './cli/local-pages.ts';
import { isHelpAsked, listPages, pageText } from './cli/page.ts';
import {
  askForBrowser,
  askForKernels,
  askForWorker,
  askMcpServers,
  askSkills,
  composeDaemon,
} from './compose/index.ts';
import type { Daemon } from './daemon.ts';
import { readConfig, settingsHelp } from './config.ts';
import { readKeyFile } from './kit/api-key.ts';
import { Logger } from './kit/logger.ts';
import { suggestion } from './kit/text/nearest.ts';
import { SystemAccounts } from './platform/host/accounts.ts';
import { Hangups } from './platform/process/hangups.ts';
import { Init } from './platform/process/init.ts';
import { localTerminal } from './platform/terminal/local-terminal.ts';
import { logOutput } from './platform/observe/log-output.ts';
import { releaseProgramPages } from './platform/memory/program-pages.ts';
import { startThreads } from './platform/host/threads.ts';
import { findProgram } from './platform/process/programs.ts';
import { holdReserve } from './platform/process/descriptor-reserve.ts';
import { releaseWhenQuiet } from './platform/memory/quiet-memory.ts';
import { describePlaces, openRuntimeDirectory } from './platform/stores/runtime-directory.ts';
import { requestStop } from './platform/process/stop-request.ts';
import { requestUpgrade } from './platform/process/upgrade-request.ts';
import { version, versionLine } from './version.ts';

/** Release start-up pages only after the first answer; released earlier, they are faulted in again. */
const startPagesMs = 300;
const exitOk = 0;
const exitFailed = 1;
const exitUsage = 2;
const standardOutput = 1;
const standardError = 2;

/** The verbs that are part of a daemon, or need one of its parts. */
const verbs: Readonly<Record<string, (args: readonly string[]) => Promise<number> | number>> = {
  start,
  doctor,
  'computer-use': serveDesktop,
  version: () => print(versionLine()),
  'print-openapi': async ([surface = 'v2']) => {
    if (!isSurface(surface)) throw new Error(`no surface is named ${surface}; there are ${surfaceNames.join(' and ')}`);
    return print(JSON.stringify(await describeSurface(surface), null, 2));
  },
  help,
  '--help': () => help([]),
  '-h': () => help([]),
  '--version': () => print(versionLine()),
};

async function start(args: readonly string[]): Promise<number> {
  const init = Init.connect();
  const hangups = new Hangups(); // Before the key file is read, so that no change of the file is missed.
  const { readKey, failure } = keyReader(init.boot.restarts > 0);
  const { secrets } = init.boot;
  const config = readConfig({ arguments: args, environment: process.env, secrets, readKey });
  const logger = new Logger(config.logLevel, logOutput(standardOutput));
  const runtimeDirectory = openRuntimeDirectory(init, config.runtimeDir, config.port);
  const daemon = await composeDaemon({ config, boot: init.boot, runtimeDirectory, environment: process.env, logger });
  if (config.apiKeyFile !== null) daemon.keepKey(failure());
  await startThreads(); // Before the first request, which may start a process that leaves room for no thread.
  if (init.boot.isSuccessor) {
    await daemon.warmUp();
    init.standBy(version);
  }
  const { apiKeyFile } = config;
  const hungUp = apiKeyFile === null ? hangups.first() : hangups.each(() => daemon.readKeyAgain(apiKeyFile));
  const url = await daemon.open();
  const { isOver } = await offerSuccession(init, daemon, logger);
  logger.info('serving', {
    url,
    version,
    pid: process.pid,
    runtime_dir: runtimeDirectory,
    key: config.apiKey !== null,
  });
  setTimeout(releaseProgramPages, startPagesMs);
  releaseWhenQuiet();
  holdReserve();
  const reason = await Promise.race([firstSignal(), hungUp, isOver]);
  logger.info('closing', { reason });
  await daemon.close();
  return exitOk;
}

/** A restarted daemon may lack its key file. A random key then refuses all requests until the digest is restored. */
function keyReader(isRestart: boolean) {
  let failure: Error | null = null;
  return {
    failure: () => failure,
    readKey(path: string): string {
      try {
        return readKeyFile(path);
      } catch (error) {
        if (!isRestart) throw error;
        failure = error as Error;
        return randomBytes(keyBytes).toString('hex');
      }
    },
  };
}

const keyBytes = 32;

/** Resolves when init knows that this daemon serves. `isOver` resolves when another daemon has taken over. */
async function offerSuccession(
  init: Init,
  daemon: Daemon,
  logger: Logger,
): Promise<{ readonly isOver: Promise<string> }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  await init.ready(version, {
    onHandover: (calledOff) => daemon.handOver(calledOff),
    onGoOn: () => daemon.takeBack(),
    onFault: (error) => logger.error('the handover to another daemon failed', { error: String(error) }),
    onSucceeded: () => void daemon.leave().then(() => resolve('succeeded'), reject),
  });
  return { isOver: promise };
}

/** The verbs that are clients of a daemon. Loaded for them only, because a daemon needs no client. */
async function loadClientVerbs() {
  const { clientVerbs, ...others } = await import('./cli/index.ts');
  const verbs = clientVerbs({
    upgrade: { places: describePlaces, request: requestUpgrade },
    stop: { places: describePlaces, requestStop },
    terminal: localTerminal,
  });
  return { verbs, ...others };
}

async function help([topic]: readonly string[]): Promise<number> {
  if (topic === 'settings') return print(`Flags of start, each with its variable; the flag wins:\n${settingsHelp()}`);
  if (topic !== undefined && topic !== 'exit-codes') return await run([topic, '--help']);
  const { verbs, exitCodesText } = await loadClientVerbs();
  if (topic === 'exit-codes') return print(exitCodesText({ ...localPages, ...verbs }));
  return print(`boxkeep ${version}: runs commands in this machine and serves them over HTTP

${listPages([...Object.values(localPages), ...Object.values(verbs)])}

boxkeep help <word> prints the page of a word, boxkeep help settings the flags and variables of start, and
boxkeep help exit-codes the exit codes.`);
}

/** Loaded for this verb only. */
async function serveDesktop(args: readonly string[]): Promise<number> {
  const { openWorker } = await import('./compose/worker.ts');
  const logger = new Logger('info', logOutput(standardOutput));
  const worker = await openWorker({ arguments: args, environment: process.env, logger });
  logger.info('serving', { url: worker.url, version, pid: process.pid, display: process.env['DISPLAY'] ?? null });
  logger.info('closing', { reason: await Promise.race([firstSignal(), new Hangups().first()]) });
  await worker.close();
  return exitOk;
}

/** Loaded for this verb only. */
async function doctor(args: readonly string[]): Promise<number> {
  const [{ examine }, { asText, hasFailed }] = await Promise.all([
    import('./cli/doctor/doctor.ts'),
    import('./cli/doctor/finding.ts'),
  ]);
  const path = process.env['PATH'] ?? '';
  const accounts = new SystemAccounts();
  const findings = await examine({
    arguments: args.filter((argument) => argument !== '--json'),
    environment: process.env,
    uid: process.getuid?.() ?? 0,
    find: (program) => findProgram(program, path),
    askPython: askForKernels,
    askBrowser: askForBrowser,
    askWorker: askForWorker,
    ...{ askMcpServers, askSkills },
    uidOf: (user) => (/^\d+(:\d+)?$/.test(user) ? Number.parseInt(user, 10) : (accounts.byName(user)?.uid ?? null)),
    describePlaces,
  });
  print(args.includes('--json') ? JSON.stringify({ findings }, null, 2) : asText(findings));
  return hasFailed(findings) ? exitFailed : exitOk;
}

function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
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
    if (!action) return await runClientVerb(verb, args);
    const page = localPages[verb];
    return page && isHelpAsked(args) ? print(pageText(page)) : await action(args);
  } catch (error) {
    writeSync(standardError, `boxkeep: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitUsage;
  }
}

async function runClientVerb(name: string, args: readonly string[]): Promise<number> {
  const { verbs, runVerb } = await loadClientVerbs();
  const verb = verbs[name];
  if (!verb) {
    const meant = suggestion(name, [...Object.keys(localPages), ...Object.keys(verbs)]);
    throw new Error(`no command is named ${name}${meant}; boxkeep --help lists them`);
  }
  return await runVerb(name, verb, args, process.env);
}

process.exit(await run(process.argv.slice(2)));
