/**
 * `npm run images`: builds the daemon image and the computer image with buildah, without a registry.
 *
 * `npm run images -- daemon` builds one of them. `npm run images -- test` then runs the tests of the images, and
 * `npm run images -- smoke` one of them; `npm run images -- memory` prints what each program of an idle container
 * occupies. `npm run images -- lock` resolves the npm and Python parts of the images anew, and builds nothing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerEnvironment, imageNames as images, imageStore as store } from './containers.mjs';
import { bunPath, repositoryRoot } from './repository.mjs';
import { isOnPath, provide, runTool, SetupError } from './setup.mjs';

const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8'));
/** What the guide calls the images, in a shell that has read this file. */
const environmentFile = join(store, 'environment');
const measures = { memory: 'tools/images-memory.mjs' };
const suites = { test: './test/images/', smoke: './test/images/smoke.test.ts' };
/** The start of several containers takes longer than the five seconds that the runner gives to a hook. */
const hookMs = 600_000;
const release = 'trixie';
const base = 'localhost/debian:13-slim';
const packages = [
  ...['netavark', 'aardvark-dns', 'iptables', 'slirp4netns', 'uidmap', 'mmdebstrap', 'runc', 'crun'],
  ...['buildah', 'podman'],
];
const programs = ['buildah', 'podman', 'mmdebstrap', 'runc', 'slirp4netns'];

/** Variables that lead pip, npm and curl to the certificates of this machine. */
const certificateVariables = [
  'NODE_EXTRA_CA_CERTS',
  'PIP_CERT',
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
];
const certificates = '/etc/ssl/certs/ca-certificates.crt';

function buildImages(names = Object.keys(images)) {
  provideTools();
  prepareStore();
  importBase();
  run(process.execPath, ['tools/build.mjs']);
  for (const name of names) build(name);
  run('podman', ['images', '--filter', 'reference=localhost/*', '--format', '{{.Repository}} {{.Size}}']);
}

function provideTools() {
  const missing = () => programs.filter((name) => !isOnPath(name));
  provide({
    what: missing().join(', '),
    isThere: () => missing().length === 0,
    packages,
    otherwise: `install ${packages.join(', ')}`,
  });
}

/** Containers run without systemd, and with the limits that this account already has. */
function prepareStore() {
  mkdirSync(store, { recursive: true });
  const containers = [
    ...['[containers]', 'default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]'],
    ...['[engine]', 'cgroup_manager = "cgroupfs"', 'events_logger = "file"', 'runtime = "runc"'],
    ...['[network]', 'network_backend = "netavark"'],
  ];
  writeFileSync(join(store, 'containers.conf'), `${containers.join('\n')}\n`);
  const storage = ['[storage]', 'driver = "overlay"', `graphroot = "${store}/graph"`, `runroot = "${store}/run"`];
  writeFileSync(join(store, 'storage.conf'), `${storage.join('\n')}\n`);
  const environment = ['CONF', 'STORAGE_CONF'].map(
    (name) => `export CONTAINERS_${name}="${containerEnvironment[`CONTAINERS_${name}`]}"`,
  );
  writeFileSync(environmentFile, `${[...environment, 'docker() { podman "$@"; }'].join('\n')}\n`);
  const network = certificateVariables.map((name) => `export ${name}=/run/secrets/certificates`);
  writeFileSync(join(store, 'network.sh'), `${[...network, 'export PIP_DEFAULT_TIMEOUT=180'].join('\n')}\n`);
}

