/**
 * A wall clock that can jump, for one daemon and its commands.
 *
 * The machine's clock is shared, a time namespace does not affect the wall clock, and init removes LD_PRELOAD.
 * Therefore /etc/ld.so.preload in a separate mount namespace names the library. Only programs with a loader use this
 * clock: keepers, which are static, use the machine's.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fixture, type Sandbox, type SandboxOptions } from './sandbox.ts';

const mount = `cp -a /etc ./etc && echo "$PWD/clock.so" > ./etc/ld.so.preload && mount --bind ./etc /etc && exec "$@"`;

/** Options for a daemon whose clock `jump` moves. */
export function withClock(options: SandboxOptions = {}): SandboxOptions {
  return {
    ...options,
    launcher: ['unshare', '--mount', 'sh', '-c', mount, 'sh'],
    env: (sandbox) => ({ BOXKEEP_TEST_CLOCK: clockFile(sandbox) }),
    prepare(sandbox) {
      jump(sandbox, 0);
      const library = join(sandbox.directory, 'clock.so');
      const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, fixture('clock.c')]);
      if (status !== 0) throw new Error(`cc could not build test/fixtures/clock.c: ${String(stderr)}`);
      options.prepare?.(sandbox);
    },
  };
}

/** Sets the clock this many seconds ahead of the machine's. */
export function jump(sandbox: Sandbox, seconds: number): void {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds));
  // Written in place, so that processes that have mapped the file see the change at once.
  const file = openSync(clockFile(sandbox), constants.O_RDWR | constants.O_CREAT, 0o644);
  writeSync(file, bytes);
  closeSync(file);
}

/** The file that `BOXKEEP_TEST_CLOCK` names. */
export function clockFile(sandbox: Sandbox): string {
  return join(sandbox.directory, 'clock');
}
