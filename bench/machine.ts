/** Records the circumstances of a run, without which its figures mean nothing. */
import { cpus, release, totalmem } from 'node:os';

export interface Circumstances {
  readonly date: string;
  readonly commit: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memoryMib: number;
  readonly kernel: string;
  readonly runtime: string;
  /** The limit of each server. */
  readonly limit: string;
}

export function circumstances(isLimited: boolean): Circumstances {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryMib: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    runtime: `Bun ${Bun.version}`,
    limit: isLimited ? 'half a core, 512 MiB' : 'none',
  };
}

function commit(): string {
  const git = (...args: string[]): string =>
    Bun.spawnSync(['git', ...args], { cwd: import.meta.dirname, stderr: 'ignore' })
      .stdout.toString()
      .trim();
  const changes = git('status', '--porcelain', '--untracked-files=no', ':/daemon', ':/native');
  return `${git('rev-parse', '--short=12', 'HEAD') || 'unknown'}${changes ? ', changed since' : ''}`;
}
