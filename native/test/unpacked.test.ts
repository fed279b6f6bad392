/** The unpacked daemon: in the first usable directory, once, whole, and only as long as it is in use. */
import { expect, test } from 'bun:test';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { rootTest, until } from './harness.ts';
import { carried, commandIn, environment, exitCode, isolated, ReleaseStage, run } from './release.ts';

const carriedNames = ['boxkeep-daemon', 'daemon'];
const randomBytes = (size: number): Buffer =>
  Buffer.concat(Array.from({ length: size / 65_536 }, () => crypto.getRandomValues(Buffer.alloc(65_536))));

/* ---- directories ---- */

rootTest('the daemon is unpacked into /var/lib and runs with its arguments', () => {
  using stage = new ReleaseStage();
  const { path, version } = stage.make();
  const { status, stdout } = run([...isolated(':'), path, 'version', '--long']);
  expect([status, stdout]).toEqual([3, commandIn(`/var/lib/boxkeep/bin/${version}`, 'version', '--long')]);
});

rootTest('start runs the daemon below init', () => {
  using stage = new ReleaseStage();
  const { status, stdout } = run([...isolated(':'), stage.make().path, 'start', '--api-key', 'k', 'x']);
  expect([status, stdout]).toEqual([3, expect.stringMatching(/\/daemon start x\n$/)]);
});

rootTest.each([
  ['mount -o remount,ro /var/lib', '/run/boxkeep/bin'],
  ['mount -o remount,noexec /var/lib', '/run/boxkeep/bin'],
  ['mount -o remount,noexec /var/lib; mount -o remount,noexec /run', 'TMPDIR/boxkeep-bin-0'],
  [
    'mount -o remount,noexec /var/lib; mount -o remount,noexec /run; mount -t tmpfs -o noexec tmpfs $TMPDIR',
    '/dev/shm/boxkeep-bin-0',
  ],
  ['mkdir -m 777 /var/lib/boxkeep', '/run/boxkeep/bin'],
  ['mkdir -p /var/lib/boxkeep; mkdir -m 755 /var/lib/boxkeep/bin', '/run/boxkeep/bin'],
  ['mkdir -p /var/lib/boxkeep /var/lib/elsewhere; ln -s ../elsewhere /var/lib/boxkeep/bin', '/run/boxkeep/bin'],
  [
    'mkdir -p /var/lib/boxkeep; mkdir -m 700 /var/lib/boxkeep/bin; chown 61234 /var/lib/boxkeep/bin',
    '/run/boxkeep/bin',
  ],
  ['mount -t tmpfs -o size=64k tmpfs /var/lib', '/run/boxkeep/bin'],
])('after %p the daemon is unpacked to %s', (prepare: string, place: string) => {
  using stage = new ReleaseStage();
  const { path, version } = stage.make(carried(randomBytes(131_072)));
  const { stdout } = run([...isolated(prepare), path, 'x'], stage.env);
  expect(stdout).toBe(commandIn(`${place.replace('TMPDIR', stage.temporary)}/${version}`, 'x'));
});

rootTest('when no directory is usable, each is named with its reason', () => {
  using stage = new ReleaseStage();
  const prepare =
    'mount -o remount,noexec /var/lib; mount -o remount,ro /run; mount -t tmpfs -o size=64k tmpfs $TMPDIR; ' +
    'mkdir -m 755 /dev/shm/boxkeep-bin-0';
  const { status, stderr } = run([...isolated(prepare), stage.make(carried(randomBytes(131_072))).path], stage.env);
  expect([status, stderr]).toEqual([
    1,
    'boxkeep: nowhere to unpack the daemon: /var/lib/boxkeep/bin (mounted noexec), ' +
      '/run/boxkeep/bin (Read-only file system), ' +
      `${stage.temporary}/boxkeep-bin-0 (No space left on device), ` +
      '/dev/shm/boxkeep-bin-0 (not ours alone); set TMPDIR to a directory with room for it\n',
  ]);
});

rootTest('a full disk is left unchanged', () => {
  using stage = new ReleaseStage();
  const { path } = stage.make(carried(randomBytes(131_072)));
  const full = 'mount -t tmpfs -o size=64k tmpfs /var/lib';
  const look = ['sh', '-c', '"$0" x; find /var/lib/boxkeep', path];
  expect(run([...isolated(full), ...look]).stdout).toEndWith('/var/lib/boxkeep\n/var/lib/boxkeep/bin\n');
});

