/** Provides the programs that the tests of `deploy/` use, and prints its steps: `node tools/deploy/programs.mjs`. */
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unpackDebian } from '../release/debian.mjs';
import { again, isOnPath, provide, runTool, SetupError } from '../setup.mjs';

/** Outside of the repository, so that each clone does not compile them again. */
export const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'boxkeep-deploy');

/** Go otherwise keeps its modules in the home of the account, which tests must leave as it was. */
const goEnvironment = { ...process.env, GOPATH: join(folder, 'go'), GOFLAGS: '-modcacherw' };

/** Each program with its Go module and one exact version. */
const modules = {
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0',
  kustomize: 'sigs.k8s.io/kustomize/kustomize/v5@v5.8.1',
  'kube-score': 'github.com/zegl/kube-score/cmd/kube-score@v1.20.0',
};

/** The definitions of Kubernetes are in its module: 18 MB. */
const kubernetes = 'k8s.io/kubernetes@v1.34.4';
export const definitions = join(folder, `go/pkg/mod/${kubernetes}/api/openapi-spec/swagger.json`);

/** The program, and the name of the Debian package that has it. */
const packages = { 'systemd-analyze': 'systemd', go: 'golang-go' };

/**
 * Unpacked only: an installation of Prometheus makes an account, and a new /etc/passwd ends the mounts of tests over
 * the old one.
 */
export const promtool = () =>
  join(unpackDebian({ packages: ['prometheus'], folder: join(folder, 'prometheus') }), 'usr/bin/promtool');

export const program = (name) => join(folder, `${name}-${modules[name].split('@').at(-1)}`);

function providePackages() {
  const missing = () => Object.keys(packages).filter((name) => !isOnPath(name));
  const names = missing().map((name) => packages[name]);
  provide({
    what: missing().join(', '),
    isThere: () => missing().length === 0,
    packages: names,
    otherwise: `install ${names.join(', ')}`,
  });
}

function provideModules() {
  for (const [name, module] of Object.entries(modules)) {
    if (existsSync(program(name))) continue;
    console.log(`setup: go install ${module} (the tests of deploy/ need ${name})`);
    runGo(['install', module]);
    renameSync(join(folder, name), program(name));
  }
  if (existsSync(definitions)) return;
  console.log(`setup: go mod download ${kubernetes} (the tests of deploy/ need its schemas)`);
  runGo(['mod', 'download', kubernetes]);
}

export function runGo(args, place = '/') {
  if (!again(() => succeeds('go', args, place)))
    throw new SetupError(`go ${args.join(' ')} failed; its own message is above`);
}

function succeeds(command, args, cwd) {
  const { status, error } = spawnSync(command, args, {
    // By default outside of any module, so that a go.mod above has no effect.
    ...{ cwd, stdio: ['ignore', 'inherit', 'inherit'], env: { ...goEnvironment, GOBIN: folder } },
  });
  if (error) throw new SetupError(`${command} could not be started: ${error.message}`);
  return status === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(() => {
    providePackages();
    promtool();
    provideModules();
    return 0;
  });
}
