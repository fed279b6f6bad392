/** Uses one kernel of a Jupyter server as the interpreter of a session. */
import { type JsonBounds, outOfBounds } from '../../../kit/text/json-bounds.ts';
import { Deadline } from '../../../kit/deadline.ts';
import type { Fields } from '../../../kit/types/fields.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import { Notifier } from '../../../kit/events/notifier.ts';
import type { Ownership } from '../../../kit/ownership.ts';
import type { JupyterServer, KernelSocket } from '../../../platform/clients/jupyter-server.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import type { CellRecord } from '../cells/cell.ts';
import type { CellEvent } from '../cells/events.ts';
import type { Elsewhere, Interpreter, Submission } from './interpreter.ts';
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
import { arrangement, installation, whyNotArranged, type CellRefusal } from '../cells/python-preparation.ts';

export interface JupyterInterpreterDeps {
  /** Of one message of the server. */
  readonly bounds: JsonBounds;
  /** Defines `lend` in a kernel, for the variables of one cell. */
  readonly lendProgram: string;
  readonly server: JupyterServer;
  /** The language of the kernel. */
  readonly language: string;
  readonly ownership: Ownership;
  readonly now: () => number;
}

const openWithinMs = 20_000;
const connectAgainMs = 200;
const endWithinMs = 5000;
/** Prefixes of request ids: a cell, code that is not a cell, and a probe that detects whether a cell is over. */
const [cells, unseen, probe] = ['cell:', 'unseen:', 'probe:'];
/** Separates the id of a kernel from the connection number. */
const separator = '~';

export class JupyterInterpreter implements Interpreter {
  readonly backend = 'jupyter';
  /** IPython needs this time to print the traceback of an interrupt. */
  readonly interruptAgainMs = 1200;
  readonly version = '';
  readonly pid = null;
  readonly position = { log: '', offset: 0 };
  end: ChildEnd | null = null;
  isLeaving = false;
  readonly elsewhere: Elsewhere;
  readonly #kernel: string;
  /** The server keeps messages of a kernel for a client that reconnects with the same session id. */
  readonly #session: string;
  #socket: KernelSocket | null = null;
  #leaving: Promise<void> | null = null;
  /** The cell that was sent and has not ended. */
  #running: string | null = null;
  #isProgram = false;
  #hasError = false;
  /** True when the connection was lost during this cell. */
  #isPartial = false;
  #asked = 0;
  readonly #requests = new Requests();
  readonly #replies = new Map<string, Fields>();
  readonly #changes = new Notifier();
  /** Events that arrived before `listen` was called. */
  #early: [string, CellEvent][] = [];
  #onCell: ((cell: string, event: CellEvent) => void) | null = null;

  /** `running` is the cell that an earlier daemon has sent. */
  constructor(
    readonly id: string,
    private readonly deps: JupyterInterpreterDeps,
    running: CellRecord | null = null,
  ) {
    this.#kernel = kernelOf(id);
    this.#session = `boxkeep-${id}`;
    // The next daemon uses its own connection, so this connection still receives the results of its own requests.
    this.elsewhere = { nextId: `${this.#kernel}${separator}${connectionOf(id) + 1}` };
    if (running) this.#resume(running);
    void this.#keepConnected();
  }

