/** The third example of `npm start`: a container of the daemon image, used through its gateway. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerEnvironment, imageNames } from './containers.mjs';
import { repositoryRoot } from './repository.mjs';
import { isOnPath, SetupError } from './setup.mjs';
import { connect } from './start-client.mjs';
import { offerConsole } from './start-page.mjs';

const image = 'boxkeep/daemon';
const readyMs = 60_000;
const page = 'data:text/html,<title>A page</title><h1>boxkeep drives this browser</h1>';
const command = 'id -un; python3 --version; node --version; chromium --version';

/** Returns an exit code. The container ends with this program. */
export async function runImage({ once }) {
  const engine = findEngine();
  const id = engine.output('run', '--detach', '--rm', ...engine.network, '--shm-size', '4g', engine.image);
  try {
    const interrupted = untilInterrupted();
    const client = connect(`http://${engine.output('port', id, '8080').split('\n')[0]}`, null);
    await until('the API answers', () => client.isHealthy());
    console.log(`start: ${engine.image} serves ${client.url}\n`);
    await runDemo(client);
    printHowTo(client);
    if (once) return 0;
    console.log('\nstart: the container continues, its log follows; Ctrl-C ends it');
    offerConsole(client);
    engine.showLog(id);
    return await interrupted;
  } finally {
    engine.output('stop', '--time', '10', id);
  }
}

/** Docker or podman, with the image that `npm run images` has made or with one that it builds. */
function findEngine() {
  const network = ['--publish', '127.0.0.1::8080'];
  if (isOnPath('podman') && existsSync(containerEnvironment.CONTAINERS_CONF)) {
    const ours = containerProgram('podman', containerEnvironment);
    const options = { image: imageNames.daemon, network: ['--network', 'slirp4netns', ...network] };
    if (ours.succeeds('image', 'exists', imageNames.daemon)) return { ...ours, ...options };
  }
  const name = ['docker', 'podman'].find((program) => isOnPath(program) && containerProgram(program).succeeds('info'));
  if (name === undefined) throw new SetupError('needs docker or podman, and none of them works here');
  const engine = { ...containerProgram(name), image, network };
  if (!engine.succeeds('image', 'inspect', image)) build(engine);
  return engine;
}

function build(engine) {
  console.log(`start: builds ${image}, which takes some minutes`);
  engine.visible(process.execPath, 'tools/build.mjs');
  engine.visible(engine.name, 'build', '-f', 'images/daemon/Dockerfile', '-t', image, '.');
}

function containerProgram(name, env = process.env) {
  const options = { cwd: repositoryRoot, env };
  return {
    name,
    succeeds: (...args) => spawnSync(name, args, { ...options, stdio: 'ignore' }).status === 0,
    output(...args) {
      const { status, stdout, stderr } = spawnSync(name, args, { ...options, encoding: 'utf8' });
      if (status !== 0) throw new SetupError(`${name} ${args[0]} failed: ${stderr.trim()}`);
      return stdout.trim();
    },
    visible(program, ...args) {
      if (spawnSync(program, args, { ...options, stdio: 'inherit' }).status === 0) return;
      throw new SetupError(`${program} ${args[0]} failed; npm run images builds the images without a registry`);
    },
    showLog: (id) => spawn(name, ['logs', '--follow', id], { ...options, stdio: ['ignore', 'inherit', 'inherit'] }),
  };
}

async function runDemo(client) {
  console.log(`demo: POST /v2/commands ${JSON.stringify({ command })}\n`);
  process.stdout.write((await client.post('/v2/commands', { command })).stdout);
  await until('the browser answers', () => client.get('/v2/browser/info').then(Boolean, () => false));
  const { title } = await client.post('/v2/browser/navigate', { url: page });
  const picture = join(mkdtempSync(join(tmpdir(), 'boxkeep-example-')), 'display.png');
  const response = await fetch(`${client.url}/v2/computer/screenshot`);
  if (!response.ok) throw new SetupError(`GET /v2/computer/screenshot: ${response.status}`);
  writeFileSync(picture, Buffer.from(await response.arrayBuffer()));
  console.log(`\ndemo: the browser shows "${title}" [a picture of the display: ${picture}]`);
}

function printHowTo({ url }) {
  console.log('\nThe browser in the viewer, and for Playwright:');
  console.log(`  ${url}/vnc/?autoconnect=true&path=vnc/websockify`);
  console.log(`  chromium.connectOverCDP('${url}/cdp')`);
}

async function until(what, isSo) {
  const deadline = Date.now() + readyMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new SetupError(`not within ${readyMs / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Resolves with the exit code of an interrupted program. */
function untilInterrupted() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve(130));
  });
}
