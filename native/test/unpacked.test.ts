/** The unpacked daemon: in the first place that will do, once, whole, and not longer than it is used. */
import { expect, setDefaultTimeout, test } from 'bun:test';
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
import { rootTest, testLimitMs, until } from './harness.ts';
import { carried, commandIn, environment, exitCode, isolated, ReleaseStage, run } from './release.ts';

setDefaultTimeout(testLimitMs);

const carriedNames = ['daemon', 'sandboxd-daemon'];
const randomBytes = (size: number): Buffer =>
  Buffer.concat(Array.from({ length: size / 65_536 }, () => crypto.getRandomValues(Buffer.alloc(65_536))));

/* ---- places ---- */

rootTest('the daemon is unpacked into /var/lib and run with its arguments', () => {
  using stage = new ReleaseStage();
  const { path, version } = stage.make();
  const { status, stdout } = run([...isolated(':'), path, 'version', '--long']);
  expect([status, stdout]).toEqual([3, commandIn(`/var/lib/sandboxd/bin/${version}`, 'version', '--long')]);
});

rootTest('start runs it below init', () => {
  using stage = new ReleaseStage();
  const { status, stdout } = run([...isolated(':'), stage.make().path, 'start', '--api-key', 'k', 'x']);
  expect([status, stdout]).toEqual([3, expect.stringMatching(/\/daemon start x\n$/)]);
});

rootTest.each([
  ['mount -o remount,ro /var/lib', '/run/sandboxd/bin'],
  ['mount -o remount,noexec /var/lib', '/run/sandboxd/bin'],
  ['mount -o remount,noexec /var/lib; mount -o remount,noexec /run', 'TMPDIR/sandboxd-bin-0'],
  [
    'mount -o remount,noexec /var/lib; mount -o remount,noexec /run; mount -t tmpfs -o noexec tmpfs $TMPDIR',
    '/dev/shm/sandboxd-bin-0',
  ],
  ['mkdir -m 777 /var/lib/sandboxd', '/run/sandboxd/bin'],
  ['mkdir -p /var/lib/sandboxd; mkdir -m 755 /var/lib/sandboxd/bin', '/run/sandboxd/bin'],
  ['mkdir -p /var/lib/sandboxd /var/lib/elsewhere; ln -s ../elsewhere /var/lib/sandboxd/bin', '/run/sandboxd/bin'],
  [
    'mkdir -p /var/lib/sandboxd; mkdir -m 700 /var/lib/sandboxd/bin; chown 61234 /var/lib/sandboxd/bin',
    '/run/sandboxd/bin',
  ],
  ['mount -t tmpfs -o size=64k tmpfs /var/lib', '/run/sandboxd/bin'],
])('after %p the place is %s', (prepare: string, place: string) => {
  using stage = new ReleaseStage();
  const { path, version } = stage.make(carried(randomBytes(131_072)));
  const { stdout } = run([...isolated(prepare), path, 'x'], stage.env);
  expect(stdout).toBe(commandIn(`${place.replace('TMPDIR', stage.temporary)}/${version}`, 'x'));
});

rootTest('when no place will do, each is named with its reason', () => {
  using stage = new ReleaseStage();
  const prepare =
    'mount -o remount,noexec /var/lib; mount -o remount,ro /run; mount -t tmpfs -o size=64k tmpfs $TMPDIR; ' +
    'mkdir -m 755 /dev/shm/sandboxd-bin-0';
  const { status, stderr } = run([...isolated(prepare), stage.make(carried(randomBytes(131_072))).path], stage.env);
  expect([status, stderr]).toEqual([
    1,
    'sandboxd: nowhere to unpack the daemon: /var/lib/sandboxd/bin (mounted noexec), ' +
      '/run/sandboxd/bin (Read-only file system), ' +
      `${stage.temporary}/sandboxd-bin-0 (No space left on device), ` +
      '/dev/shm/sandboxd-bin-0 (not ours alone); set TMPDIR to a directory with room for it\n',
  ]);
});

