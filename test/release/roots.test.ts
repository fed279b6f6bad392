/** The one file runs in any image: in each of these roots, as PID 1, without any file of the machine. */
import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../harness/until.ts';
import { readOnly, Root } from './root.ts';

interface Kind {
  readonly make: () => Root;
  /** The directory that the program unpacks itself into, and the one where the daemon keeps its commands. */
  readonly unpacksInto: string;
  readonly keepsIn: string;
  /** A script that leaves an orphan, which ends by itself; null without a shell. */
  readonly orphans: string | null;
}

const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const glibcLoader = process.arch === 'arm64' ? 'lib/ld-linux-aarch64.so.1' : 'lib64/ld-linux-x86-64.so.2';
const muslLoader = `lib/ld-musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`;
const nullDevice = 'mkdir -p dev && touch dev/null && mount --bind /dev/null dev/null';
/** A shell opens /dev/null for a background job, and not every root has one; this program forks by itself. */
const timeoutForks = 'timeout 5 sh -c "exit 3"';
const inVar = { unpacksInto: '/var/lib/boxkeep/bin', keepsIn: '/var/lib/boxkeep/', orphans: timeoutForks };

const kinds: Readonly<Record<string, Kind>> = {
  'a root with glibc and no libstdc++': {
    ...inVar,
    orphans: '(sh -c "exit 1" & sh -c : &)',
    make: () =>
      new Root({ mounts: nullDevice })
        .copy(`lib/${triplet}/libc.so.6`)
        .copy(`lib/${triplet}/ld-linux-x86-64.so.2`, glibcLoader)
        .copy('bin/dash', 'bin/sh'),
  },
  'a root with musl and no glibc': { ...inVar, make: () => new Root().addBusybox().copy(muslLoader) },
  'a root with only busybox': { ...inVar, make: () => new Root().addBusybox() },
  'a root with only the program and /proc': { ...inVar, make: () => new Root(), orphans: null },
  'a read-only root with a writable /run': {
    make: () => new Root({ mounts: `${readOnly} && mount -t tmpfs tmpfs run` }).addBusybox().add('run'),
    unpacksInto: '/run/boxkeep/bin',
    keepsIn: '/run/boxkeep/',
    orphans: timeoutForks,
  },
  'a read-only root with a noexec /tmp': {
    make: () =>
      new Root({ mounts: `${readOnly} && mount -t tmpfs -o noexec tmpfs tmp && mount -t tmpfs tmpfs dev/shm` })
        .addBusybox()
        .add('tmp')
        .add('dev/shm'),
    unpacksInto: '/dev/shm/boxkeep-bin-0',
    keepsIn: '/tmp/boxkeep-0-',
    orphans: timeoutForks,
  },
  'a root whose program runs unprivileged': {
    make: () => new Root({ account: 61234 }).addBusybox().add('tmp', 0o1777),
    unpacksInto: '/tmp/boxkeep-bin-61234',
    keepsIn: '/tmp/boxkeep-61234-',
    orphans: timeoutForks,
  },
};

