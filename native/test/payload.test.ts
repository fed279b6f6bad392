/** The daemon inside the program: found, unpacked once into a private place, checked, and run. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRoot, isSanitized, program, rootTest, testLimitMs } from './harness.ts';

setDefaultTimeout(testLimitMs);

/** A daemon that says how it was run. */
const script = '#!/bin/sh\necho "$0 $*"\nexit 3\n';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sandboxd-payload-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function digestOf(payload: Buffer): Buffer {
  return createHash('sha256').update(payload).digest();
}

interface Trailer {
  offset?: bigint;
  length?: bigint;
  digest?: Buffer;
}

/** A release: the program, a payload, the trailer. */
function makeRelease(payload: Buffer, trailer: Trailer = {}): string {
  const elf = readFileSync(program);
  const numbers = Buffer.alloc(16);
  numbers.writeBigUInt64LE(trailer.offset ?? BigInt(elf.length), 0);
  numbers.writeBigUInt64LE(trailer.length ?? BigInt(payload.length), 8);
  const path = join(directory, 'sandboxd');
  writeFileSync(
    path,
    Buffer.concat([
      elf,
      payload,
      Buffer.from('SVCPAYL1'),
      numbers,
      trailer.digest ?? digestOf(payload),
      Buffer.alloc(8),
    ]),
  );
  chmodSync(path, 0o755);
  return path;
}

/** In a mount namespace in which the machine's own places are fresh, so that no test leaves anything there. */
function isolated(prepare: string): string[] {
  const fresh = 'for place in /var/lib /run /dev/shm; do mount -t tmpfs tmpfs $place; done';
  return [
    'unshare',
    '-m',
    '/bin/sh',
    '-c',
    `${fresh}; ${prepare}; "$@"; code=$?; ls -R /var/lib /run /dev/shm >&2; exit $code`,
    'sh',
  ];
}

function run(
  command: string[],
  env: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  const [first = '', ...rest] = command;
  return spawnSync(first, rest, {
    encoding: 'utf8',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ASAN_OPTIONS: 'detect_leaks=0', ...env },
  });
}

const contentName = (payload: Buffer): string => `sandboxd-${digestOf(payload).toString('hex').slice(0, 16)}`;

rootTest('the daemon is unpacked into /var/lib and run with its arguments', () => {
  const payload = Buffer.from(script);
  const release = makeRelease(payload);
  const { status, stdout } = run([...isolated(':'), release, 'version', '--long']);
  expect(status).toBe(3);
  expect(stdout).toBe(`/var/lib/sandboxd/bin/${contentName(payload)}/daemon version --long\n`);
});

rootTest('start runs it below init', () => {
  const release = makeRelease(Buffer.from(script));
  const { status, stdout } = run([...isolated(':'), release, 'start', '--api-key', 'k', 'x']);
  expect(status).toBe(3);
  expect(stdout).toMatch(/\/daemon start x\n$/);
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
  ['mount -t tmpfs -o size=4k tmpfs /var/lib', '/run/sandboxd/bin'],
])('after %p the place is %s', (prepare: string, place: string) => {
  const payload = Buffer.concat([Buffer.from(script), Buffer.alloc(100_000, '#')]);
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  const { stdout } = run([...isolated(prepare), makeRelease(payload), 'x'], { TMPDIR: temporary });
  expect(stdout).toBe(`${place.replace('TMPDIR', temporary)}/${contentName(payload)}/daemon x\n`);
});

rootTest('a place that is nowhere says so and names what to set', () => {
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  const prepare =
    'for place in /var/lib /run /dev/shm; do mount -o remount,noexec $place; done; mount -t tmpfs -o noexec tmpfs $TMPDIR';
  const { status, stderr } = run([...isolated(prepare), makeRelease(Buffer.from(script)), 'x'], { TMPDIR: temporary });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^sandboxd: nowhere to unpack the daemon: [^\n]*set TMPDIR[^\n]*\n/);
});

/** The other tests need no namespace: as another account, or with a place of their own. */
function asOther(
  release: string,
  env: Record<string, string>,
): { status: number | null; stdout: string; stderr: string } {
  const account = isRoot ? ['setpriv', '--reuid=61234', '--regid=61234', '--clear-groups'] : [];
  chmodSync(directory, 0o755);
  return run([...account, release, 'x'], env);
}

function ownPlace(): { env: Record<string, string>; place: string; uid: number } {
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  chmodSync(temporary, 0o1777);
  const uid = isRoot ? 61234 : (process.getuid?.() ?? 0);
  return { env: { TMPDIR: temporary }, place: join(temporary, `sandboxd-bin-${uid}`), uid };
}

