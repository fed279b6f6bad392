/** Two clones of one commit make the same release, whatever their directory, home, time zone and umask are. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'bun:test';
import { repositoryRoot } from '../harness/sandbox.ts';

const scratch = mkdtempSync(join(tmpdir(), 'boxkeep-clones-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const releaseMs = 1_800_000;

interface Habits {
  readonly place: string;
  readonly umask: string;
  readonly env: Readonly<Record<string, string>>;
}

const accounts: readonly Habits[] = [
  { place: 'one', umask: '022', env: { TZ: 'UTC', LC_ALL: 'C.UTF-8' } },
  { place: 'another/place-with-a-longer-name', umask: '077', env: { TZ: 'Pacific/Auckland', LC_ALL: 'C' } },
];

/** Where npm and pyenv keep what the machine has is the same; nothing else of the home is. */
const tools = {
  npm_config_userconfig: join(homedir(), '.npmrc'),
  npm_config_cache: join(homedir(), '.npm'),
  PYENV_ROOT: process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'),
};

/** The repository may get a commit between the two. */
const commit = Bun.spawnSync(['git', 'rev-parse', 'HEAD'], { cwd: repositoryRoot }).stdout.toString().trim();

/** Returns the directory of the release. */
function releaseOf({ place, umask, env }: Habits): string {
  const clone = join(scratch, place, 'clone');
  const home = join(scratch, place, 'home');
  mkdirSync(home, { recursive: true });
  const script =
    'umask "$1" && git clone --quiet "$2" "$3" && cd "$3" && git checkout --quiet "$4" && npm run --silent release';
  const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-c', script, 'sh', umask, repositoryRoot, clone, commit], {
    env: { ...process.env, ...tools, ...env, HOME: home },
  });
  if (exitCode !== 0) throw new Error(`${place}: ${stdout.toString()}${stderr.toString()}`);
  return join(clone, 'dist/release');
}

test(
  'RELEASE two clones make the same files, with the same permissions',
  () => {
    const [one, other] = accounts.map(releaseOf).map((directory) => ({
      sums: readFileSync(join(directory, 'SHA256SUMS'), 'utf8').split('\n'),
      modes: readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode.toString(8)]),
    }));
    expect(one?.sums.length).toBeGreaterThan(8);
    expect(other).toEqual(one);
  },
  releaseMs,
);
