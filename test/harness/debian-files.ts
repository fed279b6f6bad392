/** Provides static programs and C libraries for test roots from Debian packages, fetched once per clone. */
import { dirname, join } from 'node:path';
import { unpackDebian } from '../../tools/release/debian.mjs';

const repositoryRoot = dirname(dirname(import.meta.dirname));

/** A folder with `bin/busybox`, `bin/bash-static`, `bin/dash`, musl and glibc, for this machine or for arm64. */
export function debianFiles(architecture?: 'arm64'): string {
  return unpackDebian({
    packages: ['busybox-static', 'bash-static', 'dash', 'musl', 'libc6'],
    folder: join(repositoryRoot, `dist/.roots/debian${architecture ? `-${architecture}` : ''}`),
    ...(architecture && { architecture }),
  });
}
