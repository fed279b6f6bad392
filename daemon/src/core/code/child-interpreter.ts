/** An interpreter that is a process of its own: a Python or Node of the image with a script of ours in it. */
import { constants } from 'node:os';
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import type { Child, ChildEnd } from '../../platform/spawn.ts';
import type { CellRecord } from './cell.ts';
import type { CellEvent, InterpreterEvent } from './events.ts';
import type { CellOnItsWay, Interpreter, LogPosition } from './interpreter.ts';
import type { CodeBackendName } from './language.ts';
import { Channel } from './channel.ts';
import type { RunningCell } from './session.ts';

const endWithinMs = 5000;

export class ChildInterpreter implements Interpreter {
  readonly isLeaving = false;
  readonly interruptAgainMs = 250;
  version = '';
  readonly #channel: Channel;
  #onCell: (cell: string, event: CellEvent) => void = () => undefined;
  #isReady = false;
  /** The cell that it was given last. */
  #asked: string | null = null;

  constructor(
    readonly id: string,
    readonly backend: CodeBackendName,
    readonly child: Child,
    from: number,
  ) {
    this.#channel = new Channel(child, from, (event) => this.#take(event));
  }

  get pid(): number | null {
    return this.child.end ? null : this.child.pid;
  }

  get end(): ChildEnd | null {
    return this.#channel.isOver ? this.child.end : null;
  }

  get isLetGo(): boolean {
    return this.child.isLetGo;
  }

  get position(): LogPosition {
    return { log: this.id, offset: this.#channel.position };
  }

  changed(signal?: AbortSignal): Promise<void> {
    return this.#channel.changed(signal);
  }

  listen(onCell: (cell: string, event: CellEvent) => void): void {
    this.#onCell = onCell;
    this.#channel.listen();
  }

  /** Sends `path` its program and waits until it takes cells. Throws `unavailable`. */
  async start(path: string, program: Uint8Array, signal: AbortSignal): Promise<void> {
    this.#channel.listen();
    // One that cannot read any more has ended, which is looked at below.
    await this.#channel.send(program).catch(() => null);
    while (!this.#isReady && !this.end && !signal.aborted) await this.changed(signal);
    if (this.#isReady) return;
    const how = this.end ? 'ended at once' : 'did not answer in time';
    throw new CoreError('unavailable', `${path} ${how}: ${this.#channel.errors() || 'it said nothing'}`, {
      hint: 'Run it by hand with POST /v2/commands to see what it lacks.',
    });
  }

  /** What an earlier daemon sent may have been cut off in the middle: the rest of that line is none. */
  async resume(running: RunningCell | null): Promise<void> {
    this.#asked = running?.cell.id ?? null;
    // A program takes no more input; that this ends may not have been said any more.
    if (running?.cell.isProgram === true) this.child.closeStdin(running.to);
    else await this.#channel.send(Buffer.from('\n'));
  }

  handOver({ id, code, cwd, env, isProgram = false }: CellRecord): CellOnItsWay {
    this.#asked = id;
    const line = Buffer.from(`${JSON.stringify({ op: 'execute', cell: id, code, cwd, env, program: isProgram })}\n`);
    const end = this.#channel.endOf(line);
    return { end, send: () => this.#send(line, isProgram ? end : null) };
  }

  hasTaken(end: number): boolean {
    return this.#channel.hasTaken(end);
  }

  async interrupt(): Promise<void> {
    await this.child.signal(constants.signals.SIGINT, 'group');
  }

  async close(): Promise<void> {
    await endChild(this.child);
  }

  async #send(line: Uint8Array, inputEnd: number | null): Promise<void> {
    await this.#channel.send(line);
    if (inputEnd !== null) this.child.closeStdin(inputEnd);
  }

  #take(event: InterpreterEvent): void {
    if (event.about === 'cell') this.#onCell(event.cell, event.event);
    else if (event.about === 'log') this.#miss();
    else if (event.about === 'interpreter') {
      this.#isReady = true;
      this.version = event.version;
    }
  }

  /** The end of a cell may be among what is lost. */
  #miss(): void {
    if (this.#asked === null) return;
    this.#onCell(this.#asked, { kind: 'gap' });
    const line = Buffer.from(`${JSON.stringify({ op: 'again' })}\n`);
    void this.#channel.send(line).catch(() => null); // One that takes nothing more has ended, or ends with the program that it runs.
  }
}

/** Ends a process with everything that it has started, and forgets it. */
export async function endChild(child: Child): Promise<void> {
  if (child.isLetGo) throw new HandedOver();
  child.terminate(0);
  using deadline = new Deadline(endWithinMs);
  while (child.isAttached && !deadline.passed) await child.changed(deadline.signal);
  child.forget();
}
