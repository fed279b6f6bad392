/** Runs a shell whose terminal is held by its own keeper. */
import type { Child, ChildEnd, KeeperSpawn } from '../../../platform/process/spawn.ts';
import { startHolder, type ShellBackend, type ShellLaunch, type ShellProcess } from './shell-process.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';

export class NativeBackend implements ShellBackend {
  readonly name = 'native';

  constructor(private readonly spawn: KeeperSpawn) {}

  async start(launch: ShellLaunch): Promise<ShellProcess> {
    const child = await startHolder(this.spawn, launch, { argv: launch.argv, stdin: launch.size });
    return new NativeProcess(child);
  }

  adopt(child: Child): ShellProcess {
    child.resume(); // The daemon that died may have paused the output for a client that is gone.
    return new NativeProcess(child);
  }
}

class NativeProcess implements ShellProcess {
  readonly backend = 'native';

  constructor(readonly child: Child) {}

  get pid(): number | null {
    return this.child.pid === 0 ? null : this.child.pid;
  }

  get end(): ChildEnd | null {
    return this.child.end;
  }

  get typedBytes(): number {
    return this.child.stdin.accepted;
  }

  async type(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
    const from = this.child.stdin.accepted;
    return (await this.child.writeStdin(from, bytes, signal)) - from;
  }

  resize({ rows, cols }: TerminalSize): void {
    this.child.resize(rows, cols);
  }

  pause(): void {
    this.child.pause();
  }

  resume(): void {
    this.child.resume();
  }

  async startedPids(): Promise<readonly number[]> {
    return (await this.child.tree()).filter((pid) => pid !== this.child.pid);
  }
}
