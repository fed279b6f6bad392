/** Kernels of a Jupyter server that runs elsewhere: SVC_JUPYTER_ENDPOINT. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { Notifier } from '../../kit/notifier.ts';
import type { JupyterServer, KernelSocket } from '../../platform/jupyter-server.ts';
import type { ChildEnd } from '../../platform/spawn.ts';
import type { CodeBackend } from './backend.ts';
import type { CellRecord } from './cell.ts';
import type { CellEvent } from './events.ts';
import type { CellOnItsWay, Interpreter } from './interpreter.ts';
import { CellEnds, cellEvent, executeRequest, readMessage, type KernelMessage } from './jupyter-messages.ts';
import type { SessionRecord } from './session.ts';

export interface JupyterBackendDeps {
  readonly server: JupyterServer;
  readonly now: () => number;
}

const openWithinMs = 20_000;
/** How the id of what is no cell begins. */
const preparing = 'prepare-';

export class JupyterBackend implements CodeBackend {
  readonly name = 'jupyter';
  readonly language = 'python';

  constructor(private readonly deps: JupyterBackendDeps) {}

  /** It cannot be reached, in one sentence; null when it can. */
  async missing(): Promise<string | null> {
    const kernels = await this.deps.server.kernels();
    return kernels === null ? `no Jupyter server answers at ${this.deps.server.address}` : null;
  }

  async kernels(): Promise<readonly string[]> {
    return (await this.deps.server.kernels()) ?? [];
  }

  async start({ kernel, cwd, env }: SessionRecord): Promise<Interpreter> {
    const id = await this.#ask(() => this.deps.server.start(kernel));
    const interpreter = await this.#connect(id);
    if (interpreter === null) throw this.#unavailable('its kernel does not answer');
    // Where the server is, the directory of a session may not be there: then it stays where kernels start.
    await interpreter.prepare(`import os\ntry: os.chdir(${JSON.stringify(cwd)})\nexcept OSError: pass`);
    await interpreter.prepare(environmentCode(env));
    return interpreter;
  }

  adopt(): Promise<Interpreter | null> {
    throw new Error('a kernel of a server is no process of this machine');
  }

  /** Goes on with a kernel that an earlier daemon had started; null when it is gone. */
  async reconnect(id: string): Promise<Interpreter | null> {
    return (await this.deps.server.has(id)) ? await this.#connect(id) : null;
  }

  async #connect(id: string): Promise<JupyterInterpreter | null> {
    const interpreter = new JupyterInterpreter(id, this.deps);
    using deadline = new Deadline(openWithinMs);
    return (await interpreter.open(deadline.signal)) ? interpreter : null;
  }

  async #ask<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw this.#unavailable(error instanceof Error ? error.message : String(error));
    }
  }

  #unavailable(reason: string): CoreError {
    return new CoreError('unavailable', `the Jupyter server at ${this.deps.server.address}: ${reason}`, {
      hint: 'Look at SVC_JUPYTER_ENDPOINT and its token, or leave it out.',
    });
  }
}

class JupyterInterpreter implements Interpreter {
  readonly backend = 'jupyter';
  readonly version = '';
  readonly pid = null;
  readonly isLetGo = false;
  readonly isLeaving = false;
  readonly position = { log: '', offset: 0 };
  end: ChildEnd | null = null;
  readonly #socket: KernelSocket;
  readonly #session: string;
  readonly #ends = new CellEnds();
  readonly #changes = new Notifier();
  #prepared = 0;
  /** Heard before anybody listens: what the server has kept. */
  #early: [string, CellEvent][] = [];
  #onCell: ((cell: string, event: CellEvent) => void) | null = null;

  constructor(
    readonly id: string,
    private readonly deps: JupyterBackendDeps,
  ) {
    this.#session = `sandboxd-${id}`;
    this.#socket = deps.server.connect(id, this.#session, (line) => this.#hear(line));
  }

  async open(signal: AbortSignal): Promise<boolean> {
    while (!this.#socket.isOpen && !signal.aborted) await this.#socket.changed(signal);
    if (this.#socket.isOpen) void this.#watch();
    return this.#socket.isOpen;
  }

  changed(signal?: AbortSignal): Promise<void> {
    return this.#changes.wait(signal);
  }

  listen(onCell: (cell: string, event: CellEvent) => void): void {
    this.#onCell = onCell;
    for (const [cell, event] of this.#early.splice(0)) onCell(cell, event);
  }

  handOver(cell: CellRecord): CellOnItsWay {
    return { end: 0, send: () => this.#run(cell) };
  }

  /** The server has what was sent, or nobody knows. */
  hasTaken(): boolean {
    return true;
  }

  async #run({ id, code, cwd, env }: CellRecord): Promise<void> {
    if (cwd !== null) await this.prepare(`import os\nos.chdir(${JSON.stringify(cwd)})`);
    if (Object.keys(env).length > 0) await this.prepare(environmentCode(env));
    this.#socket.send(executeRequest(id, this.#session, code));
  }

  /** Runs behind what was asked before, and is no cell. */
  async prepare(code: string): Promise<void> {
    this.#socket.send(executeRequest(`${preparing}${this.#prepared++}`, this.#session, code, true));
  }

  async interrupt(): Promise<void> {
    await this.deps.server.interrupt(this.id);
  }

  async close(): Promise<void> {
    this.#end();
    this.#socket.close();
    // A server that is away has taken its kernels with it.
    await this.deps.server.end(this.id).catch(() => null);
  }

  #hear(line: string): void {
    const message = readMessage(line);
    if (!message) return;
    const { channel, type, content, parent } = message;
    const state = channel === 'iopub' && type === 'status' ? content['execution_state'] : null;
    if (state === 'restarting' || state === 'dead') this.#end();
    if (!parent.startsWith(preparing)) this.#tell(message);
    this.#changes.notify();
  }

  #tell(message: KernelMessage): void {
    const events = [cellEvent(message), this.#ends.take(message)].filter((event) => event !== null);
    for (const event of events) {
      if (this.#onCell) this.#onCell(message.parent, event);
      else this.#early.push([message.parent, event]);
    }
  }

  async #watch(): Promise<void> {
    while (this.#socket.isOpen) await this.#socket.changed();
    this.#end();
  }

  #end(): void {
    this.end ??= { kind: 'lost', atMs: this.deps.now() };
    this.#changes.notify();
  }
}

function environmentCode(env: Readonly<Record<string, string | null>>): string {
  const lines = Object.entries(env).map(([name, value]) =>
    value === null
      ? `os.environ.pop(${JSON.stringify(name)}, None)`
      : `os.environ[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  return ['import os', ...lines].join('\n');
}
