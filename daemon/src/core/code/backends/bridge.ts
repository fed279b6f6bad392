/** Runs the bridge process of one account, which connects the daemon to kernels, and restarts a process that dies. */
import type { JsonBounds } from '../../../kit/text/json-bounds.ts';
import { nullOn } from '../../../kit/errno.ts';
import { CoreError } from '../../../kit/errors.ts';
import { mintId } from '../../../kit/ids.ts';
import type { Child } from '../../../platform/process/spawn.ts';
import { terminateAndForget } from '../../processes/terminate.ts';
import { Channel } from './channel.ts';
import type { InterpreterEvent } from '../cells/events.ts';
import type { Submission, LogPosition } from './interpreter.ts';

/** A kernel, as seen by its bridge. */
export interface BridgedKernel {
  readonly id: string;
  /** The requests to send to a new process: open the kernel with its running cell, then run the waiting cells. */
  requests(): readonly object[];
  take(event: InterpreterEvent, at: LogPosition): void;
  /** Called when messages of the bridge were lost. The bridge then reports the state of the kernel again. */
  miss(): void;
  /** Called when no bridge can reach the kernel. */
  lose(message: string): void;
}

export interface BridgeDeps {
  /** Throws the errors of starting a process. */
  readonly start: (id: string) => Promise<{ readonly child: Child; readonly program: Uint8Array }>;
  readonly bounds: JsonBounds;
  readonly onFault: (what: string, error: unknown) => void;
}

/** Maximum number of early deaths in a row. Without the limit, the daemon would restart a broken bridge forever. */
const maxDeathsInARow = 3;
const soonMs = 1000;

export class Bridge {
  readonly #kernels = new Map<string, BridgedKernel>();
  #id = '';
  #channel: Channel | null = null;
  /** The process of an earlier daemon until `listen` is called, and the kernels to close then. */
  #recovered: { readonly child: Child; from: number; readonly closed: string[] } | null = null;
  #isSupervised = false;
  #isEnded = false;

  constructor(private readonly deps: BridgeDeps) {}

  get isUnused(): boolean {
    return this.#kernels.size === 0;
  }

  /** True for the process of an earlier daemon, until `listen` is called. */
  get isRecovered(): boolean {
    return this.#recovered !== null;
  }