rootTest('a directory that another account prepared is not used', () => {
  using stage = new ReleaseStage();
  const { path } = stage.make();
  mkdirSync(stage.place, { mode: 0o700 });
  const { status, stdout } = run([...isolated(':'), ...stage.asAccount(path, 'x')], stage.env);
  expect([status, stdout]).toEqual([exitCode, expect.stringContaining('/dev/shm/boxkeep-bin-')]);
});

test('a directory of an earlier release is used', () => {
  using stage = new ReleaseStage();
  const { path, directory } = stage.make();
  expect(run(stage.asAccount('mkdir', '-m', '700', stage.place, directory)).status).toBe(0);
  expect(stage.run(path).stdout).toBe(commandIn(directory, 'x'));
});

/* ---- the version of root ---- */

const placeOfRoot = '/var/lib/boxkeep/bin';

/** Runs a command after root has unpacked a release, and a script has run in the directory of the files. */
function runAfterRoot(stage: ReleaseStage, { path, version }: { path: string; version: string }, script: string) {
  const unpack = `${path} x >/dev/null; (cd ${placeOfRoot}/${version} && ${script})`;
  return (...command: string[]) => run([...isolated(unpack), ...command], stage.env);
}

rootTest('every account runs the files that root has unpacked', () => {
  using stage = new ReleaseStage();
  const release = stage.make();
  const { status, stdout } = runAfterRoot(stage, release, ':')(...stage.asAccount(release.path, 'x'));
  expect([status, stdout]).toEqual([exitCode, commandIn(`${placeOfRoot}/${release.version}`, 'x')]);
});

rootTest('files that root has unpacked run from a read-only file system', () => {
  using stage = new ReleaseStage();
  const release = stage.make();
  const { stdout } = runAfterRoot(stage, release, 'mount -o remount,ro /var/lib')(release.path, 'x');
  expect(stdout).toBe(commandIn(`${placeOfRoot}/${release.version}`, 'x'));
});

rootTest.each([
  'chmod 777 .',
  'chmod 777 ..',
  'chown 61235 .',
  'chown 61235 ..',
  'mv "$PWD" ../elsewhere; ln -s elsewhere "$PWD"',
  'chmod 777 daemon',
  'chown 61235 daemon',
  'truncate -s 3 daemon',
  'rm daemon; ln -s /bin/false daemon',
  'mount -o remount,noexec /var/lib',
])('after %p an account unpacks files of its own', (script: string) => {
  using stage = new ReleaseStage();
  const release = stage.make();
  const { stdout } = runAfterRoot(stage, release, script)(...stage.asAccount(release.path, 'x'));
  expect(stdout).toBe(commandIn(release.directory, 'x'));
});

rootTest('no account can lock the files that root has unpacked', () => {
  using stage = new ReleaseStage();
  const release = stage.make();
  const lock = stage.asAccount('flock', '--nonblock', `${placeOfRoot}/${release.version}`, 'true');
  expect(runAfterRoot(stage, release, ':')(...lock).stderr).toContain('Permission denied');
});

/* ---- once and whole ---- */

test('the daemon is unpacked once, and the next start reuses the files', () => {
  using stage = new ReleaseStage();
  const { path, directory } = stage.make();
  expect(stage.run(path)).toMatchObject({ status: exitCode, stderr: '' });
  const before = carriedNames.map((name) => statSync(join(directory, name)));
  expect(before.map(({ uid, mode }) => [uid, mode & 0o7777])).toEqual([
    [stage.uid, 0o555],
    [stage.uid, 0o555],
  ]);
  expect([stage.place, directory].map((path) => statSync(path).mode & 0o7777)).toEqual([0o711, 0o711]);
  expect(stage.run(path).status).toBe(exitCode);
  expect(carriedNames.map((name) => statSync(join(directory, name)).ino)).toEqual(before.map(({ ino }) => ino));
});