describe.each(Object.entries(kinds))('%s', (_, { make, unpacksInto, keepsIn, orphans }) => {
  const root = make();
  afterAll(() => root[Symbol.dispose]());

  test('IMG-30 many concurrent first starts all work', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => root.run('/boxkeep', 'version')));
    expect(outcomes).toEqual(
      Array.from({ length: 8 }, () => ({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/), stderr: '' })),
    );
  });

  test('IMG-30 the daemon runs from its own files, and uses none of the image', async () => {
    await using daemon = await root.start();
    const files = daemon.mappedFiles();
    expect(files).toContainEqual(expect.stringMatching(/\/libc\.so\.6$/));
    expect(files.filter((path) => !path.includes(`${unpacksInto}/boxkeep-`))).toEqual([]);
    const response = await fetch(`${daemon.url}/v2/sandbox`, { keepalive: false });
    const { data } = (await response.json()) as { data: { pid: number; runtime_dir: string } };
    expect(data.runtime_dir).toStartWith(keepsIn);
    expect(daemon.processes()).toEqual(['boxkeep-init', 'boxkeep-daemon']);
    expect(daemon.stderr).toBe('');
  });

  test('a program runs without a shell, and its exit code is returned', async () => {
    await using daemon = await root.start();
    expect(await daemon.run('/boxkeep', 'version')).toMatchObject({
      status: 'completed',
      exit_code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(await daemon.run('/boxkeep', 'dance')).toMatchObject({ status: 'completed', exit_code: 2 });
    expect(await daemon.run('/not/there')).toMatchObject({
      status: 'failed',
      error: { errno_name: 'ENOENT' },
    });
    await until('nothing is left of them', () => daemon.processes().length === 2);
  });

  test(
    orphans ? 'a shell command runs, and leaves no zombie' : 'a shell command is refused with the reason',
    async () => {
      await using daemon = await root.start();
      const reply = await daemon.post('/v2/commands', { command: `${orphans}; echo out; echo err >&2; exit 7` });
      if (orphans !== null) {
        expect(reply.data).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exit_code: 7 });
      } else {
        expect(reply).toMatchObject({
          status: 503,
          data: { code: 'unavailable', retryable: false },
          hint: expect.stringContaining('shell "none"'),
        });
      }
      await until('nothing is left of it', () => daemon.processes().length === 2);
    },
  );

  test('SIGTERM to PID 1 ends everything in time, with exit code 0', async () => {
    await using daemon = await root.start();
    if (orphans !== null) {
      const command = 'trap "" TERM; read line';
      expect(await daemon.post('/v2/commands', { command, mode: 'async' })).toMatchObject({ status: 200 });
      await until('it runs', () => daemon.processes().length === 4);
    }
    expect(await daemon.end('SIGTERM')).toEqual({ code: 0, isInTime: true });
  });

  test.each(['SIGINT', 'SIGHUP'] as const)('%s to PID 1 ends everything in time, with exit code 0', async (signal) => {
    await using daemon = await root.start();
    expect(await daemon.end(signal)).toEqual({ code: 0, isInTime: true });
  });

  test('other signals are forwarded to the daemon, and do no harm', async () => {
    await using daemon = await root.start();
    process.kill(daemon.initPid, 'SIGWINCH');
    expect(await daemon.run('/boxkeep', 'version')).toMatchObject({ exit_code: 0 });
  });

  test('a killed daemon is restarted', async () => {
    await using daemon = await root.start();
    const before = daemon.daemonPid;
    process.kill(before, 'SIGKILL');
    await until('another one is there', () => daemon.hasAnotherThan(before));
    const answers = () =>
      fetch(`${daemon.url}/health`, { keepalive: false }).then(
        ({ status }) => status === 200,
        () => false,
      );
    await until('it answers', answers);
  });
});

describe('an impossible start gives one line with the reason', () => {
  test('without /proc, each verb names the missing mount', async () => {
    using root = new Root({ proc: false });
    for (const verb of ['start', 'version', 'doctor']) {
      expect(await root.run('/boxkeep', verb)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'boxkeep: cannot open /proc/self/exe (No such file or directory): mount /proc first\n',
      });
    }
  });

  test('without a writable directory, start names each place that was tried', async () => {
    using root = new Root({ mounts: readOnly });
    expect(await root.run('/boxkeep', 'start')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'boxkeep: nowhere to unpack the daemon: /var/lib/boxkeep/bin (Read-only file system), ' +
        '/run/boxkeep/bin (Read-only file system), /tmp/boxkeep-bin-0 (No such file or directory), ' +
        '/dev/shm/boxkeep-bin-0 (No such file or directory); set TMPDIR to a directory with room for it\n',
    });
  });

  test('on a full file system the start fails, and nothing is left behind', async () => {
    using root = new Root({ mounts: `${readOnly} && mount -t tmpfs -o size=20m tmpfs run` }).add('run');
    expect(await root.run('/boxkeep', 'version')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/run/boxkeep/bin (No space left on device)'),
    });
  });
});

test('a start reuses the files of the previous one', async () => {
  using root = new Root();
  const place = join(root.directory, 'var/lib/boxkeep/bin');
  await root.run('/boxkeep', 'version');
  const [version = ''] = readdirSync(place);
  const files = () => readdirSync(join(place, version)).map((name) => statSync(join(place, version, name)).ino);
  const before = files();
  await root.run('/boxkeep', 'version');
  expect(files()).toEqual(before);
});
