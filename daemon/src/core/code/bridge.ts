/** The bridge of one account: speaks with its kernels, is started with the first one, and anew when it dies. */
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import type { Child } from '../../platform/spawn.ts';
import { Channel } from './channel.ts';
import { endChild } from './child-interpreter.ts';
import type { InterpreterEvent } from './events.ts';
import type { CellOnItsWay, LogPosition } from './interpreter.ts';

/** A kernel, as its bridge knows it. */
export interface BridgedKernel {
  readonly id: string;
  /** What a new bridge is asked: to open it, with what runs in it, and the cells that have not begun. */
  requests(): readonly object[];
  take(event: InterpreterEvent, at: LogPosition): void;
  /** Something that its bridge has said is lost; how it stands is told again. */
  miss(): void;
  /** Nothing speaks with it any more. */
  lose(message: string): void;
}

export interface BridgeDeps {
  /** Throws what starting a process does. */
  readonly start: (id: string) => Promise<{ readonly child: Child; readonly program: Uint8Array }>;
  readonly onFault: (what: string, error: unknown) => void;
}

/** One that dies again and again, each time before it could do anything, would be started for ever. */
const mostDeathsInARow = 3;
const soonMs = 1000;

export class Bridge {
  readonly #kernels = new Map<string, BridgedKernel>();
  #id = '';
  #channel: Channel | null = null;
  /** Of an earlier daemon, until it is listened to; with the kernels that are to be forgotten. */
  #recovered: { readonly child: Child; from: number; readonly closed: string[] } | null = null;
  #isSupervised = false;
  #isEnded = false;

  constructor(private readonly deps: BridgeDeps) {}

  get isUnused(): boolean {
    return this.#kernels.size === 0;
  }

  /** It is of an earlier daemon, and not listened to yet. */
  get isRecovered(): boolean {
    return this.#recovered !== null;
  }

  /** Where it is in its log; nowhere between two processes. */
  get position(): LogPosition {
    return { log: this.#id, offset: this.#channel?.position ?? this.#recovered?.child.ends[0] ?? 0 };
  }

  /** Speaks with this kernel from now on. */
  add(kernel: BridgedKernel): void {
    this.#kernels.set(kernel.id, kernel);
    for (const request of this.#channel ? kernel.requests() : []) this.#tell(request);
    if (!this.#isSupervised && !this.#recovered) void this.#supervise();
  }

  /** Goes on with a kernel that the bridge knows already, from a place in its log on. */
  resume(kernel: BridgedKernel, from: number): void {
    this.#kernels.set(kernel.id, kernel);
    if (this.#recovered) this.#recovered.from = Math.min(this.#recovered.from, from);
  }

  /** Takes over the process of an earlier daemon; `listen` has to follow. */
  recover(id: string, child: Child): void {
    this.#id = id;
    this.#recovered = { child, from: child.ends[0], closed: [] };
  }

  /** Hears what the process of an earlier daemon says and has said. */
  listen(): void {
    const recovered = this.#recovered;
    if (!recovered) return;
    this.#recovered = null;
    this.#listenTo(recovered.child, recovered.from);
    // What that daemon has sent last may have been cut off in the middle: the rest of that line is none.
    void this.#channel?.send(Buffer.from('\n')).catch(() => null); // One that takes nothing more has ended.
    for (const kernel of recovered.closed) this.#tell({ op: 'close', kernel });
    void this.#supervise();
  }

  /** Forgets a kernel. */
  remove(id: string): void {
    this.#kernels.delete(id);
    if (this.#recovered) this.#recovered.closed.push(id);
    else this.#tell({ op: 'close', kernel: id });
  }

  /** For a request that is about to be sent. What a process that ends does not take, the next one is asked anew. */
  handOver(request: object): CellOnItsWay {
    const line = lineOf(request);
    const send = async () => {
      await this.#channel?.send(line).catch((error: unknown) => {
        if (!(error instanceof CoreError)) throw error;
      });
    };
    return { end: this.#channel?.endOf(line) ?? 0, send };
  }

  /** Whether the process of an earlier daemon has all of its input up to there; one that has ended is asked again. */
  hasTaken(end: number): boolean {
    const child = this.#recovered?.child ?? this.#channel?.child;
    return !child || child.end !== null || child.stdin.accepted >= end;
  }

  /** Ends its process. Throws `HandedOver`. */
  async end(): Promise<void> {
    this.#isEnded = true;
    const child = this.#channel?.child;
    if (child) await endChild(child);
  }

  /** What does not arrive is asked of the next process, by this daemon or by another one. */
  #tell(request: object): void {
    void this.#channel?.send(lineOf(request)).catch(() => null); // Its end is looked at elsewhere.
  }

  async #supervise(): Promise<void> {
    this.#isSupervised = true;
    try {
      for (let deaths = 0; !this.#isEnded;) {
        const startedMs = performance.now();
        if (this.#channel === null) await this.#start();
        const channel = await this.#over();
        if (!channel || channel.child.isLetGo || this.#isEnded) break;
        deaths = performance.now() - startedMs < soonMs ? deaths + 1 : 0;
        if (deaths === mostDeathsInARow) throw failure(channel);
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
      await endChild(child);
      return;
    }
    this.#id = id;
    const channel = this.#listenTo(child, 0);
    void channel.send(program).catch(() => null); // One that takes nothing has ended, which is looked at.
    const requests = [...this.#kernels.values()].flatMap((kernel) => kernel.requests());
    for (const request of requests) this.#tell(request);
  }

  #listenTo(child: Child, from: number): Channel {
    const channel: Channel = new Channel(child, from, (event) => this.#take(event, channel.position));
    this.#channel = channel;
    channel.listen();
    return channel;
  }

  /** The channel, once all that the process has said was heard. */
  async #over(): Promise<Channel | null> {
    const channel = this.#channel;
    while (channel && !channel.isOver) await channel.changed();
    return channel;
  }

  #take(event: InterpreterEvent, offset: number): void {
    if (event.about === 'log') this.#ask();
    else if (event.about !== 'interpreter' && event.kernel !== null)
      this.#kernels.get(event.kernel)?.take(event, { log: this.#id, offset });
  }

  /** Whose words are lost nobody knows. */
  #ask(): void {
    for (const kernel of this.#kernels.values()) {
      kernel.miss();
      this.#tell({ op: 'again', kernel: kernel.id });
    }
  }

  #loseAll(error: unknown): void {
    this.deps.onFault('the bridge to the kernels could not be kept', error);
    this.#channel?.child.forget();
    this.#channel = null;
    for (const kernel of this.#kernels.values()) kernel.lose(error instanceof Error ? error.message : String(error));
  }
}

function lineOf(request: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(request)}\n`);
}

function failure(channel: Channel): CoreError {
  return new CoreError(
    'unavailable',
    `the bridge to the kernels does not stay: ${channel.errors() || 'it said nothing'}`,
  );
}
