/** `install.sh` chooses and installs the file for arm64 in roots of that machine, under emulation. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'bun:test';
import { expect, repositoryRoot } from '../harness/sandbox.ts';
import { Root } from '../release/root.ts';

const file = 'boxkeep-1.0.0-linux-arm64';
const options = { architecture: 'arm64' } as const;

// The emulator does not pass on the name under which a shell of busybox runs itself as another program.
const roots: Readonly<Record<string, () => Root>> = {
  'glibc and busybox': () =>
    new Root(options)
      .addBusybox()
      .addShell()
      .copy('lib/aarch64-linux-gnu/libc.so.6')
      .copy('lib/aarch64-linux-gnu/ld-linux-aarch64.so.1', 'lib/ld-linux-aarch64.so.1'),
  'musl and busybox': () => new Root(options).addBusybox().addShell().copy('lib/ld-musl-aarch64.so.1'),
  'busybox alone': () => new Root(options).addBusybox().addShell(),
};

for (const [name, make] of Object.entries(roots))
  test(`RELEASE installs the file for arm64 into a root with ${name}, where both files are`, async () => {
    using root = make().add('release');
    const release = join(root.directory, 'release');
    copyFileSync(join(repositoryRoot, 'dist/boxkeep-arm64'), join(release, file));
    copyFileSync(join(repositoryRoot, 'tools/release/install.sh'), join(release, 'install.sh'));
    writeFileSync(join(release, 'boxkeep-1.0.0-linux-x64'), 'the file of another machine');
    const { stdout: sums } = Bun.spawnSync(['sha256sum', file], { cwd: release });
    writeFileSync(join(release, 'SHA256SUMS'), sums);

    expect((await root.run('/bin/uname', '-m')).stdout).toBe('aarch64\n');
    const installed = await root.run('/bin/sh', '/release/install.sh');
    expect(installed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+.*contents/) });
    expect(await root.run('/usr/local/bin/boxkeep', 'version')).toMatchObject({ code: 0, stdout: installed.stdout });
  }, 600_000);