test.each<[string, (daemon: string, directory: string) => void]>([
  ['is missing', (daemon) => rmSync(daemon)],
  ['is truncated', (daemon) => truncateSync(daemon, 3)],
  ['is writable by others', (daemon) => chmodSync(daemon, 0o777)],
  ['is not executable', (daemon) => chmodSync(daemon, 0o400)],
  [
    'is a symbolic link',
    (daemon) => {
      rmSync(daemon);
      symlinkSync('/bin/false', daemon);
    },
  ],
  ['is missing with its directory', (_, directory) => rmSync(directory, { recursive: true })],
])('a daemon that %s is unpacked again', (_, spoil) => {
  using stage = new ReleaseStage();
  const { path, directory } = stage.make();
  stage.run(path);
  const daemon = join(directory, 'daemon');
  spoil(daemon, directory);
  expect(stage.run(path)).toMatchObject({ status: exitCode, stderr: '' });
  expect([lstatSync(daemon).isFile(), statSync(daemon).mode & 0o7777]).toEqual([true, 0o555]);
  expect(readFileSync(daemon, 'utf8')).toBe('a daemon');
});

test('many concurrent first starts all run a whole daemon and leave no other files', async () => {
  using stage = new ReleaseStage();
  const { path, directory } = stage.make(carried(randomBytes(65_536 * 64)));
  const [first = '', ...rest] = stage.asAccount(path, 'x');
  const codes = await Promise.all(
    Array.from({ length: 12 }, () => {
      const ended = Promise.withResolvers<number | null>();
      spawn(first, rest, { env: environment(stage.env), stdio: 'ignore' }).once('close', ended.resolve);
      return ended.promise;
    }),
  );
  expect(codes).toEqual(Array.from({ length: 12 }, () => exitCode));
  expect(readdirSync(directory).toSorted()).toEqual(carriedNames);
});

test('files left by a killed start are not used, and are removed', async () => {
  using stage = new ReleaseStage();
  const { path, directory } = stage.make(carried(randomBytes(65_536 * 512)));
  const [first = '', ...rest] = stage.asAccount(path, 'x');
  const child = spawn(first, rest, { env: environment(stage.env), stdio: 'ignore' });
  const drafts = (): string[] => spawnSync('find', [directory, '-name', '.*'], { encoding: 'utf8' }).stdout.split('\n');
  await until('it has begun to write', () => drafts().length > 2);
  child.kill('SIGKILL');
  await until('it is gone', () => child.signalCode !== null);
  expect(readdirSync(directory)).not.toEqual([]);
  expect(readdirSync(directory)).not.toContain('daemon');
  expect(stage.run(path).status).toBe(exitCode);
  expect(readdirSync(directory).toSorted()).toEqual(carriedNames);
});

/* ---- versions ---- */

test('a new version removes an old one that is not in use', () => {
  using stage = new ReleaseStage();
  const older = stage.make(carried(Buffer.from('older')));
  stage.run(older.path);
  const newer = stage.make(carried(Buffer.from('newer')));
  expect(stage.run(newer.path).status).toBe(exitCode);
  expect(readdirSync(stage.place)).toEqual([newer.version]);
});

test('a new version keeps an old one that runs, and removes it after it has ended', async () => {
  using stage = new ReleaseStage();
  const waits = { name: 'boxkeep-daemon', bytes: Buffer.from('#!/bin/sh\necho up\nread line\n') };
  const daemon = { name: 'daemon', bytes: Buffer.from('older') };
  const older = stage.make([waits, daemon], undefined, {}, 'older');
  const [first = '', ...rest] = stage.asAccount(older.path, 'start');
  const running = spawn(first, rest, { env: environment(stage.env), stdio: ['pipe', 'pipe', 'ignore'] });
  await new Promise((resolve) => {
    running.stdout.once('data', resolve);
  });
  const newer = stage.make(carried(Buffer.from('newer')));
  stage.run(newer.path);
  expect(readdirSync(stage.place).toSorted()).toEqual([older.version, newer.version].toSorted());
  running.stdin.end('\n');
  await until('the older one has ended', () => running.exitCode !== null);
  const newest = stage.make(carried(Buffer.from('newest')));
  stage.run(newest.path);
  expect(readdirSync(stage.place)).toEqual([newest.version]);
});

test('only versions are removed from a directory', () => {
  using stage = new ReleaseStage();
  const { path } = stage.make();
  stage.run(path);
  writeFileSync(join(stage.place, 'notes'), '');
  renameSync(join(stage.place, stage.make().version), join(stage.place, 'other'));
  stage.run(path);
  expect(readdirSync(stage.place)).toEqual(expect.arrayContaining(['notes', 'other']));
});
