/** The circumstances of a run, without which its figures mean nothing. */
import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { repositoryRoot } from './repository.mjs';

export function circumstances() {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryMib: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
  };
}

function commit() {
  const git = (...args) => spawnSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).stdout?.trim() ?? '';
  const changes = git('status', '--porcelain', '--untracked-files=no', ':/daemon', ':/native');
  return `${git('rev-parse', '--short=12', 'HEAD') || 'unknown'}${changes ? ', changed since' : ''}`;
}
