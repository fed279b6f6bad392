/** Runs a shell whose terminal is held by its own tmux server, inside a keeper. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import type { Child, KeeperSpawn } from '../../../platform/process/spawn.ts';
import { terminateAndForget } from '../../processes/terminate.ts';
import { graceOf, startHolder, type ShellBackend, type ShellLaunch, type ShellProcess } from './shell-process.ts';
import { TmuxProcess, type TmuxProcessDeps } from './tmux-process.ts';
import { tmuxScript } from './tmux-script.ts';

export interface TmuxBackendDeps extends TmuxProcessDeps {
  readonly spawn: KeeperSpawn;
  /** Looks up a program in the image's PATH now; null if it is not there. */
  readonly find: (program: string) => string | null;
  /** PATH of the image. */
  readonly path: string;
}

const startWithinMs = 10_000;
/** Directory names stay short, because they are part of a socket path. */
const nameLength = 40;
/** Variables that tmux or the shell of the script changes before the session's shell starts. */
const changedOnTheWay = [
  ...['PATH', 'SHELL', 'TERM', 'TERM_PROGRAM', 'TERM_PROGRAM_VERSION', 'TMUX', 'TMUX_PANE'],
  ...['PWD', 'OLDPWD', 'SHLVL', '_', 'PS1', 'PS2', 'IFS', 'OPTIND'],
];

export class TmuxBackend implements ShellBackend {
  readonly name = 'tmux';

  constructor(private readonly deps: TmuxBackendDeps) {}

  /** Throws `unavailable` if tmux cannot be started or is too old. */
  async start(launch: ShellLaunch): Promise<ShellProcess> {
    const child = await startHolder(this.deps.spawn, launch, { argv: this.#script(launch), stdin: 'pipe' });
    const process = new TmuxProcess(child, this.deps);
    if (child.end?.kind !== 'failed') await this.#started(process);
    return process;
  }

  adopt(child: Child): ShellProcess {
    const process = new TmuxProcess(child, this.deps);
    process.resume(); // The daemon that died may have paused the output for a client that is gone.
    return process;
  }

  #script({ name, argv, env, size }: ShellLaunch): string[] {
    const { find, path } = this.deps;
    const given = [name.slice(0, nameLength), `${size.cols}`, `${size.rows}`, path];
    const unset = changedOnTheWay.filter((variable) => env[variable] === undefined);
    const set = changedOnTheWay.filter((variable) => env[variable] !== undefined);
    const pane = [
      find('env') ?? 'env',
      ...unset.flatMap((variable) => ['-u', variable]),
      ...set.map((variable) => `${variable}=${env[variable]}`),
      ...argv,
    ].map(escapeSeparator);
    return [this.#shell() ?? 'sh', '-c', tmuxScript, 'boxkeep-tmux', find('tmux') ?? 'tmux', ...given, ...pane];
  }

  /** Prefers bash to sh, because dash drops variables whose names it cannot use itself. */
  #shell(): string | null {
    return this.deps.find('bash') ?? this.deps.find('sh');
  }

  async #started(process: TmuxProcess): Promise<void> {
    using deadline = new Deadline(startWithinMs);
    if (await process.hasStarted(deadline.signal)) return;
    const reason = process.errors() || 'it did not answer';
    await terminateAndForget(process.child, graceOf(this.name, 0));
    throw new CoreError('unavailable', `tmux could not be started: ${reason}`, {
      hint: 'Install tmux 3.2 or newer, or set SVC_SHELL_BACKEND=native.',
    });
  }
}

/** tmux treats a word that ends in `;` as the last word of a command. */
function escapeSeparator(word: string): string {
  return word.replace(/;$/, '\\;');
}
