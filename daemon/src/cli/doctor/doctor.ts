/** `boxkeep doctor`: examines the machine before a daemon starts, and gives advice on each finding. */
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { isOpenToOthers, readConfig, settings, settingWarnings, type Config } from '../../config.ts';
import { fail, ok, warn, type Finding } from './finding.ts';
import { examineMachine, type MachineView } from './machine-check.ts';
import { examineMcp, type McpView } from './mcp-check.ts';

export interface DoctorDeps extends MachineView, McpView {
  readonly arguments: readonly string[];
  readonly uid: number;
  /** The uid of the account, given as a name or a uid; null when the machine has no such account. */
  readonly uidOf: (user: string) => number | null;
  /** The version of the browser that answers at an address; null when none answers within the time. */
  readonly askBrowser: (host: string, port: number, withinMs: number) => Promise<string | null>;
  /** The display of the worker at a URL; null when none answers within the time. */
  readonly askWorker: (url: string, withinMs: number) => Promise<string | null>;
  /** The candidates for the runtime directory, with the obstacle to each; nothing is created. */
  readonly describePlaces: (wanted: string | null, port: number) => readonly RuntimePlace[];
}

export interface RuntimePlace {
  readonly path: string;
  readonly refusal: string | null;
}

const connectMs = 1000;

/** Runs all checks and changes nothing. */
export async function examine(deps: DoctorDeps): Promise<Finding[]> {
  const read = readSettings(deps);
  if ('finding' in read) return [read.finding, ...examineMachine(deps)];
  const { config } = read;
  const place = choosePlace(deps, config);
  return [
    ok('settings', 'every setting is valid'),
    ...settingWarnings(deps.environment, config.apiKey !== null).map(({ message }) =>
      warn('settings', message, 'Unset the variable.'),
    ),
    examineKey(config),
    examineDefaultUser(deps, config),
    place.finding,
    ...(await examinePorts(config, place.path)),
    await examineBrowser(deps, config),
    await examineDesktop(deps, config),
    ...(await examineMcp(deps, config)),
    ...examineMachine(deps),
  ];
}

function readSettings({ arguments: args, environment }: DoctorDeps): { config: Config } | { finding: Finding } {
  try {
    return { config: readConfig({ arguments: args, environment, secrets: new Map() }) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { finding: fail('settings', message, 'Correct the setting; the daemon refuses to start with it.') };
  }
}

function examineKey(config: Config): Finding {
  if (config.apiKey !== null) return ok('key', 'a key is set, and every request must carry it');
  if (!isOpenToOthers(config)) return ok('key', 'no key is set, and the daemon listens on loopback only');
  const advice = 'Set SVC_API_KEY: without a key, anyone who can connect can run commands.';
  return warn('key', `no key is set, and the daemon listens on ${config.host}`, advice);
}

async function examineBrowser({ askBrowser }: DoctorDeps, config: Config): Promise<Finding> {
  const address = `${config.browserHost}:${config.browserPort}`;
  const version = await askBrowser(config.browserHost, config.browserPort, connectMs);
  if (version !== null) return ok('browser', `${version} answers at ${address}`);
  const advice = 'Start one with --remote-debugging-port if the browser routes are wanted.';
  return warn('browser', `no browser answers at ${address}`, advice);
}

async function examineDesktop({ askWorker }: DoctorDeps, { computerUseUrl: url }: Config): Promise<Finding> {
  const display = await askWorker(url, connectMs);
  if (display !== null) return ok('desktop', `a computer-use worker answers at ${url}, for ${display}`);
  const advice = 'Run boxkeep computer-use beside an X11 display if the desktop routes are wanted.';
  return warn('desktop', `no computer-use worker answers at ${url}`, advice);
}

function examineDefaultUser({ uidOf, uid }: DoctorDeps, { defaultUser }: Config): Finding {
  const check = 'default user';
  if (defaultUser === null) return ok(check, 'none is set: commands run as the account of the daemon');
  const wanted = uidOf(defaultUser);
  if (wanted === null) {
    return fail(check, `${defaultUser} does not exist`, 'Create the account, or set another SVC_DEFAULT_USER.');
  }
  if (uid !== 0 && wanted !== uid) {
    return fail(check, `only root can become ${defaultUser}`, 'Start the daemon as root, or without SVC_DEFAULT_USER.');
  }
  return ok(check, `commands run as ${defaultUser}`);
}

function choosePlace({ describePlaces }: DoctorDeps, config: Config): { finding: Finding; path: string | null } {
  const check = 'runtime directory';
  const places = describePlaces(config.runtimeDir, config.port);
  const chosen = places.find(({ refusal }) => refusal === null);
  if (chosen) return { finding: ok(check, chosen.path), path: chosen.path };
  const refusals = places.map(({ path, refusal }) => `${path}: ${refusal ?? ''}`).join('; ');
  return { finding: fail(check, refusals, 'Give a directory of the daemon’s own with --runtime-dir.'), path: null };
}

/** Checks the ports. Occupied ones are fine when a daemon of this runtime directory runs. */
async function examinePorts(config: Config, directory: string | null): Promise<Finding[]> {
  const running = directory === null ? null : await findDaemon(directory);
  if (running !== null)
    return [ok('port', `${running} is served by a daemon of this runtime directory, and its init answers`)];
  const ofE2b = (['e2bPort', 'e2bCodePort', 'e2bApiPort'] as const).filter((name) => config[name] !== 0);
  const names = ['port', ...(config.e2b === 'on' ? ofE2b : [])] as const;
  return await Promise.all(names.map((name) => examinePort(config, config[name], settings[name].flag)));
}

async function examinePort(config: Config, port: number, flag: string): Promise<Finding> {
  const reason = await bindFailure(config.host || (config.apiKey === null ? '127.0.0.1' : '0.0.0.0'), port);
  if (reason === null) return ok('port', `${port} is free`);
  const advice = `Stop the program that listens there, or choose another --${flag}.`;
  return fail('port', `${port} cannot be bound: ${reason}`, advice);
}

/** The port of the daemon that owns the directory; null when no daemon does. */
async function findDaemon(directory: string): Promise<string | null> {
  const socket = `${directory}/init.sock`;
  if (!existsSync(socket) || !existsSync(`${directory}/port`)) return null;
  return (await accepts(socket)) ? readFileSync(`${directory}/port`, 'utf8').trim() : null;
}

function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: connectMs });
    const settle = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

/** null when the address is free. */
function bindFailure(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
