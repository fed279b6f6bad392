/** A shell whose terminal is held by a tmux server of its own, in a keeper. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import type { Child, Spawn } from '../../platform/spawn.ts';
import { spawnRequest, type ShellBackend, type ShellLaunch, type ShellProcess } from './shell-process.ts';
import { TmuxProcess, type TmuxProcessDeps } from './tmux-process.ts';
import { tmuxScript } from './tmux-script.ts';

export interface TmuxBackendDeps extends TmuxProcessDeps {
  readonly spawn: Spawn;
  /** Looks a program up in the PATH of the image, now; null when it is not there. */
  readonly find: (program: string) => string | null;
  /** PATH of the image. */
  readonly path: string;
}

const startWithinMs = 10_000;
/** Names of directories stay short: a socket lies in it. */
const nameLength = 40;
/** What tmux, or the shell of the script, changes on the way to the shell of the session. */
const changedOnTheWay = [
  ...['PATH', 'SHELL', 'TERM', 'TERM_PROGRAM', 'TERM_PROGRAM_VERSION', 'TMUX', 'TMUX_PANE'],
  ...['PWD', 'OLDPWD', 'SHLVL', '_', 'PS1', 'PS2', 'IFS', 'OPTIND'],
];

export class TmuxBackend implements ShellBackend {
  readonly name = 'tmux';

  constructor(private readonly deps: TmuxBackendDeps) {}

  /** Throws `unavailable` where tmux cannot be started, or is too old. */
  async start(launch: ShellLaunch): Promise<ShellProcess> {
    const request = spawnRequest(launch, { argv: this.#script(launch), stdin: 'pipe' });
    const child = await this.deps.spawn.start(request);
    const process = new TmuxProcess(child, this.deps);
    if (child.end?.kind !== 'failed') await this.#started(process);
    return process;
  }

  adopt(child: Child): ShellProcess {
    const process = new TmuxProcess(child, this.deps);
    process.resume(); // The daemon that died may have held its output up for a reader that is gone.
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
    return [this.#shell() ?? 'sh', '-c', tmuxScript, 'sandboxd-tmux', find('tmux') ?? 'tmux', ...given, ...pane];
  }

  /** bash before sh: dash keeps variables from the shell whose names it could not use itself. */
  #shell(): string | null {
    return this.deps.find('bash') ?? this.deps.find('sh');
  }

  async #started(process: TmuxProcess): Promise<void> {
    using deadline = new Deadline(startWithinMs);
    if (await process.hasStarted(deadline.signal)) return;
    const reason = process.errors() || 'it did not answer';
    process.child.terminate(0);
    process.child.forget();
    throw new CoreError('unavailable', `tmux could not be started: ${reason}`, {
      hint: 'tmux has to be 3.2 or newer. SVC_SHELL_BACKEND=native does without it.',
    });
  }
}

/** tmux takes a word that ends in ; for the last one of a command. */
function escapeSeparator(word: string): string {
  return word.replace(/;$/, '\\;');
}
