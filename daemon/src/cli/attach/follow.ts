/** Shows a session at the local terminal until the session ends, across lost connections. */
import {
  BoxError,
  type Terminal,
  type TerminalEvent,
  type TerminalExit,
} from '../../../../clients/typescript/src/index.ts';
import type { Client } from '../client/client.ts';
import { ClientFailure } from '../client/failure.ts';
import { noticeMs } from '../client/follow.ts';
import { oneLine } from '../client/standard-streams.ts';
import { note, type LocalTerminal } from './local.ts';

export interface FollowOptions {
  readonly isReadOnly: boolean;
  /** The offset in the output to start from; null starts with the current screen. */
  readonly offset: number | null;
  readonly reconnectMs: number;
}

export class FollowedSession {
  #terminal: Terminal | null = null;
  /** True when the local screen differs from the session's output and must be repainted. */
  #isStale = false;

  constructor(
    private readonly client: Client,
    private readonly id: string,
    private readonly local: LocalTerminal,
    private readonly options: FollowOptions,
  ) {}

  /** Throws a ClientFailure or a BoxError when no connection opens. */
  async attach(signal: AbortSignal): Promise<Terminal> {
    const { isReadOnly, offset, reconnectMs: retryMs } = this.options;
    const size = isReadOnly ? null : this.local.size;
    const more = { readOnly: isReadOnly, ...size, ...(offset !== null && { offset }) };
    const onAway = async (error: BoxError, sinceMs: number) => await this.#reportOutage(error, sinceMs);
    const attached = await this.client.sandbox.terminals.attach(this.id, more, { signal, retryMs, onAway });
    if (!attached.ok) throw this.#explained(attached.error);
    this.#terminal = attached.body;
    this.resize();
    return attached.body;
  }

  /** Throws a ClientFailure when the daemon is away for too long, or has lost the session. */
  async toTheEnd(terminal: Terminal): Promise<TerminalExit> {
    try {
      for await (const event of terminal) {
        await this.#show(terminal, event);
        if (event.type === 'exit') return event;
      }
    } catch (error) {
      throw error instanceof BoxError ? this.#explained(error) : error;
    }
    throw new ClientFailure(`${this.id} was left`);
  }

  resize(): void {
    const { size } = this.local;
    if (size && !this.options.isReadOnly) this.#terminal?.resize(size.cols, size.rows);
  }

  get unsentBytes(): number {
    return this.#terminal?.unsentBytes ?? 0;
  }

  detach(): void {
    this.#terminal?.detach();
  }

  async #show(terminal: Terminal, event: TerminalEvent): Promise<void> {
    switch (event.type) {
      case 'output':
        return await this.local.show(event.bytes);
      case 'restore':
        this.#isStale = false;
        if (event.text === '') return;
        await this.local.clear();
        return await this.local.show(Buffer.from(event.text));
      case 'gap':
        // Without the missing output, the rest cannot produce the screen.
        if (this.local.isOutput) return terminal.restore();
        return await this.#report(
          `${event.to - event.from} bytes of output are missing here: the daemon no longer keeps them`,
        );
      case 'error':
        return await this.#report(`${this.id}: ${event.error.message}`);
      case 'away':
        if (this.#isStale) terminal.restore();
        return;
      default:
        return;
    }
  }

  async #reportOutage(error: BoxError, sinceMs: number): Promise<void> {
    const terminal = this.#terminal;
    // Before the first connection, a daemon that does not answer is reported at once.
    if (!terminal && error.status === null) throw error;
    if (!terminal || sinceMs < noticeMs || this.#isStale) return;
    await this.#report(`${this.client.address} is not reachable; attach keeps your input`);
    if (this.#isStale) terminal.restore();
  }

  /** Shows a message over the screen, which the next connection repaints, or on standard error without a terminal. */
  async #report(text: string): Promise<void> {
    if (!this.local.isOutput) return await note(oneLine(text));
    await this.local.overlay(oneLine(text));
    this.#isStale = true;
  }

  #explained(error: BoxError): Error {
    const { id } = this;
    if (error.code === 'terminal_not_found')
      return new ClientFailure(`session ${id} no longer exists; a daemon that stops ends its sessions`);
    if (error.code !== 'gave_up') return error;
    const seconds = this.options.reconnectMs / 1000;
    return new ClientFailure(`${this.client.address} was not reachable for ${seconds} s; ${id} may still run`);
  }
}
