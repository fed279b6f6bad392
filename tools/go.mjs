/**
 * Compiles a program in Go that tests start: `node tools/go.mjs clients/agent-sandbox-go`.
 *
 * The folder of `test/` is a module, whose `go.sum` pins what the program stands on.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { again, isOnPath, provide, runTool, SetupError } from './setup.mjs';

const cache = join(repositoryRoot, 'node_modules/.cache');

const go = {
  what: 'Go',
  isThere: () => isOnPath('go'),
  packages: ['golang-go'],
  otherwise: 'install golang-go (Debian, Ubuntu) or go (Alpine)',
};

/** Go otherwise keeps its files in the home of the account. A module may need a newer Go, which is then downloaded. */
const environment = {
  ...{ GOPATH: join(cache, 'go'), GOCACHE: join(cache, 'go-build'), GOFLAGS: '-modcacherw', GOTOOLCHAIN: 'auto' },
  CGO_ENABLED: '0',
};

/** Where the program of a folder is, or will be. */
export function placeOfGo(folder) {
  return join(directoryOf(folder), 'program');
}

async function compile(folder) {
  const sources = join(repositoryRoot, 'test', folder);
  const wanted = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) wanted.update(readFileSync(join(sources, file)));
  await makeOnce(directoryOf(folder), wanted.digest('hex'), () => {
    provide(go);
    console.log(`setup: go build (test/${folder}, into ${placeOfGo(folder)})`);
    const options = { cwd: sources, env: { ...process.env, ...environment }, stdio: ['ignore', 'inherit', 'inherit'] };
    const isBuilt = () => spawnSync('go', ['build', '-o', placeOfGo(folder), '.'], options).status === 0;
    if (!again(isBuilt)) throw new SetupError('go build failed; its own message is above');
  });
}

function directoryOf(folder) {
  return join(cache, `go-${folder.replaceAll('/', '-')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(async () => {
    await compile(process.argv[2]);
    return 0;
  });
}
