/** The probe finds the kernels that Jupyter finds, and its fingerprint shows when to probe again. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { python, repositoryRoot } from '../../../test/harness/bridge.ts';

const probe = readFileSync(join(repositoryRoot, 'daemon/src/assets/kernels.py'), 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'boxkeep-kernels-'));
const home = join(directory, 'home');
beforeEach(() => {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const faster = ['--HistoryManager.enabled=False', '--IPythonKernel._execute_sleep=0'];

interface KernelSpec {
  readonly name: string;
  readonly directory: string | null;
  readonly argv: readonly string[];
  readonly program: string | null;
  readonly display_name: string;
  readonly language: string;
  readonly interrupt_mode: string;
  readonly env: Record<string, string>;
  readonly transport: string;
}

interface Found {
  readonly version: string;
  readonly executable: string;
  readonly packages: Record<string, string>;
  readonly kernels: readonly KernelSpec[];
  readonly fingerprint: Record<string, string | null>;
}

/** The output of a program that runs with the test's home directory. */
function output(argv: readonly string[], variables: Record<string, string> = {}): string {
  const env = { PATH: '/usr/bin:/bin', HOME: home, ...variables };
  const { stdout, stderr, exitCode } = Bun.spawnSync([...argv], { env, cwd: '/' });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}

const find = (variables: Record<string, string> = {}, interpreter = python): Found =>
  JSON.parse(output([interpreter, '-I', '-c', probe], variables)) as Found;

function write(path: string, spec: object | string): string {
  const file = join(home, path, 'kernel.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof spec === 'string' ? spec : JSON.stringify(spec));
  return file;
}

const named = ({ kernels }: Found, name: string): KernelSpec | undefined =>
  kernels.find((kernel) => kernel.name === name);

test('an interpreter with ipykernel reports ipykernel, its version and its kernel', () => {
  const found = find();
  const [version, ...versions] = output([
    python,
    '-c',
    'import sys, importlib.metadata as m; print(sys.version.split()[0], *map(m.version, ["ipykernel", "jupyter_client", "pyzmq"]))',
  ])
    .trim()
    .split(' ');
  expect(found).toMatchObject({ version, executable: python });
  expect(Object.entries(found.packages)).toEqual([
    ['ipykernel', versions[0] ?? ''],
    ['jupyter_client', versions[1] ?? ''],
    ['zmq', versions[2] ?? ''],
  ]);
  expect(named(found, 'python3')).toMatchObject({
    argv: [python, '-m', 'ipykernel_launcher', '-f', '{connection_file}', ...faster],
    program: python,
    language: 'python',
    interrupt_mode: 'signal',
    transport: 'ipc',
  });
});

test('an interpreter without ipykernel reports that it has none and has no kernel of its own', () => {
  const plain = output([python, '-c', 'import sys; print(sys._base_executable)']).trim();
  const bare = join(directory, 'bare');
  output([plain, '-m', 'venv', '--without-pip', bare]);
  const found = find({}, join(bare, 'bin/python3'));
  expect(found.packages).toEqual({});
  expect(found.kernels.filter(({ directory }) => directory?.startsWith(bare) ?? true)).toEqual([]);
});

test('an ipykernel without a kernelspec is a kernel too', () => {
  const plain = output([python, '-c', 'import sys; print(sys._base_executable)']).trim();
  const unnamed = join(directory, 'unnamed');
  output([plain, '-m', 'venv', '--without-pip', unnamed]);
  const interpreter = join(unnamed, 'bin/python3');
  const packages = output([interpreter, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']).trim();
  mkdirSync(join(packages, 'ipykernel'));
  writeFileSync(join(packages, 'ipykernel/__init__.py'), '');
  const own = find({}, interpreter).kernels.find(({ program }) => program === interpreter);
  expect(own).toMatchObject({ name: 'python3', directory: null });
});

test('the kernels are those that Jupyter lists, from all its data directories', () => {
  write('.local/share/jupyter/kernels/mine', { argv: ['mine', '{connection_file}'], display_name: 'Mine' });
  write('.local/share/jupyter/kernels/Twice', { argv: ['second'], display_name: 'Second' });
  write('named/kernels/twice', { argv: ['first'], display_name: 'First' });
  write('.ipython/kernels/old', { argv: ['old'], display_name: 'Old' });
  write('named/kernels/empty', '');
  const variables = { JUPYTER_PATH: `${join(home, 'named')}:${join(home, 'not-there')}` };

  const found = find(variables);
  const listed = JSON.parse(output([python, '-m', 'jupyter_client.kernelspecapp', 'list', '--json'], variables)) as {
    kernelspecs: Record<string, { resource_dir: string }>;
  };
  const places = Object.entries(listed.kernelspecs).map(([name, { resource_dir: directory }]) => ({ name, directory }));
  // Jupyter also lists a kernelspec that it cannot read, by its directory.
  const readable = places.filter(({ name }) => name !== 'empty');
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  expect(found.kernels.map(({ name, directory }) => ({ name, directory: directory ?? '' })).sort(byName)).toEqual(
    readable.sort(byName),
  );
  expect(named(found, 'twice')?.display_name).toBe('First');
});

test('a kernelspec is reported with everything needed to start and interrupt its kernel', () => {
  const file = write('.local/share/jupyter/kernels/r', {
    argv: ['/bin/sh', '{resource_dir}/start', '{connection_file}'],
    display_name: 'R',
    language: 'R',
    interrupt_mode: 'message',
    env: { A: '1' },
  });
  write('.local/share/jupyter/kernels/gone', { argv: ['/not/there', '-f', '{connection_file}'], display_name: 'Gone' });
  const found = find();
  expect(named(found, 'r')).toEqual({
    name: 'r',
    directory: dirname(file),
    argv: ['/bin/sh', `${dirname(file)}/start`, '{connection_file}'],
    program: '/bin/sh',
    display_name: 'R',
    language: 'r',
    interrupt_mode: 'message',
    env: { A: '1' },
    transport: 'tcp',
  });
  expect(named(found, 'gone')).toMatchObject({ program: null, interrupt_mode: 'signal', env: {} });
});

test('files that are not kernelspecs are ignored', () => {
  const folder = '.local/share/jupyter/kernels';
  const broken = ['', '{', '[]', '{}', '{"argv": []}', '{"argv": 5}', '"text"'];
  broken.forEach((text, index) => write(`${folder}/broken-${index}`, text));
  writeFileSync(join(home, folder, 'a-file'), '');
  expect(find().kernels.map(({ name }) => name)).toEqual(['python3']);
});

test('the fingerprint changes only when something is installed', () => {
  const changed = ({ fingerprint }: Found): string[] =>
    Object.entries(fingerprint).flatMap(([path, time]) => (timeOf(path) === time ? [] : [path]));
  const timeOf = (path: string): string | null =>
    statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs.toString() ?? null;
  const before = find();
  expect(changed(before)).toEqual([]);

  const file = write('.local/share/jupyter/kernels/new', { argv: ['new'], display_name: 'New' });
  expect(changed(before)).toEqual([join(home, '.local/share/jupyter/kernels')]);
  const after = find();
  expect(changed(after)).toEqual([]);
  writeFileSync(file, JSON.stringify({ argv: ['newer'], display_name: 'Newer' }));
  expect(changed(after)).toEqual([file]);
  expect(Object.keys(after.fingerprint).some((path) => path.endsWith('site-packages'))).toBe(true);
});