  /** The position in the log of the current process. The position is empty between two processes. */
  get position(): LogPosition {
    return { log: this.#id, offset: this.#channel?.position ?? this.#recovered?.child.ends[0] ?? 0 };
  }

  /** Connects the bridge to this kernel. */
  add(kernel: BridgedKernel): void {
    this.#kernels.set(kernel.id, kernel);
    for (const request of this.#channel ? kernel.requests() : []) this.#send(request);
    if (!this.#isSupervised && !this.#recovered) void this.#supervise();
  }

  /** Resumes a kernel that the bridge already knows, from a position in its log. */
  resume(kernel: BridgedKernel, from: number): void {
    this.#kernels.set(kernel.id, kernel);
    if (this.#recovered) this.#recovered.from = Math.min(this.#recovered.from, from);
  }

  /** Takes over the process of an earlier daemon. The caller must call `listen` afterwards. */
  recover(id: string, child: Child): void {
    this.#id = id;
    this.#recovered = { child, from: child.ends[0], closed: [] };
  }

  /** Reads the past and future output of the process of an earlier daemon. */
  listen(): void {
    const recovered = this.#recovered;
    if (!recovered) return;
    this.#recovered = null;
    this.#listenTo(recovered.child, recovered.from);
    // The last request of that daemon may be incomplete. The newline ends the broken line, which the bridge then
    // ignores.
    void this.#channel?.send([Buffer.from('\n')]).catch(() => null); // A process that accepts no input has ended.
    for (const kernel of recovered.closed) this.#send({ op: 'close', kernel });
    void this.#supervise();
  }

  /** Resumes when a handover failed: the next daemon had the process and ended before it served. */
  resumeInput(): void {
    this.#channel?.resumeInput();
    if (this.#channel && !this.#isSupervised) void this.#supervise();
  }

  remove(id: string): void {
    this.#kernels.delete(id);
    if (this.#recovered) this.#recovered.closed.push(id);
    else this.#send({ op: 'close', kernel: id });
  }

  /** Prepares a request. If the process ends before it reads the request, the next process gets the request again. */
  submit(line: readonly Uint8Array[]): Submission {
    const send = async () => {
      if (this.#channel) await nullOn(CoreError, this.#channel.send(line));
    };
    return { end: this.#channel?.endOf(line) ?? 0, send };
  }

  /** Whether the process read its input up to `end`. True for a process that has ended: the next one gets it again. */
  hasTaken(end: number): boolean {
    const child = this.#recovered?.child ?? this.#channel?.child;
    return !child || child.end !== null || child.stdin.accepted >= end;
  }

  /** Ends the process. Throws `HandedOver`. */
  async end(): Promise<void> {
    this.#isEnded = true;
    const child = this.#channel?.child;
    if (child) await terminateAndForget(child);
  }

  /** Sends a request. A request that is lost is sent again to the next process, by this daemon or the next one. */
  #send(request: object): void {
    void this.#channel?.send(lineOf(request)).catch(() => null); // `#supervise` handles the end of the process.
  }

  async #supervise(): Promise<void> {
    this.#isSupervised = true;
    try {
      for (let deaths = 0; !this.#isEnded;) {
        const startedMs = performance.now();
        if (this.#channel === null) await this.#start();
        const channel = await this.#untilOver();
        if (!channel || channel.child.ownership.isLeft || this.#isEnded) break;
        deaths = performance.now() - startedMs < soonMs ? deaths + 1 : 0;
        if (deaths === maxDeathsInARow) throw failure(channel);
        channel.child.forget();
        this.#channel = null;
      }
    } catch (error) {
      this.#loseAll(error);
    } finally {
      this.#isSupervised = false;
    }
  }

  async #start(): Promise<void> {
    this.#id = '';
    const id = mintId('bridge');
    const { child, program } = await this.deps.start(id);
    if (this.#isEnded) {
      await terminateAndForget(child);
      return;
    }
    this.#id = id;
    const channel = this.#listenTo(child, 0);
    // A process that accepts no input has ended, which `#supervise` handles.
    void channel.send([program]).catch(() => null);
    const requests = [...this.#kernels.values()].flatMap((kernel) => kernel.requests());
    for (const request of requests) this.#send(request);
  }

  #listenTo(child: Child, from: number): Channel {
    const channel: Channel = new Channel(child, from, this.deps.bounds, (event) => this.#take(event, channel.position));
    this.#channel = channel;
    channel.listen();
    return channel;
  }

  /** Returns the channel after the process has ended and all its output was read. */
  async #untilOver(): Promise<Channel | null> {
    const channel = this.#channel;
    while (channel && !channel.isOver) await channel.changed();
    return channel;
  }

  #take(event: InterpreterEvent, offset: number): void {
    if (event.about === 'log') this.#askForStates();
    else if (event.about !== 'interpreter' && event.kernel !== null)
      this.#kernels.get(event.kernel)?.take(event, { log: this.#id, offset });
  }

  /** After lost messages, asks every kernel for its state, because the affected kernel is unknown. */
  #askForStates(): void {
    for (const kernel of this.#kernels.values()) {
      kernel.miss();
      this.#send({ op: 'again', kernel: kernel.id });
    }
  }

  #loseAll(error: unknown): void {
    this.deps.onFault('the bridge to the kernels failed', error);
    this.#channel?.child.forget();
    this.#channel = null;
    for (const kernel of this.#kernels.values()) kernel.lose(error instanceof Error ? error.message : String(error));
  }
}

export function lineOf(request: object): readonly Uint8Array[] {
  return [Buffer.from(`${JSON.stringify(request)}\n`)];
}

function failure(channel: Channel): CoreError {
  return new CoreError(
    'unavailable',
    `the bridge to the kernels ended at start: ${channel.errors() || 'it printed nothing'}`,
  );
}