  get ownership(): Ownership {
    return this.deps.ownership;
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

  /** Resolves when the connection is open, when the interpreter has ended, or when the signal aborts. */
  async opened(signal?: AbortSignal): Promise<void> {
    while (!this.isOpen && !this.end && signal?.aborted !== true) await this.changed(signal);
  }

  submit(cell: CellRecord): Submission {
    return { end: 0, send: () => this.#run(cell) };
  }

  /** Sent cells count as taken by the server. A lost cell is detected at the next connection. */
  hasTaken(): boolean {
    return true;
  }

  /** Runs code that is not a cell. Returns null when the code cannot run any more. */
  async ask(code: string, signal?: AbortSignal): Promise<Fields | null> {
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
    // An unreachable server cannot interrupt. The connection or the timeout then decides the outcome of the cell.
    await this.deps.server.interrupt(this.#kernel).catch(() => null);
  }

  /** The server asks the kernel to end, and kills it later. Until then the kernel may print. */
  async leave(): Promise<void> {
    if (this.ownership.isLeft) throw new HandedOver();
    // If the server is gone, its kernels are gone too.
    this.#leaving ??= this.deps.server.end(this.#kernel, endWithinMs).catch(() => undefined);
    await this.#leaving;
    this.#end();
  }

  async close(): Promise<void> {
    await this.leave();
  }

  async #run(cell: CellRecord): Promise<void> {
    this.#running = cell.id;
    this.#isProgram = cell.isProgram === true;
    this.#hasError = this.#isPartial = false;
    const refusal = await this.#arrange(cell);
    if (this.#running !== cell.id) return; // The cell was ended meanwhile.
    if (refusal) this.#finish(cell.id, refusalEvents(refusal));
    else this.#send(`${cells}${cell.id}`, cell.code);
  }

  /** Sets the directory and the variables for the cell. Returns the reason if this fails. */
  async #arrange({ cwd, env, cellEnv = {}, formats }: CellRecord): Promise<CellRefusal | null> {
    await this.opened();
    if (formats !== undefined && this.deps.language === 'python') await this.ask(installation(formats));
    if (cwd === null && Object.keys({ ...env, ...cellEnv }).length === 0) return null;
    const { language, lendProgram } = this.deps;
    if (language !== 'python') {
      const evalue = `cwd and env can change in kernels of Python only, and not in one of ${language}`;
      return { ename: 'Unsupported', evalue };
    }
    const reply = await this.ask(arrangement({ cwd, env, cellEnv }, lendProgram));
    if (reply === null || reply['status'] === 'ok') return null;
    return whyNotArranged(cwd, { ename: String(reply['ename']), evalue: String(reply['evalue']) });
  }

  #send(id: string, code: string): void {
    this.#requests.begin(id);
    this.#socket?.send(executeRequest(id, this.#session, code, !id.startsWith(cells)));
  }

  #resume({ id: cell, isProgram = false }: CellRecord): void {
    this.#running = cell;
    this.#isProgram = isProgram;
    this.#requests.begin(`${cells}${cell}`);
    this.#pass(cell, { kind: 'begin' });
    this.#isPartial = true;
  }

  /** Reconnects, because a connection may be lost while the kernel still runs. */
  async #keepConnected(): Promise<void> {
    const { server } = this.deps;
    for (;;) {
      const socket = server.connect(this.#kernel, this.#session, (line) => this.#hear(line));
      this.#socket = socket;
      using deadline = new Deadline(openWithinMs);
      while (!socket.isOpen && !socket.isClosed && !this.end && !deadline.passed) await this.#wait(socket, deadline);
      if (!socket.isOpen) break;
      this.#probe();
      while (!socket.isClosed && !this.end) await this.#wait(socket);
      if (this.end || !(await server.has(this.#kernel))) break;
      this.#isPartial = true;
      await new Promise((resolve) => setTimeout(resolve, connectAgainMs).unref());
    }
    this.#end();
  }

  async #wait(socket: KernelSocket, deadline: Deadline | null = null): Promise<void> {
    await socket.changed(deadline?.signal);
    this.#changes.notify();
  }

  /** The running cell may have ended while the daemon was disconnected. A request sent after the cell reveals this. */
  #probe(): void {
    if (this.#running !== null && this.#isPartial) this.#send(`${probe}${this.#running}`, '');
  }

  #hear(line: string): void {
    if (outOfBounds(line, this.deps.bounds) !== null) {
      if (this.#running !== null) this.#pass(this.#running, { kind: 'gap' });
      return;
    }
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
    this.#pass(cell, event);
  }

  #complete(id: string, reply: Fields): void {
    if (id.startsWith(unseen)) this.#replies.set(id, reply);
    else if (id.startsWith(probe)) this.#settle(id.slice(probe.length));
    else this.#finish(id.slice(cells.length), endEvents(reply, this.#hasError, this.#isPartial));
  }

  /** Finishes the running cell. Called when a request that was sent after the cell has completed. */
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
      if (event.kind === 'end') this.#takeEnd(cell, event);
      else this.#pass(cell, event);
    }
  }

  /** After a handover, the next daemon ends the kernel, and the server reports that end to no other connection. */
  #takeEnd(cell: string, event: Extract<CellEvent, { kind: 'end' }>): void {
    this.isLeaving ||= event.isExiting;
    const isPending = event.isPending && this.#isProgram && !this.ownership.isLeft;
    this.#pass(cell, { ...event, isPending });
    if (isPending) void this.leave().catch(() => null); // Only a handover meanwhile, after which the next daemon does it.
  }

  #pass(cell: string, event: CellEvent): void {
    if (this.#onCell) this.#onCell(cell, event);
    else this.#early.push([cell, event]);
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
