/**
 * A wall clock that can jump, for one daemon and what it runs. The time of the machine is everybody's, a time namespace
 * leaves the wall clock alone, and init takes LD_PRELOAD away: so a file in a mount namespace of its own names what the
 * loader puts in front. Only programs with a loader follow it: keepers tell the time of the machine.
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
    env: (sandbox) => ({ SANDBOXD_TEST_CLOCK: clockFile(sandbox) }),
    prepare(sandbox) {
      jump(sandbox, 0);
      const library = join(sandbox.directory, 'clock.so');
      const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, fixture('clock.c')]);
      if (status !== 0) throw new Error(`cc could not build test/fixtures/clock.c: ${String(stderr)}`);
      options.prepare?.(sandbox);
    },
  };
}

/** From now on the clock says so many seconds more than the machine's. */
export function jump(sandbox: Sandbox, seconds: number): void {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds));
  // In place: whoever has mapped the file sees it at once.
  const file = openSync(clockFile(sandbox), constants.O_RDWR | constants.O_CREAT, 0o644);
  writeSync(file, bytes);
  closeSync(file);
}

function clockFile(sandbox: Sandbox): string {
  return join(sandbox.directory, 'clock');
}
