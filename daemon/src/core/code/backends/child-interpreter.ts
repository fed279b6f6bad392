/** Runs a Python or Node of the image as a child process that reads a script of the daemon. */
import { constants } from 'node:os';
import { Deadline } from '../../../kit/deadline.ts';
import type { EncodedText } from '../../../kit/text/encoded-text.ts';
import type { JsonBounds } from '../../../kit/text/json-bounds.ts';
import type { Ownership } from '../../../kit/ownership.ts';
import type { Child, ChildEnd } from '../../../platform/process/spawn.ts';
import { terminateAndForget } from '../../processes/terminate.ts';
import type { CellRecord } from '../cells/cell.ts';
import type { CellEvent, InterpreterEvent } from '../cells/events.ts';
import { executeRequest, type Interpreter, type LogPosition, type Submission } from './interpreter.ts';
import type { CodeBackendName, Language } from '../language.ts';
import { Channel } from './channel.ts';
import { startRefusal } from './start-refusal.ts';
import type { RunningCell } from '../sessions/record.ts';

/** Time for Node to end its cell when it is asked to, before it gets a signal. */
const askedMs = 250;

export class ChildInterpreter implements Interpreter {
  readonly isLeaving = false;
  readonly interruptAgainMs = 250;
  version = '';
  readonly #channel: Channel;
  #onCell: (cell: string, event: CellEvent) => void = () => undefined;
  #isReady = false;
  /** The id of the last cell that was sent. */
  #asked: string | null = null;
  #hasEnded = true;
  /** A signal was sent since the last cell was sent, and may not have taken effect yet. */
  #hasInterrupted = false;

  constructor(
    readonly id: string,
    readonly backend: CodeBackendName,
    private readonly language: Language,
    readonly child: Child,
    from: number,
    bounds: JsonBounds,
  ) {
    this.#channel = new Channel(child, from, bounds, (event) => this.#take(event));
  }

  get pid(): number | null {
    return this.child.end ? null : this.child.pid;
  }

  get end(): ChildEnd | null {
    return this.#channel.isOver ? this.child.end : null;
  }

  get ownership(): Ownership {
    return this.child.ownership;
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

  /** Sends the program to the interpreter at `path` and waits until it is ready. Throws as `startRefusal`. */
  async start(path: string, program: Uint8Array, signal: AbortSignal): Promise<void> {
    this.#channel.listen();
    // If the interpreter accepts no input, it has ended. The code below handles this.
    await this.#channel.send([program]).catch(() => null);
    while (!this.#isReady && !this.end && !signal.aborted) await this.changed(signal);
    if (this.#isReady) return;
    throw startRefusal({ what: path, end: this.end, errors: this.#channel.errors() });
  }

  /** The last request of an earlier daemon may be incomplete. The newline ends the broken line. */
  async resume(running: RunningCell | null): Promise<void> {
    this.#asked = running?.cell.id ?? null;
    this.#hasEnded = running === null;
    this.#hasInterrupted = true; // The earlier daemon may have sent a signal.
    // A program gets no more input. The earlier daemon may have died before it closed the input.
    if (running?.cell.isProgram === true) this.child.closeStdin(running.to);
    else await this.#channel.send([Buffer.from('\n')]);
  }

  resumeInput(): void {
    this.#channel.resumeInput();
  }

  submit(cell: CellRecord, code: EncodedText): Submission {
    this.#asked = cell.id;
    this.#hasEnded = false;
    const request = executeRequest({ ...cell, code: code.placeholder });
    const line = code.jsonOf({ ...request, interrupted: this.#hasInterrupted }, '\n');
    this.#hasInterrupted = false;
    const end = this.#channel.endOf(line);
    return { end, send: () => this.#send(line, request.program ? end : null) };
  }

  hasTaken(end: number): boolean {
    return this.#channel.hasTaken(end);
  }

  async interrupt(): Promise<void> {
    this.#hasInterrupted = true;
    await this.child.signal(constants.signals.SIGINT, 'group');
  }

  /** At the end of its input, the program ends. */
  async leave(): Promise<void> {
    this.child.closeStdin(this.child.stdin.accepted);
  }

  /**
   * Node loses a signal before a cell begins, and dies of one at the moment at which a script ends. So it is asked first,
   * and only code that computes for longer gets the signal.
   */
  async endCell(): Promise<void> {
    if (this.language !== 'javascript' || !this.child.stdin.isOpen) return await this.interrupt();
    using deadline = new Deadline(askedMs);
    // An interpreter that accepts no input is ending.
    void this.#channel.send([Buffer.from(`${JSON.stringify({ op: 'leave' })}\n`)]).catch(() => null);
    while (!this.#hasEnded && !this.end && !deadline.passed) await this.changed(deadline.signal);
    if (!this.#hasEnded && !this.end && !this.ownership.isLeft) await this.interrupt();
  }

  async close(): Promise<void> {
    await terminateAndForget(this.child);
  }

  async #send(line: readonly Uint8Array[], inputEnd: number | null): Promise<void> {
    await this.#channel.send(line);
    if (inputEnd !== null) this.child.closeStdin(inputEnd);
  }

  #take(event: InterpreterEvent): void {
    if (event.about === 'cell') this.#takeCell(event.cell, event.event);
    else if (event.about === 'log') this.#miss();
    else if (event.about === 'interpreter') {
      this.#isReady = true;
      this.version = event.version;
    }
  }

  #takeCell(cell: string, event: CellEvent): void {
    if (event.kind === 'end' && cell === this.#asked) this.#hasEnded = true;
    this.#onCell(cell, event);
  }

  /** Asks for the state again after lost output, because the end of a cell may be lost. */
  #miss(): void {
    if (this.#asked === null) return;
    this.#onCell(this.#asked, { kind: 'gap' });
    const line = [Buffer.from(`${JSON.stringify({ op: 'again' })}\n`)];
    // An interpreter that accepts no input has ended, or will end with the program that it runs.
    void this.#channel.send(line).catch(() => null);
  }
}
