/** Runs a program of the image for the daemon itself: as the default account or another one, at the root, bounded in time and size. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Child, Spawn } from '../../platform/spawn.ts';
import type { Account, Accounts } from '../identity/accounts.ts';

export interface ToolRequest {
  /** The program is looked up on PATH, as the account sees it. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The default one otherwise. */
  readonly account?: Account;
  readonly withinMs: number;
  /** Of each output stream; more than this is a failure. */
  readonly limitBytes: number;
}

export type ToolOutcome =
  | {
      readonly kind: 'ended';
      readonly exitCode: number | null;
      readonly stdout: Uint8Array;
      readonly stderr: Uint8Array;
    }
  /** It could not be executed; `errnoName` says why: `ENOENT` when it is not there. */
  | { readonly kind: 'failed'; readonly errnoName: string; readonly message: string }
  | { readonly kind: 'too_slow' }
  | { readonly kind: 'too_much' };

export interface ToolsDeps {
  readonly spawn: Spawn;
  readonly accounts: Accounts;
  /** The image's, without keys and without what steers a loader. */
  readonly environment: Readonly<Record<string, string>>;
  /** The daemon's log and nothing else hears of what goes wrong when a tool is put away. */
  readonly onFault: (error: unknown) => void;
}

/** Tools that run at once; they are short, so that more of them is a flood. */
const maxRunning = 32;
const graceMs = 1000;
/** How long the pipes of a tool may stay open after its end, and how long its tree may take to die. */
const drainMs = 1000;

export class Tools {
  #running = 0;

  constructor(private readonly deps: ToolsDeps) {}

  /** Throws `capacity_reached`, and what resolving the default account throws. */
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

  async #run(request: ToolRequest): Promise<ToolOutcome> {
    const child = await this.#start(request, request.account ?? this.deps.accounts.default());
    try {
      return await outcomeOf(child, request);
    } finally {
      void endTool(child).catch(this.deps.onFault);
    }
  }

  #start(request: ToolRequest, account: Account): Promise<Child> {
    const started = this.deps.spawn.start({
      input: null,
      note: JSON.stringify({ tool: request.argv[0] }),
      argv: request.argv,
      env: { ...this.deps.environment, ...accountVariables(account), ...request.env },
      cwd: '/',
      account: this.deps.accounts.isOwn(account) ? null : account,
      stdin: 'null',
      merge: false,
      isAwaited: true,
      capBytes: request.limitBytes,
      hardTimeoutMs: request.withinMs,
      graceMs,
      limits: [],
    });
    return started.catch((error: unknown) => {
      throw startRefusal(error, request.argv[0] ?? '');
    });
  }
}

/** The directory of the run could not be made: a full disk, or no descriptor left. */
function startRefusal(error: unknown, program: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const hint = 'Free space in the runtime directory, or wait for commands to end.';
  return new CoreError('unavailable', `${program} could not be started: ${code}`, { hint });
}

/** Ends what is left of a tool and forgets it; also for one that an earlier daemon left behind. */
export async function endTool(child: Child): Promise<void> {
  if (child.isLetGo) return;
  using deadline = new Deadline(drainMs);
  if (!child.end || child.streamsOpen) child.terminate(0);
  while ((!child.end || child.streamsOpen) && !deadline.passed) await child.changed(deadline.signal);
  child.forget();
}

async function outcomeOf(child: Child, { withinMs, limitBytes }: ToolRequest): Promise<ToolOutcome> {
  using deadline = new Deadline(withinMs + graceMs + drainMs);
  while (!child.end && !child.isLetGo && !deadline.passed) await child.changed(deadline.signal);
  // The next daemon ends what it finds of tools, so that the outcome would be its doing.
  if (child.isLetGo) throw new HandedOver();
  const { end } = child;
  if (!end || (end.kind === 'exited' && end.cause === 'timeout')) return { kind: 'too_slow' };
  if (end.kind === 'failed') return { kind: 'failed', errnoName: end.errnoName, message: end.message };
  child.refresh();
  if (child.ends.some((bytes) => bytes > limitBytes)) return { kind: 'too_much' };
  return {
    kind: 'ended',
    exitCode: end.kind === 'exited' ? end.exitCode : null,
    stdout: readAll(child, 'stdout', child.ends[0]),
    stderr: readAll(child, 'stderr', child.ends[1]),
  };
}

function readAll(child: Child, stream: 'stdout' | 'stderr', end: number): Uint8Array {
  using _open = child.directory.use();
  const parts: Uint8Array[] = [];
  for (let at = 0; at < end;) {
    const piece = child.log(stream).read(at, end - at);
    if (!piece) break;
    if (piece.kind === 'bytes') parts.push(piece.bytes);
    at = piece.kind === 'bytes' ? at + piece.bytes.length : piece.to;
  }
  return Buffer.concat(parts);
}

function accountVariables({ home, name, shell }: Account): Record<string, string> {
  return { HOME: home, USER: name, LOGNAME: name, SHELL: shell };
}
