/** Shows a session until it ends, across lost connections, without loss or repetition. */
import type { Frame } from './frames.ts';
import type { TypedInput } from './input.ts';
import { note, type LocalTerminal } from './local.ts';
import { AttachSocket } from './socket.ts';
import { Backoff } from '../../../../clients/typescript/src/backoff.ts';
import { BoxError } from '../../../../clients/typescript/src/index.ts';
import { Deadline } from '../../kit/deadline.ts';
import type { Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { oneLine } from '../client/standard-streams.ts';
import { sessionRecord } from './session.ts';

export interface AttachOptions {
  readonly local: LocalTerminal;
  readonly input: TypedInput;
  readonly isReadOnly: boolean;
  /** The offset in the output to start from; null starts with the current screen. */
  readonly offset: number | null;
  readonly reconnectMs: number;
  readonly signal: AbortSignal;
}

export interface SessionEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Attach reports a longer outage to the user. */
const noticeMs = 3000;
const sessionEnded = 4000;
const tooSlow = 4003;

export class FollowedSession {
  readonly #path: string;
  /** The offset where the output continues; null before any output was shown. */
  #offset: number | null;
  #end: SessionEnd | null = null;
  #wasOpen = false;
  /** True when the local screen differs from the session's output and must be repainted. */
  #isStale = false;
  readonly #backoff: Backoff;
  #socket: AttachSocket | null = null;

  constructor(
    private readonly client: Client,
    private readonly id: string,
    private readonly options: AttachOptions,
  ) {
    this.#path = `/v2/pty/sessions/${encodeURIComponent(id)}`;
    this.#offset = options.offset;
    this.#backoff = new Backoff(options.reconnectMs, async ({ message }, sinceMs) => {
      if (sinceMs >= noticeMs && !this.#isStale) await this.#report(message);
    });
  }

  /** Resolves when the shell has ended. Throws a ClientFailure. */
  async toTheEnd(): Promise<SessionEnd> {
    for (;;) {
      try {
        await this.#connect();
      } catch (error) {
        this.options.signal.throwIfAborted();
        if (!(error instanceof BoxError && error.retryable)) throw error;
        await this.#explain(error);
      }
      if (this.#end) return this.#end;
      await this.#wait();
    }
  }

  resize(): void {
    const size = this.options.local.size;
    if (size && !this.options.isReadOnly) this.#socket?.resize(size.cols, size.rows);
  }

  /** Runs one connection from start to end. */
  async #connect(): Promise<void> {
    const { input, isReadOnly, signal } = this.options;
    using socket = await AttachSocket.open(this.client, `${this.#path}/ws?${this.#query().toString()}`, signal);
    using over = new Deadline(null, signal);
    this.#socket = socket;
    const typing: Promise<void>[] = [];
    try {
      for await (const frame of socket.frames(signal)) {
        await this.#take(socket, frame);
        if (frame.kind === 'ready' && !isReadOnly && socket.isOpen) typing.push(input.pump(socket, over.signal));
      }
    } finally {
      this.#socket = null;
    }
    if (socket.closeCode === sessionEnded) this.#end ??= await this.#record();
    if (socket.closeCode === tooSlow) this.#backoff.answered(); // The daemon is reachable and sends the rest at once.
  }

  #query(): URLSearchParams {
    const { isReadOnly, local } = this.options;
    const query = new URLSearchParams({ protocol: 'binary', mode: isReadOnly ? 'ro' : 'rw' });
    const { size } = local;
    if (size && !isReadOnly) for (const [name, value] of Object.entries(size)) query.set(name, String(value));
    if (this.#offset === null || this.#isStale) query.set('restore', 'true');
    else query.set('offset', String(this.#offset));
    return query;
  }

  async #take(socket: AttachSocket, frame: Frame): Promise<void> {
    const { local, input } = this.options;
    if (frame.kind === 'ready') return await this.#begin(socket, frame.offset, frame.inputOffset);
    this.#isStale = false; // The frame that repaints the screen comes first.
    switch (frame.kind) {
      case 'gap':
        this.#offset = frame.to;
        return await this.#reportMissing(socket, frame.to - frame.from);
      case 'restore':
        if (frame.bytes.length === 0) return;
        await local.clear();
        return await local.show(frame.bytes);
      case 'output':
        await local.show(frame.bytes);
        this.#offset = (this.#offset ?? 0) + frame.bytes.length;
        return socket.acknowledge(this.#offset);
      case 'pong':
        return input.confirm(frame.timestamp);
      case 'exit':
        this.#end = { exitCode: frame.exitCode, signal: frame.signal };
        return;
      case 'error':
        input.doubt();
        return await this.#report(`${this.id}: ${frame.message}`);
      default:
        return;
    }
  }

  async #begin(socket: AttachSocket, offset: number, inputOffset: number | null): Promise<void> {
    const missing = this.#offset !== null && !this.#isStale ? offset - this.#offset : 0;
    this.#offset = offset;
    this.#wasOpen = true;
    this.#backoff.reset();
    const lost = this.options.input.resume(inputOffset);
    if (missing > 0) await this.#reportMissing(socket, missing);
    if (lost > 0)
      await this.#report(
        `the connection broke while ${lost} bytes of input were sent; the shell may not have received them`,
      );
    this.resize();
  }

  /** Reports missing output. The rest cannot produce the screen, so the next connection repaints it. */
  async #reportMissing(socket: AttachSocket, bytes: number): Promise<void> {
    if (!this.options.local.isOutput)
      return await this.#report(`${bytes} bytes of output are missing here: the daemon no longer keeps them`);
    this.#isStale = true;
    socket[Symbol.dispose]();
  }

  /** Finds out why no connection opens: the daemon is unreachable, or refuses the session. */
  async #explain(failure: BoxError): Promise<void> {
    try {
      await this.#record();
    } catch (error) {
      if (!(error instanceof BoxError)) throw error;
      if (error.status === 404) {
        throw new ClientFailure(`session ${this.id} no longer exists; a daemon that stops ends its sessions`);
      }
      // A daemon that refuses for a while answers, but cannot serve a socket now.
      const canComeBack = error.status !== null || this.#wasOpen;
      if (!error.retryable || !canComeBack) throw error;
      return;
    }
    if (!this.#wasOpen)
      throw new ClientFailure(
        `${failure.message}, although it answers HTTP requests; a proxy in between may not forward WebSockets`,
      );
  }

  async #record(): Promise<SessionEnd> {
    const { exit_code: exitCode } = await sessionRecord(this.client, this.id, this.options.signal);
    return { exitCode, signal: null };
  }

  async #wait(): Promise<void> {
    const { reconnectMs, signal } = this.options;
    const { address } = this.client;
    const message = `${address} is not reachable; attach keeps your input`;
    if (await this.#backoff.wait(new BoxError({ code: 'unreachable', message }), 0, signal)) return;
    throw new ClientFailure(`${address} was not reachable for ${reconnectMs / 1000} s; ${this.id} may still run`);
  }

  /** Shows a message over the screen, which the next connection repaints, or on standard error without a terminal. */
  async #report(text: string): Promise<void> {
    const { local } = this.options;
    if (!local.isOutput) return await note(oneLine(text));
    await local.overlay(oneLine(text));
    this.#isStale = true;
  }
}
