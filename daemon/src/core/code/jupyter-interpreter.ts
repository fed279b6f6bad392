/** One kernel of a Jupyter server as the interpreter of a session. */
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { Notifier } from '../../kit/notifier.ts';
import type { JupyterServer, KernelSocket } from '../../platform/jupyter-server.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import type { CellRecord } from './cell.ts';
import type { CellEvent } from './events.ts';
import type { CellOnItsWay, Elsewhere, Interpreter } from './interpreter.ts';
import {
  cellEvent,
  endEvents,
  executeRequest,
  readMessage,
  refusalEvents,
  Requests,
  tellsOfDeath,
  unheardEnd,
  type KernelMessage,
} from './jupyter-messages.ts';
import { arrangement, whyNotArranged } from './python-preparation.ts';

export interface JupyterInterpreterDeps {
  readonly server: JupyterServer;
  /** Of the kernel. */
  readonly language: string;
  readonly now: () => number;
}

type Reply = Readonly<Record<string, unknown>>;

const openWithinMs = 20_000;
const connectAgainMs = 200;
const endWithinMs = 5000;
/** How the ids of requests begin: one that is a cell, one that is none, and one that tells whether a cell is over. */
const [cells, unseen, probe] = ['cell:', 'unseen:', 'probe:'];
/** Between the id of a kernel and the number of the connection to it. */
const separator = '~';