/** The same files as Debian's own image, from the mirrors of this machine. */
function importBase() {
  if (spawnSync('podman', ['image', 'exists', base], { env: containerEnvironment }).status === 0) return;
  const [main, security] = mirrors();
  const options = [
    ...['--aptopt=Acquire::Languages "none"', '--aptopt=APT::Install-Recommends "false"'],
    ...['--dpkgopt=path-exclude=/usr/share/man/*', '--dpkgopt=path-exclude=/usr/share/doc/*'],
    ...['--dpkgopt=path-include=/usr/share/doc/*/copyright', '--dpkgopt=path-exclude=/usr/share/locale/*'],
    ...['--dpkgopt=path-include=/usr/share/locale/locale.alias', '--include=ca-certificates'],
  ];
  const sources = [`deb ${main} ${release} main`, `deb ${main} ${release}-updates main`];
  const archive = join(store, 'base.tar');
  const keyring = '--keyring=/usr/share/keyrings/debian-archive-keyring.gpg';
  run('mmdebstrap', [
    ...['--variant=minbase', keyring, ...options, release, archive],
    ...[...sources, `deb ${security} ${release}-security main`],
  ]);
  run('podman', ['import', '--change', 'CMD ["bash"]', archive, base]);
}

function mirrors() {
  const sources = '/etc/apt/sources.list.d/debian.sources';
  const uris = existsSync(sources) ? [...readFileSync(sources, 'utf8').matchAll(/^URIs: *(\S+)/gm)] : [];
  const [main, security] = uris.map(([, uri]) => uri);
  if (!main || !security) throw new SetupError(`the base image needs two mirrors of Debian in ${sources}`);
  return [main, security];
}

/** Certificates of this machine are secrets of the build, so that no layer holds them. */
function build(name) {
  const started = Date.now();
  const secrets = [`id=network,src=${store}/network.sh`, `id=certificates,src=${certificates}`];
  run('buildah', [
    // The format of OCI has no health check.
    ...['bud', '--isolation=chroot', '--network=host', '--layers', '--format=docker'],
    ...secrets.flatMap((secret) => ['--secret', secret]),
    ...['--build-arg', `BASE=${name === 'daemon' ? base : images.daemon}`],
    ...['--file', `images/${name}/Dockerfile`, '--tag', images[name], '--tag', `${images[name]}:${version}`, '.'],
  ]);
  console.log(`images: ${images[name]} in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Resolves the parts again. The locks name no registry, so that they serve on every machine. */
function lock() {
  const npm = ['install', '--package-lock-only', '--omit-lockfile-registry-resolved', '--no-audit', '--no-fund'];
  run('npm', [...npm, '--prefix', 'images/daemon/ide']);
  const tools = mkdtempSync(join(tmpdir(), 'boxkeep-lock-'));
  try {
    run('python3', ['-m', 'venv', tools]);
    run(join(tools, 'bin/pip'), ['install', '--quiet', 'uv']);
    const options = ['--universal', '--python-version', '3.13', '--generate-hashes', '--no-header', '--no-annotate'];
    for (const name of ['node', 'python']) {
      const [input, output] = [`images/daemon/${name}.txt`, `images/daemon/${name}.lock`];
      run(join(tools, 'bin/uv'), ['pip', 'compile', '--quiet', ...options, input, '--output-file', output]);
    }
  } finally {
    rmSync(tools, { recursive: true });
  }
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, {
    ...{ cwd: repositoryRoot, stdio: ['ignore', 'inherit', 'inherit'], env: containerEnvironment },
  });
  if (error) throw new SetupError(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new SetupError(`${program} ${args[0]} failed; its own message is above`);
}

await runTool(async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((word) => word !== 'lock' && !(word in { ...suites, ...measures, ...images }));
  if (unknown.length > 0) {
    const known = [...Object.keys({ ...images, ...suites, ...measures }), 'lock'].join(', ');
    throw new SetupError(`no image is called ${unknown.join(', ')}; there are: ${known}`);
  }
  if (wanted.includes('lock')) {
    lock();
    return 0;
  }
  const named = wanted.filter((word) => word in images);
  buildImages(named.length > 0 ? named : undefined);
  for (const word of wanted.filter((name) => name in suites)) {
    run(bunPath(), ['test', `--timeout=${hookMs}`, suites[word]]);
  }
  for (const word of wanted.filter((name) => name in measures)) run(process.execPath, [measures[word]]);
  return 0;
});
