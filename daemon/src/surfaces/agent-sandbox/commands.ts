/** Starts the processes of this surface as commands, ends those whose caller has gone, and reads their output. */
import { confine } from '../../core/files/confine.ts';
import { statFile } from '../../core/files/read/stat.ts';
import type { Command } from '../../core/commands/command.ts';
import { endTree } from '../../core/commands/kill.ts';
import { graceMs, type StdinSource } from '../../core/commands/launcher.ts';
import { readLogs } from '../../core/commands/refusal.ts';
import { readLog } from '../../core/processes/read-log.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { mintId } from '../../kit/ids.ts';
import type { StreamName } from '../../kit/types/stream-name.ts';
import type { AgentSandboxDeps } from './app.ts';
import { processIdWord } from './names.ts';

export interface Wanted {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** An empty one is the root. */
  readonly cwd: string;
  readonly stdin: StdinSource;
  /** After this time the tree is ended; null for no limit. */
  readonly limitMs: number | null;
  /** Whether the caller waits for the end. */
  readonly isAwaited: boolean;
}

/** Throws `bad_argument`, `forbidden` and `file_not_found`. Of a program that cannot be executed, `failure` is set. */
export async function begin(deps: AgentSandboxDeps, wanted: Wanted): Promise<Command> {
  const [program, ...args] = wanted.argv;
  if (!program) throw new CoreError('bad_argument', 'the command is empty');
  if ([...wanted.argv, ...Object.entries(wanted.env).flat()].some((text) => text.includes('\0')))
    throw new CoreError('bad_argument', 'a text has a NUL byte');
  if (Object.keys(wanted.env).some((name) => name === '' || name.includes('=')))
    throw new CoreError('bad_argument', 'the name of a variable is empty or has an =');
  const cwd = await confine(deps.files, deps.root, wanted.cwd);
  const { isDirectory } = await statFile(deps.files, { path: cwd, user: null, followSymlinks: true });
  if (!isDirectory) throw new CoreError('bad_argument', `cwd ${cwd} is not a directory`);
  const { command } = await deps.commands.start({
    id: mintId(processIdWord),
    ...{ fingerprint: null, sessionId: null, user: null, merge: false, limits: {} },
    ...{ command: program, shell: 'none', args, cwd, env: wanted.env, stdin: wanted.stdin },
    hardTimeoutMs: wanted.limitMs === null ? null : Math.max(1, Math.round(wanted.limitMs)),
    isAwaited: wanted.isAwaited,
  });
  return command;
}

/** Ends the tree of a command whose caller has gone, in the background. */
export function abandon(deps: AgentSandboxDeps, command: Command): void {
  if (!command.isRunning) return;
  endTree(command)
    .catch((error: unknown) => {
      if (error instanceof HandedOver) return endGroup(deps, command);
      throw error;
    })
    .catch((error: unknown) => {
      if (!(error instanceof CoreError)) deps.onFault(error); // A keeper that does not answer is not a bug.
    });
}

/** Another daemon has the keeper of the command, and its tree is out of reach; the command leads its group. */
async function endGroup({ jobs }: AgentSandboxDeps, command: Command): Promise<void> {
  if (command.pid === null) return;
  jobs.signal(command.pid, 'SIGTERM');
  using grace = new Deadline(graceMs);
  await command.finished(grace.signal);
  if (command.isRunning) jobs.signal(command.pid, 'SIGKILL');
}

const mebibyte = 1024 * 1024;
/** Longer output is read elsewhere, by the id of the command. */
export const maxOutputBytes = 32 * mebibyte;

/** What a command has written to a stream so far. Throws `capacity_reached`. */
export function outputOf({ id, child }: Command, stream: StreamName): Uint8Array {
  return readLogs(id, () => {
    using _open = child.directory.use();
    child.refresh();
    const end = child.ends[stream === 'stdout' ? 0 : 1];
    if (end > maxOutputBytes)
      throw new CoreError(
        'capacity_reached',
        `the command has written ${end} bytes to ${stream}, and a call answers with at most ${maxOutputBytes}; GET /v2/commands/${id} has all of it`,
      );
    return readLog(child.log(stream), 0, end).bytes;
  });
}

/** The last bytes of a stream so far. */
export function endOfOutput({ id, child }: Command, stream: StreamName, maxBytes: number): Uint8Array {
  return readLogs(id, () => {
    using _open = child.directory.use();
    child.refresh();
    const end = child.ends[stream === 'stdout' ? 0 : 1];
    return readLog(child.log(stream), Math.max(0, end - maxBytes), end).bytes;
  });
}