rootTest('a full disk is left as it was', () => {
  using stage = new ReleaseStage();
  const { path } = stage.make(carried(randomBytes(131_072)));
  const full = 'mount -t tmpfs -o size=64k tmpfs /var/lib';
  const look = ['sh', '-c', '"$0" x; find /var/lib/sandboxd', path];
  expect(run([...isolated(full), ...look]).stdout).toEndWith('/var/lib/sandboxd\n/var/lib/sandboxd/bin\n');
});

rootTest('a place that somebody else has prepared is not used', () => {
  using stage = new ReleaseStage();
  const { path } = stage.make();
  mkdirSync(stage.place, { mode: 0o700 });
  const { status, stdout } = run([...isolated(':'), ...stage.asAccount(path, 'x')], stage.env);
  expect([status, stdout]).toEqual([exitCode, expect.stringContaining('/dev/shm/sandboxd-bin-')]);
});

/* ---- once, and whole ---- */

test('it is unpacked once, and found as it is by the next start', () => {
  using stage = new ReleaseStage();
  const { path, directory } = stage.make();
  expect(stage.run(path)).toMatchObject({ status: exitCode, stderr: '' });
  const before = carriedNames.map((name) => statSync(join(directory, name)));
  expect(before.map(({ uid, mode }) => [uid, mode & 0o7777])).toEqual([
    [stage.uid, 0o500],
    [stage.uid, 0o500],
  ]);
  expect([stage.place, directory].map((path) => statSync(path).mode & 0o7777)).toEqual([0o700, 0o700]);
  expect(stage.run(path).status).toBe(exitCode);
  expect(carriedNames.map((name) => statSync(join(directory, name)).ino)).toEqual(before.map(({ ino }) => ino));
});

test.each<[string, (daemon: string, directory: string) => void]>([
  ['is gone', (daemon) => rmSync(daemon)],
  ['was cut off', (daemon) => truncateSync(daemon, 3)],
  ['is open to others', (daemon) => chmodSync(daemon, 0o777)],
  ['cannot be run', (daemon) => chmodSync(daemon, 0o400)],
  [
    'is a link',
    (daemon) => {
      rmSync(daemon);
      symlinkSync('/bin/false', daemon);
    },
  ],
  ['is gone with its directory', (_, directory) => rmSync(directory, { recursive: true })],
])('a daemon that %s is made again', (_, spoil) => {
  using stage = new ReleaseStage();
  const { path, directory } = stage.make();
  stage.run(path);
  const daemon = join(directory, 'daemon');
  spoil(daemon, directory);
  expect(stage.run(path)).toMatchObject({ status: exitCode, stderr: '' });
  expect([lstatSync(daemon).isFile(), statSync(daemon).mode & 0o7777]).toEqual([true, 0o500]);
  expect(readFileSync(daemon, 'utf8')).toBe('a daemon');
});

test('many first starts at once all run a whole daemon, and leave nothing else', async () => {
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

test('what a killed start has left behind is taken for nothing, and removed', async () => {
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

test('a new version removes an old one that nobody uses', () => {
  using stage = new ReleaseStage();
  const older = stage.make(carried(Buffer.from('older')));
  stage.run(older.path);
  const newer = stage.make(carried(Buffer.from('newer')));
  expect(stage.run(newer.path).status).toBe(exitCode);
  expect(readdirSync(stage.place)).toEqual([newer.version]);
});

test('a new version leaves an old one that runs, and removes it when it has ended', async () => {
  using stage = new ReleaseStage();
  const waits = { name: 'sandboxd-daemon', bytes: Buffer.from('#!/bin/sh\necho up\nread line\n') };
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

test('only versions are removed from a place', () => {
  using stage = new ReleaseStage();
  const { path } = stage.make();
  stage.run(path);
  writeFileSync(join(stage.place, 'notes'), '');
  renameSync(join(stage.place, stage.make().version), join(stage.place, 'other'));
  stage.run(path);
  expect(readdirSync(stage.place)).toEqual(expect.arrayContaining(['notes', 'other']));
});
