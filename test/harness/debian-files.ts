/** Provides static programs and C libraries for test roots from Debian packages, fetched once per clone. */
import { dirname, join } from 'node:path';
import { unpackDebian } from '../../tools/release/debian.mjs';

const repositoryRoot = dirname(dirname(import.meta.dirname));

const architectures: Readonly<Record<string, 'amd64' | 'arm64'>> = { x64: 'amd64', arm64: 'arm64' };

/** A folder with `bin/busybox`, `bin/bash-static`, `bin/dash`, musl and glibc. */
export function debianFiles(): string {
  const architecture = architectures[process.arch];
  if (!architecture) throw new Error(`no root can be made for ${process.arch}`);
  return unpackDebian({
    architecture,
    packages: ['busybox-static', 'bash-static', 'dash', 'musl', 'libc6'],
    folder: join(repositoryRoot, 'dist/.roots/debian'),
  });
}
