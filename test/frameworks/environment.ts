/** Runs Python programs on a framework and its adapter, beside a daemon that may be killed again and again. */
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { needPython } from '../harness/interpreters.ts';
import { expect, repositoryRoot, type Sandbox, type SandboxOptions } from '../harness/sandbox.ts';

/** The newest Python that every framework has wheels for. */
const pythonVersion = '3.13';

/** How often `npm run soak -- frameworks` repeats each suite while the daemon is killed. */
export const rounds = Number(process.env['BOXKEEP_FRAMEWORK_ROUNDS'] ?? 1);

export const key = 'a-key-of-the-test';

/** The default account of the daemon. */
export const account = { name: 'agent', id: 61_834 } as const;

/** Suites make accounts and use fixed names in /tmp, so the daemon has directories of its own there. */
const ownPlaces = `mkdir -p "./places$PWD" && chmod 1777 ./places/tmp && mount --bind . "./places$PWD" || exit
for place in tmp etc home; do mount --rbind "./places/$place" "/$place" || exit; done
cd "$PWD" && exec "$@"`;

/** A daemon that is root and runs commands as another account, because suites expect refusals by permissions. */
export function besideFrameworks(options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    args: ['--default-user', account.name, ...(options.args ?? [])],
    env: ({ directory }) => ({ SVC_API_KEY: key, PATH: `${join(directory, 'bin')}:${systemPath}` }),
    expectedWarnings: ['started again by init', ...(options.expectedWarnings ?? [])],
    timeoutMs: 300_000,
    launcher: ['unshare', '--mount', 'sh', '-c', ownPlaces, 'sh'],
    prepare(sandbox) {
      makePlaces(sandbox);
      options.prepare?.(sandbox);
    },
  };
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function makePlaces({ directory, home }: Sandbox): void {
  // The commands of a suite call Python by this name.
  mkdirSync(join(directory, 'bin'));
  symlinkSync('/usr/bin/python3', join(directory, 'bin/python'));
  const places = join(directory, 'places');
  for (const place of ['tmp', 'home']) mkdirSync(join(places, place), { recursive: true });
  cpSync('/etc', join(places, 'etc'), { recursive: true, verbatimSymlinks: true });
  copyFileSync(home.accounts, join(places, 'etc/passwd'));
  const { name, id } = account;
  appendFileSync(join(places, 'etc/passwd'), `${name}:x:${id}:${id}::/home/${name}:/bin/sh\n`);
  appendFileSync(join(places, 'etc/group'), `${name}:x:${id}:\n`);
  const own = join(places, 'home', name);
  mkdirSync(own);
  chownSync(own, id, id);
  chmodSync(directory, 0o755);
  chmodSync(join(directory, 'tmp'), 0o1777); // The directory for temporary files of every command.
}

export function requirementsOf(name: string): string {
  // Clients of MCP need no adapter, so they have no extra either.
  return name === 'mcp' ? 'test/frameworks/mcp/requirements.txt' : `clients/python/adapters/requirements-${name}.txt`;
}

/** Makes the environment of a framework. Call it before the tests, because a download takes longer than one may. */
export function needFramework(name: string): string {
  return join(needPython(requirementsOf(name), pythonVersion), 'bin/python');
}

/** The version of a package that the tests install. */
export function pinned(name: string, distribution: string): string {
  const text = readFileSync(join(repositoryRoot, requirementsOf(name)), 'utf8');
  const found = new RegExp(`^${distribution.replaceAll(/[-_]/g, '[-_]')}==([^ ;\n]+)`, 'im').exec(text)?.[1];
  if (found === undefined) throw new Error(`${requirementsOf(name)} does not pin ${distribution}`);
  return found;
}

/** A daemon with `key`, and a directory of this machine for what a program leaves. */
export type Place = Pick<Sandbox, 'url' | 'directory'>;

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of `test/frameworks` to its end. Its arguments begin with the address and the key of the daemon. */
export async function runProgram(
  name: string,
  program: string,
  { sandbox, args = [], env = {} }: { sandbox: Place; args?: readonly string[]; env?: Record<string, string> },
): Promise<Run> {
  const folder = join(repositoryRoot, 'test/frameworks');
  const child = Bun.spawn([needFramework(name), '-B', join(folder, program), sandbox.url, key, ...args], {
    cwd: sandbox.directory,
    env: {
      PATH: process.env['PATH'],
      HOME: sandbox.directory,
      TMPDIR: join(sandbox.directory, 'tmp'),
      LANG: 'C.UTF-8',
      PYTHONPATH: [join(repositoryRoot, 'clients/python/src'), folder].join(':'),
      ...env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** A row of the table of docs/guide/frameworks.md. */
export interface Result {
  readonly framework: string;
  /** Distributions whose versions the table shows. */
  readonly packages: readonly string[];
  readonly suite: string;
  readonly passed: number;
  /** What the suite itself skips, each with the reason that it gives. */
  readonly skipped?: Readonly<Record<string, string>>;
}

/** Keeps the result of a run that has passed; `npm run gen` writes the table from it. */
export function keepResult(name: string, { packages, skipped = {}, ...more }: Result): void {
  const versions = Object.fromEntries(packages.map((distribution) => [distribution, pinned(name, distribution)]));
  const result = { ...more, versions, skipped };
  const folder = join(repositoryRoot, 'test/frameworks/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

/** What became of each test of a suite, as `suite.py` prints it. */
interface Outcomes {
  readonly passed: readonly string[];
  readonly failed: Readonly<Record<string, string>>;
  readonly skipped: Readonly<Record<string, string>>;
  /** Tests that were expected to fail. */
  readonly expected: readonly string[];
}

/** The suites that frameworks publish, with the number of their tests at the pinned versions. */
export const suites = {
  deepagents: { tests: 86, options: ['--asyncio-mode=auto'] },
  inspect: { tests: 44, options: [] },
  'pydantic-ai': { tests: 40, options: [] },
} as const;

/** Runs the suite of a framework through pytest. All its tests have to pass. */
export async function passSuite(name: keyof typeof suites, sandbox: Place): Promise<void> {
  const { tests, options } = suites[name];
  const file = join(repositoryRoot, `test/frameworks/${name.replaceAll('-', '_')}_suite.py`);
  const { code, stdout, stderr } = await runProgram(name, 'suite.py', {
    sandbox,
    args: [file, ...options],
  });
  if (code !== 0) throw new Error(`${stdout}${stderr}`);
  const { passed, ...others } = JSON.parse(stdout) as Outcomes;
  expect(others).toEqual({ failed: {}, skipped: {}, expected: [] });
  expect(passed.length).toBe(tests);
}
