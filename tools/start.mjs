/**
 * `npm start`: runs the daemon from source and shows one real command live.
 *
 * `npm start -- data` shows a Python session instead, and `npm start -- image` a container of the daemon image. With
 * `--no-install`, it lists what it would install, and ends.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { repositoryRoot } from './repository.mjs';
import { placeOfPython, pythonEnvironment, virtualEnvironments } from './python.mjs';
import { missingParts, runTool, setup, SetupError } from './setup.mjs';
import { connect } from './start-client.mjs';
import { printDataHowTo, runDataDemo } from './start-data.mjs';
import { runImage } from './start-image.mjs';
import { offerConsole } from './start-page.mjs';

const usualPort = 18091;
/** Adjacent ports come first: each port has a runtime directory, and an adjacent port is found again next time. */
const portsToTry = Array.from({ length: 10 }, (_, index) => usualPort + index);
const readyMs = 20_000;
const interruptedCode = 130;
const demo = {
  command: 'npm run build && npm test',
  cwd: join(repositoryRoot, 'examples/word-count'),
  mode: 'async',
};

await runTool(async () => {
  const isData = process.argv[2] === 'data';
  if (process.argv.includes('--no-install')) {
    if (!printMissingParts(isData)) console.log('start: everything is installed');
    return 0;
  }
  if (process.argv[2] === 'image') return await runImage({ once: process.argv.includes('--once') });
  const args = process.argv.slice(2).filter((arg) => arg !== '--once' && arg !== 'data');
  const once = process.argv.includes('--once');
  printMissingParts(isData);
  const { bun, native } = await setup({ compiler: true });
  const python = isData ? [join(await pythonEnvironment('code'), 'bin')] : [];
  const port = await choosePort(args);
  const daemon = startDaemon({
    bun,
    native,
    programs: python,
    args: [...args, ...(setting(args, 'port', 'SVC_PORT') ? [] : [`--port=${port}`])],
  });
  const client = connect(`http://${reachable(setting(args, 'host', 'SVC_HOST'))}:${port}`, apiKey(args));
  try {
    await untilReady(client, daemon);
    console.log(`start: boxkeep serves ${client.url}\n`);
    const exitCode = isData ? await runDataDemo(client) : await runDemo(client);
    if (isData) printDataHowTo(client);
    if (once) return exitCode;
    console.log('\nstart: the daemon continues, its log follows; Ctrl-C ends it');
    daemon.showLog();
    offerConsole(client);
    return await daemon.ended;
  } catch (error) {
    // Ctrl-C during the demo also aborts its requests, which is not a failure to report.
    if (daemon.isInterrupted) return interruptedCode;
    throw error;
  } finally {
    await daemon.stop();
  }
});

/** Returns whether anything is missing. */
function printMissingParts(isData) {
  const packages = placeOfPython('code');
  const parts = [
    ...missingParts(isData ? [virtualEnvironments] : []),
    ...(isData && !existsSync(packages)
      ? [`installs Python packages of test/code/requirements.txt, into ${packages}`]
      : []),
  ];
  for (const part of parts) console.log(`start: ${part}`);
  return parts.length > 0;
}

/** The value of a setting, from its flag or its variable. */
function setting(args, flag, variable) {
  const at = args.findIndex((arg) => arg === `--${flag}` || arg.startsWith(`--${flag}=`));
  if (at === -1) return process.env[variable] || null;
  return args[at].includes('=') ? args[at].slice(args[at].indexOf('=') + 1) : (args[at + 1] ?? null);
}

function apiKey(args) {
  return setting(args, 'api-key', 'SVC_API_KEY') ?? (process.env.SANDBOX_API_KEY || null);
}

function reachable(host) {
  if (host === null || host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** A requested port is used unchanged. The usual port is replaced by another when it is taken. */
async function choosePort(args) {
  const asked = setting(args, 'port', 'SVC_PORT');
  if (asked !== null) return asked;
  for (const port of [...portsToTry, 0]) {
    const free = await freePort(port);
    if (free === null) continue;
    if (free !== usualPort) console.log(`start: port ${usualPort} is taken, so this uses ${free}`);
    return free;
  }
  throw new SetupError('no port is free');
}

function freePort(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen(port, '127.0.0.1', () => {
      const found = probe.address().port;
      probe.close(() => resolve(found));
    });
  });
}

