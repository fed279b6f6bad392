/** A WebSocket attached to a terminal: sends its output and takes input. */
import type { Display, SessionEnd, ViewerSession } from '../../../core/terminals/attach/viewer-session.ts';
import type { Terminal } from '../../../core/terminals/session/terminal.ts';
import { CoreError } from '../../../kit/errors.ts';
import { decodeUtf8 } from '../../../kit/text/text.ts';
import type { Socket } from '../../../kit/types/socket.ts';
import {
  errorMessage,
  exitMessage,
  readMessage,
  timedMessage,
  type ServerMessage,
  type transports,
} from './messages.ts';

export interface TerminalSocketOptions {
  readonly protocol: (typeof transports)[number];
  readonly isWriter: boolean;
  readonly from: number;
  /** A durable socket was attached to this terminal before. */
  readonly isResumed: boolean;
  /** Sent before anything else. */
  readonly restored: string | null;
}

/** Close codes (contract, Terminals) and reasons. */
const closings = {
  ended: [4000, 'ended'],
  stalled: [4003, 'too slow'],
  silent: [4003, 'no answer to pings'],
  stopped: [1001, 'the daemon is going'],
  failed: [1011, 'internal error'],
} as const;

export class TerminalSocket implements Display {
  sentBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly terminal: Terminal,
    private readonly options: TerminalSocketOptions,
  ) {}

  begin(): void {
    const { terminal } = this;
    const { protocol, from, isResumed, restored } = this.options;
    this.#send({
      type: 'ready',
      session_id: terminal.id,
      transport: protocol,
      backend: terminal.backend,
      resumed: isResumed,
      offset: from,
      input_offset: terminal.input.bytes,
      ...terminal.size,
    });
    if (terminal.title !== null) this.titled(terminal.title);
    if (restored === null) return;
    this.#send({ type: 'restore_output', data: restored, offset: from });
    this.#send({ type: 'relay_resumed', offset: from });
  }

  output(bytes: Uint8Array, to: number): boolean {
    const isSent =
      this.options.protocol === 'binary'
        ? this.socket.send(bytes)
        : this.#send({ type: 'output', data: decodeUtf8(bytes), offset: to });
    if (isSent) this.sentBytes += bytes.length;
    return isSent;
  }

  gap(from: number, to: number): void {
    this.#send({ type: 'gap', from, to });
  }

  resized(): void {
    this.#send({ type: 'resize', ...this.terminal.size });
  }

  titled(title: string): void {
    this.#send({ type: 'title', title, data: title });
  }

  beat(): void {
    this.#send(timedMessage('ping', Date.now()));
  }

  refused(error: CoreError): void {
    this.#send(errorMessage(error));
  }

  end(end: SessionEnd, offset: number): void {
    if (end.kind === 'ended') this.#send(exitMessage(end.end, offset));
    const [code, reason] = closings[end.kind];
    const isFinal = end.kind === 'ended' || end.kind === 'failed';
    this.socket.close(code, isFinal ? reason : `${reason}: go on with offset=${offset}`);
  }

  receive(received: string | Uint8Array, session: ViewerSession): void {
    const message = typeof received === 'string' ? readMessage(received) : null;
    if (message === null || message.type === 'input') {
      this.#mayWrite('input');
      const typed = message === null ? received : message.data;
      session.type(typeof typed === 'string' ? Buffer.from(typed) : typed);
      return;
    }
    switch (message.type) {
      case 'resize':
        this.#mayWrite('resize');
        session.resize(message);
        break;
      case 'signal':
        this.#mayWrite('signal');
        if (!this.terminal.signal(message.signal))
          throw new CoreError('terminal_ended', 'no program is in the foreground');
        break;
      case 'ack':
        session.ack(message.offset);
        break;
      case 'ping':
        this.#send(timedMessage('pong', message.timestamp ?? null));
        break;
      case 'pong':
        break;
    }
  }

  #mayWrite(what: string): void {
    if (this.options.isWriter) return;
    throw new CoreError('forbidden', `${what} was left out: this socket only reads`, {
      hint: 'Attach with mode=rw.',
    });
  }

  #send(message: ServerMessage): boolean {
    return this.socket.send(JSON.stringify(message));
  }
}
