/**
 * Runs a program of the image for the daemon itself, with limits on time and output. The program runs in `/`, as the
 * default account or another account.
 */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { errnoOf } from '../../kit/errno.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Child, Recovered, KeeperSpawn, SpawnRequest } from '../../platform/process/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';
import { commandEnvironment } from './environment.ts';
import { launch } from './launch.ts';
import { readLog } from './read-log.ts';
import { terminateLater } from './terminate.ts';

export interface ToolRequest {
  /** The program is looked up on PATH, as the account sees it. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Defaults to the default account. */
  readonly account?: Account;
  readonly withinMs: number;
  /** Limit for each output stream. More output is a failure. */
  readonly limitBytes: number;
  /** Ends the tool early, which is then `too_slow`. */
  readonly signal?: AbortSignal;
}

export type ToolOutcome =
  | {
      readonly kind: 'ended';
      readonly exitCode: number | null;
      readonly stdout: Uint8Array;
      readonly stderr: Uint8Array;
    }
  /** The program could not be executed. `errnoName` is the reason, for example `ENOENT` when it does not exist. */
  | { readonly kind: 'failed'; readonly errnoName: string; readonly message: string }
  | { readonly kind: 'too_slow' }
  | { readonly kind: 'too_much' };

export interface ToolsDeps {
  readonly spawn: Pick<KeeperSpawn, 'start'>;
  readonly accounts: Accounts;
  /** The environment of the image, without keys and without variables for the dynamic loader. */
  readonly environment: Readonly<Record<string, string>>;
  /** Reports errors of the cleanup to the daemon's log only. */
  readonly onFault: (error: unknown) => void;
}

/** Maximum number of parallel tools. Tools are short, so more would be a flood. */
const maxRunning = 32;
const graceMs = 1000;
/** Time for the end of a tool to arrive after its time limit. */
const drainMs = 1000;

export class Tools {
  #running = 0;

  constructor(private readonly deps: ToolsDeps) {}

  /** Throws `capacity_reached`, and the errors of resolving the default account. */
  async run(request: ToolRequest): Promise<ToolOutcome> {
    if (this.#running >= maxRunning) {
      throw new CoreError('capacity_reached', `${maxRunning} tools run already`, { hint: 'Try again in a moment.' });
    }
    this.#running += 1;
    try {
      return await this.#run(request);
    } finally {
      this.#running -= 1;
    }
  }

  /** Ends the tools that an earlier daemon left, because no caller waits for them. */
  recover(left: readonly Recovered[]): void {
    for (const { child } of left) terminateLater(child, this.deps.onFault);
  }

  async #run(request: ToolRequest): Promise<ToolOutcome> {
    const child = await this.#start(request, request.account ?? this.deps.accounts.default());
    try {
      return await outcomeOf(child, request);
    } finally {
      terminateLater(child, this.deps.onFault);
    }
  }

  #start({ argv, env, limitBytes, withinMs }: ToolRequest, account: Account): Promise<Child> {
    const { accounts, environment, spawn } = this.deps;
    const request: SpawnRequest = {
      plane: 'tools',
      note: { tool: argv[0] },
      argv,
      env: { ...commandEnvironment(environment, account, []), ...env },
      cwd: '/',
      account: accounts.unlessOwn(account),
      stdin: 'null',
      isAwaited: true,
      capBytes: limitBytes,
      hardTimeoutMs: withinMs,
      graceMs,
    };
    return launch(spawn, request, (error) => toolRefusal(error, argv[0] ?? ''));
  }
}

/** Converts an error from creating the run directory, for example a full disk or no free descriptor. */
function toolRefusal(error: unknown, program: string): unknown {
  const errnoName = errnoOf(error);
  if (errnoName === null) return error;
  const hint = 'Free space in the runtime directory, or wait for commands to end.';
  return new CoreError('unavailable', `${program} could not be started: ${errnoName}`, { hint });
}

async function outcomeOf(child: Child, { withinMs, limitBytes, signal }: ToolRequest): Promise<ToolOutcome> {
  using deadline = new Deadline(withinMs + graceMs + drainMs, ...(signal ? [signal] : []));
  while (!child.end && !child.ownership.isLeft && !deadline.passed) await child.changed(deadline.signal);
  // After a handover, the next daemon ends the tool, so this outcome would be meaningless.
  if (child.ownership.isLeft) throw new HandedOver();
  const { end } = child;
  if (!end || (end.kind === 'exited' && end.cause === 'timeout')) return { kind: 'too_slow' };
  if (end.kind === 'failed') return { kind: 'failed', errnoName: end.errnoName, message: end.message };
  using _open = child.directory.use();
  child.refresh();
  if (child.ends.some((bytes) => bytes > limitBytes)) return { kind: 'too_much' };
  return {
    kind: 'ended',
    exitCode: end.kind === 'exited' ? end.exitCode : null,
    stdout: readLog(child.log('stdout'), 0, child.ends[0]).bytes,
    stderr: readLog(child.log('stderr'), 0, child.ends[1]).bytes,
  };
}