test('it is unpacked once: reused as it is, and made again when it was changed', () => {
  const payload = Buffer.from(script);
  const release = makeRelease(payload);
  const { env, place, uid } = ownPlace();
  expect(asOther(release, env)).toMatchObject({ status: 3, stderr: '' });
  const daemon = join(place, contentName(payload), 'daemon');
  const first = statSync(daemon);
  expect([first.uid, first.mode & 0o7777, first.size]).toEqual([uid, 0o500, payload.length]);
  expect([statSync(place).mode & 0o7777, statSync(join(place, contentName(payload))).mode & 0o7777]).toEqual([
    0o700, 0o700,
  ]);

  asOther(release, env);
  expect(statSync(daemon).ino).toBe(first.ino);
  chmodSync(daemon, 0o700);
  writeFileSync(daemon, 'shorter');
  chmodSync(daemon, 0o500);
  expect(asOther(release, env).status).toBe(3);
  expect(readFileSync(daemon, 'utf8')).toBe(script);
  chmodSync(daemon, 0o777);
  expect(asOther(release, env).status).toBe(3);
  expect(statSync(daemon).mode & 0o7777).toBe(0o500);
  expect(readdirSync(join(place, contentName(payload)))).toEqual(['daemon']);
});

test('a link in the place of the daemon is not followed', () => {
  const payload = Buffer.from(script);
  const release = makeRelease(payload);
  const { env, place } = ownPlace();
  asOther(release, env);
  const daemon = join(place, contentName(payload), 'daemon');
  rmSync(daemon);
  symlinkSync('/bin/false', daemon);
  expect(asOther(release, env).status).toBe(3);
  expect(lstatSync(daemon).isFile()).toBe(true);
});

rootTest('a place that somebody else has prepared is not used', () => {
  const release = makeRelease(Buffer.from(script));
  const { env, place } = ownPlace();
  mkdirSync(place, { mode: 0o700 });
  const { stdout } = asOther(release, env);
  expect(stdout).not.toContain(place);
  rmSync('/dev/shm/sandboxd-bin-61234', { recursive: true, force: true });
});

test('a payload that does not match its digest is refused and leaves nothing', () => {
  const payload = Buffer.from(script);
  const release = makeRelease(payload, { digest: digestOf(Buffer.from('other')) });
  const { env, place } = ownPlace();
  expect(asOther(release, env)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^sandboxd: this file is damaged: [^\n]+\n$/),
  });
  const name = `sandboxd-${digestOf(Buffer.from('other')).toString('hex').slice(0, 16)}`;
  expect(readdirSync(join(place, name))).toEqual([]);
});

test.each<[string, Trailer]>([
  ['a length past the end', { length: 1_000_000n }],
  ['no length', { length: 0n, offset: BigInt(readFileSync(program).length + Buffer.from(script).length) }],
  ['an offset past the end', { offset: 2n ** 63n }],
  ['numbers that overflow together', { offset: 2n ** 64n - 1n, length: 2n ** 64n - 1n }],
])('a trailer with %s is refused', (_, trailer) => {
  expect(run([makeRelease(Buffer.from(script), trailer), 'x'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^sandboxd: this file is damaged/),
  });
});

test('a release lets nobody put another daemon in its place', () => {
  const { status, stderr } = run([makeRelease(Buffer.from(script)), '--daemon=/bin/sh', 'start']);
  expect([status, stderr]).toEqual([2, 'sandboxd: --daemon= is not for a program that carries its daemon\n']);
});

test('many first starts at once all run a whole daemon', async () => {
  const payload = Buffer.concat([Buffer.from(script), Buffer.alloc(5_000_000, '#')]);
  const release = makeRelease(payload);
  const { env, place } = ownPlace();
  chmodSync(directory, 0o755);
  const account = isRoot ? ['setpriv', '--reuid=61234', '--regid=61234', '--clear-groups'] : [];
  const [first = '', ...rest] = [...account, release, 'x'];
  const codes = await Promise.all(
    Array.from(
      { length: 12 },
      () =>
        new Promise((resolve) => {
          spawn(first, rest, { env: { PATH: '/usr/bin:/bin', ...env }, stdio: 'ignore' }).once('close', resolve);
        }),
    ),
  );
  expect(codes).toEqual(Array.from({ length: 12 }, () => 3));
  expect(readdirSync(join(place, contentName(payload)))).toEqual(['daemon']);
});

test.each([0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 65_535, 65_536, 65_537, 200_000])(
  'the digest of %d padding bytes is right',
  (size) => {
    const payload = Buffer.concat([Buffer.from('#!/bin/sh\nexit 3\n'), Buffer.alloc(size, '#')]);
    const { env } = ownPlace();
    expect(asOther(makeRelease(payload), env)).toMatchObject({ status: 3, stderr: '' });
  },
);

// The sanitizer has a word of its own to say about a missing /proc.
rootTest.if(!isSanitized)('without /proc there is one line', () => {
  const { status, stderr } = run([
    'unshare',
    '-m',
    '/bin/sh',
    '-c',
    'mount -t tmpfs tmpfs /proc; exec "$0" start',
    makeRelease(Buffer.from(script)),
  ]);
  expect(existsSync('/proc/self/exe')).toBe(true);
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/^sandboxd: cannot open \/proc\/self\/exe [^\n]*mount \/proc first\n$/),
  ]);
});