export class JupyterInterpreter implements Interpreter {
  readonly backend = 'jupyter';
  /** IPython takes its time to show where the code was. */
  readonly interruptAgainMs = 1200;
  readonly version = '';
  readonly pid = null;
  readonly position = { log: '', offset: 0 };
  end: ChildEnd | null = null;
  isLeaving = false;
  isLetGo = false;
  readonly elsewhere: Elsewhere = { letGo: () => this.#letGo(), takeBack: () => (this.isLetGo = false) };
  readonly #kernel: string;
  /** The server keeps what a kernel says for whoever connects with the same one again. */
  readonly #session: string;
  #socket: KernelSocket | null = null;
  /** The cell that was sent and is not over. */
  #running: string | null = null;
  #hasError = false;
  /** The connection was lost in this cell. */
  #isPartial = false;
  #asked = 0;
  readonly #requests = new Requests();
  readonly #replies = new Map<string, Reply>();
  readonly #changes = new Notifier();
  /** Heard before anybody listens. */
  #early: [string, CellEvent][] = [];
  #onCell: ((cell: string, event: CellEvent) => void) | null = null;

  /** `running` is the cell that an earlier daemon has sent. */
  constructor(
    readonly id: string,
    private readonly deps: JupyterInterpreterDeps,
    running: CellRecord | null = null,
  ) {
    this.#kernel = kernelOf(id);
    this.#session = `sandboxd-${id}`;
    if (running) this.#resume(running.id);
    void this.#keepConnected();
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen === true && !this.end;
  }

  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  listen(onCell: (cell: string, event: CellEvent) => void): void {
    this.#onCell = onCell;
    for (const [cell, event] of this.#early.splice(0)) onCell(cell, event);
  }

  /** Resolves when it is open or has ended, or when the signal aborts. */
  async opened(signal?: AbortSignal): Promise<void> {
    while (!this.isOpen && !this.end && signal?.aborted !== true) await this.changed(signal);
  }

  handOver(cell: CellRecord): CellOnItsWay {
    return { end: 0, send: () => this.#run(cell) };
  }

  /** The server has what was sent; what it has not is found out when it is connected to again. */
  hasTaken(): boolean {
    return true;
  }

  /** Runs code that is no cell; null when it cannot any more. */
  async ask(code: string, signal?: AbortSignal): Promise<Reply | null> {
    await this.opened(signal);
    if (!this.isOpen) return null;
    const id = `${unseen}${this.#asked++}`;
    this.#send(id, code);
    while (!this.#replies.has(id) && !this.end && signal?.aborted !== true) await this.changed(signal);
    const reply = this.#replies.get(id) ?? null;
    this.#replies.delete(id);
    return reply;
  }

  async interrupt(): Promise<void> {
    // A server that is away cannot; what becomes of the cell is seen by its connection, or by its time.
    await this.deps.server.interrupt(this.#kernel).catch(() => null);
  }

  async close(): Promise<void> {
    if (this.isLetGo) throw new HandedOver();
    this.#end();
    // A server that is away has taken its kernels with it.
    await this.deps.server.end(this.#kernel, endWithinMs).catch(() => null);
  }

  async #run(cell: CellRecord): Promise<void> {
    this.#running = cell.id;
    this.#hasError = this.#isPartial = false;
    const refusal = await this.#arrange(cell);
    if (this.#running !== cell.id) return; // It was ended meanwhile.
    if (refusal) this.#finish(cell.id, refusalEvents(refusal));
    else this.#send(`${cells}${cell.id}`, cell.code);
  }

  /** Where the cell is to run, and with which variables; answers why it cannot. */
  async #arrange({ cwd, env }: CellRecord): Promise<{ ename: string; evalue: string } | null> {
    await this.opened();
    if (cwd === null && Object.keys(env).length === 0) return null;
    const { language } = this.deps;
    if (language !== 'python') {
      const evalue = `cwd and env can change in kernels of Python only, and not in one of ${language}`;
      return { ename: 'Unsupported', evalue };
    }
    const reply = await this.ask(arrangement({ cwd, env }));
    if (reply === null || reply['status'] === 'ok') return null;
    return whyNotArranged(cwd, { ename: String(reply['ename']), evalue: String(reply['evalue']) });
  }

  #send(id: string, code: string): void {
    this.#requests.begin(id);
    this.#socket?.send(executeRequest(id, this.#session, code, !id.startsWith(cells)));
  }

  #resume(cell: string): void {
    this.#running = cell;
    this.#requests.begin(`${cells}${cell}`);
    this.#tell(cell, { kind: 'begin' });
    this.#isPartial = true;
  }

  /** A connection may be lost where the kernel is not. */
  async #keepConnected(): Promise<void> {
    const { server } = this.deps;
    for (;;) {
      const socket = server.connect(this.#kernel, this.#session, (line) => this.#hear(line));
      this.#socket = socket;
      using patience = new Deadline(openWithinMs);
      while (!socket.isOpen && !socket.isClosed && !this.end && !patience.passed) await this.#wait(socket, patience);
      if (!socket.isOpen) break;
      this.#probe();
      while (!socket.isClosed && !this.end) await this.#wait(socket);
      if (this.end || !(await server.has(this.#kernel))) break;
      this.#isPartial = true;
      await new Promise((resolve) => setTimeout(resolve, connectAgainMs).unref());
    }
    this.#end();
  }

  async #wait(socket: KernelSocket, patience: Deadline | null = null): Promise<void> {
    await socket.changed(patience?.signal);
    this.#changes.notify();
  }

  /** The end of the cell that runs may have come while nobody was connected: what is asked behind it tells. */
  #probe(): void {
    if (this.#running !== null && this.#isPartial) this.#send(`${probe}${this.#running}`, '');
  }

  #hear(line: string): void {
    const message = readMessage(line);
    if (!message) return;
    if (tellsOfDeath(message)) this.#end();
    const { parent } = message;
    if (parent.startsWith(cells)) this.#hearOfCell(parent.slice(cells.length), message);
    const reply = this.#requests.take(message);
    if (reply) this.#complete(parent, reply);
    this.#changes.notify();
  }

  #hearOfCell(cell: string, message: KernelMessage): void {
    const event = cellEvent(message);
    if (!event) return;
    if (cell === this.#running) this.#hasError ||= event.kind === 'output' && event.output.output_type === 'error';
    this.#tell(cell, event);
  }

  #complete(id: string, reply: Reply): void {
    if (id.startsWith(unseen)) this.#replies.set(id, reply);
    else if (id.startsWith(probe)) this.#settle(id.slice(probe.length));
    else this.#finish(id.slice(cells.length), endEvents(reply, this.#hasError, this.#isPartial));
  }

  /** What was sent behind this cell has run. */
  #settle(cell: string): void {
    if (cell !== this.#running) return;
    const { reply, isIdle } = this.#requests.drop(`${cells}${cell}`);
    const heard = reply ?? (isIdle ? { status: this.#hasError ? 'error' : 'ok' } : null);
    this.#finish(cell, heard ? endEvents(heard, this.#hasError, true) : unheardEnd());
  }

  #finish(cell: string, events: readonly CellEvent[]): void {
    if (cell !== this.#running) return;
    this.#running = null;
    for (const event of events) {
      this.isLeaving ||= event.kind === 'end' && event.isExiting;
      this.#tell(cell, event);
    }
  }

  #tell(cell: string, event: CellEvent): void {
    if (this.#onCell) this.#onCell(cell, event);
    else this.#early.push([cell, event]);
  }

  /** The next daemon has a connection of its own, so that this one hears the rest of what was asked here. */
  #letGo(): string {
    this.isLetGo = true;
    return `${this.#kernel}${separator}${connectionOf(this.id) + 1}`;
  }

  #end(): void {
    this.end ??= { kind: 'lost', atMs: this.deps.now() };
    this.#running = null;
    this.#socket?.close();
    this.#changes.notify();
  }
}

function kernelOf(id: string): string {
  return id.split(separator)[0] ?? '';
}

function connectionOf(id: string): number {
  return Number(id.split(separator)[1] ?? 0);
}