function startDaemon({ bun, native, programs, args }) {
  // As in the built binary, no configuration is read from the working directory.
  const program = [bun, '--no-env-file', '--config=/dev/null', join(repositoryRoot, 'daemon/src/main.ts')];
  const command = [...program.map((argument) => `--daemon=${argument}`), 'start', ...args];
  console.log(`start: ${native} ${command.map(withoutKey).join(' ')}`);
  const child = spawn(native, command, {
    cwd: repositoryRoot,
    env: userEnvironment(programs),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate session: Ctrl-C reaches only this program, which then ends the daemon once and in order.
    detached: true,
  });
  let kept = '';
  let show = false;
  const onLog = (chunk) => {
    if (show) process.stdout.write(chunk);
    else kept += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', onLog);
  child.stderr.setEncoding('utf8').on('data', onLog);

  const daemon = {
    isRunning: true,
    isInterrupted: false,
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        daemon.isRunning = false;
        resolve(code ?? 1);
      });
    }),
    showLog() {
      show = true;
      process.stdout.write(kept);
    },
    /** Ends the daemon with all its commands, and waits for the end. */
    async stop() {
      if (daemon.isRunning) child.kill('SIGTERM');
      await daemon.ended;
    },
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      daemon.isInterrupted = true;
      void daemon.stop();
    });
  }
  return daemon;
}

function withoutKey(arg, index, all) {
  return all[index - 1] === '--api-key' ? '<key>' : arg.replace(/^--api-key=.*/s, '--api-key=<key>');
}

/**
 * The environment of the user's own shell, without the variables that npm adds, and with these program directories
 * first.
 */
function userEnvironment(programs) {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/i.test(name));
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !/node_modules\/(\.bin|.*node-gyp-bin)$/.test(folder));
  return { ...Object.fromEntries(own), PATH: [...programs, ...path].join(delimiter) };
}

async function untilReady(client, daemon) {
  const deadline = Date.now() + readyMs;
  for (;;) {
    if (await client.isHealthy()) return;
    if (!daemon.isRunning || Date.now() > deadline) {
      daemon.showLog();
      throw new SetupError(
        daemon.isRunning ? 'the daemon does not answer /health' : 'the daemon ended at once; its log is above',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function runDemo(client) {
  console.log(`demo: builds and tests a small project, in ${demo.cwd}`);
  console.log(`demo: POST /v2/commands ${JSON.stringify(demo)}\n`);
  const { command_id: id } = await client.post('/v2/commands', demo);
  await printLive(client, id);
  const { command } = await client.get(`/v2/commands/${id}`);
  console.log(`\ndemo: ${command.status}, exit code ${command.exit_code} after ${Math.round(command.duration_ms)} ms`);
  printHowTo(client, id);
  return command.exit_code ?? 1;
}

/** Prints both streams as they arrive. A stream that ends early is resumed at its offset. */
async function printLive(client, id) {
  const next = { stdout: 0, stderr: 0 };
  for (;;) {
    const path = `/v2/commands/${id}?stream=true&offset=${next.stdout}&stderr_offset=${next.stderr}`;
    for await (const event of client.events(path)) {
      if (event.type === 'exit') return;
      if (event.type !== 'stdout' && event.type !== 'stderr') continue;
      process[event.type].write(event.data);
      next[event.type] = event.next;
    }
  }
}

function printHowTo({ url, hasKey }, id) {
  const curl = `curl -sS${hasKey ? ' -H "x-api-key: $SVC_API_KEY"' : ''}`;
  const body = JSON.stringify({ command: 'echo hello; sleep 1; echo done', mode: 'async' });
  console.log('\nThe same by hand: start a command, read its output from an offset, follow it live.');
  console.log(`  ${curl} ${url}/v2/commands -H 'content-type: application/json' -d '${body}'`);
  console.log(`  ${curl} '${url}/v2/commands/${id}?offset=0'`);
  console.log(`  ${curl} -N '${url}/v2/commands/${id}?stream=true'`);
  console.log('\nAnother example, a session of Python with a table and a picture: npm start -- data');
  console.log('Another one, a container with a browser behind one port: npm start -- image');
}
