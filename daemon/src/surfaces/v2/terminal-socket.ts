/** A WebSocket at a terminal: what is shown goes out, what is typed comes in. */
import { AttachedInput } from '../../core/terminals/attached-input.ts';
import { Attachment, type Detachment, type Viewer } from '../../core/terminals/attachment.ts';
import type { Attaching } from '../../core/terminals/attaching.ts';
import { TitleScanner } from '../../core/terminals/title-scanner.ts';
import type { Terminal } from '../../core/terminals/terminal.ts';
import { Heartbeat } from '../../http/heartbeat.ts';
import type { Socket, SocketHandler } from '../../http/socket.ts';
import type { StreamEvents } from '../../http/stream-body.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { decodeUtf8, wholeUtf8Length } from '../../kit/text.ts';
import { errorMessage, exitMessage, readMessage, timedMessage, type ClientMessage } from './terminal-messages.ts';

export interface TerminalSocketOptions {
  readonly protocol: 'json' | 'binary';
  readonly isWriter: boolean;
  readonly isDurable: boolean;
  readonly from: number;
  /** Somebody was at it before. */
  readonly isResumed: boolean;
  /** Shown before anything else. */
  readonly restored: string | null;
}

export interface TerminalSocketDeps {
  readonly terminal: Terminal;
  readonly attaching: Attaching;
  /** The daemon is going. */
  readonly closing: AbortSignal;
  readonly stream: StreamEvents;
  /** The socket has closed. */
  readonly onClose: () => void;
}

/** Close codes (contract, Terminals). */
const closeCodes = { ended: 4000, stalled: 4003, stopped: 1001 } as const;
/** Of a connection that broke. */
const abnormalClosure = 1006;
/** Answers to a client that asks and does not read: a restored screen and a piece of output are less. */
const mostUnreadBytes = 12 * 1024 * 1024;
const askWithinMs = 20;

export class TerminalSocket implements SocketHandler {
  #session: OpenSession | null = null;

  constructor(
    private readonly deps: TerminalSocketDeps,
    private readonly options: TerminalSocketOptions,
  ) {}

  open(socket: Socket): void {
    this.#session = new OpenSession(socket, this.deps, this.options);
    this.#session.start();
  }

  message(_socket: Socket, message: string | Uint8Array): void {
    this.#session?.take(message);
  }

  pong(_socket: Socket, text: string): void {
    this.#session?.pong(text);
  }

  close(_socket: Socket, code: number): void {
    this.#session?.closed(code);
    this.#finish();
  }

  refused(): void {
    this.#finish();
  }

  #finish(): void {
    this.deps.stream.onEnd(this.#session?.sentBytes ?? 0);
    this.deps.onClose();
  }
}

class OpenSession implements Viewer {
  sentBytes = 0;
  readonly #attachment: Attachment;
  readonly #input: AttachedInput;
  readonly #heartbeat: Heartbeat;
  readonly #titles = new TitleScanner();
  /** Fires when the socket has closed, or the daemon is going. */
  readonly #stop: Deadline;
  #title: string | null = null;
  #size: string;
  /** The place that a ping asks about; null while there is none on its way. */
  #asked: number | null = null;
  #asking: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(
    private readonly socket: Socket,
    private readonly deps: TerminalSocketDeps,
    private readonly options: TerminalSocketOptions,
  ) {
    const { terminal, attaching, closing } = deps;
    const { from, isWriter, isDurable } = options;
    this.#stop = new Deadline(null, closing, attaching.left);
    const { signal } = this.#stop;
    this.#attachment = new Attachment(terminal, attaching, this, { from, isWriter, isDurable, signal });
    // What somebody has typed before they went is typed.
    this.#input = new AttachedInput(terminal, attaching, (error) => this.#refuse(error));
    this.#size = sizeOf(terminal);
    this.#heartbeat = new Heartbeat({
      ask: () => this.#ping(),
      giveUp: () => this.#close(closeCodes.stalled, `no answer to pings: go on with offset=${this.#attachment.offset}`),
    });
  }

  get bufferedBytes(): number {
    return this.socket.bufferedBytes;
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.socket.drained(signal);
  }

  start(): void {
    const { terminal } = this.deps;
    const { protocol, from, isResumed, restored } = this.options;
    this.#tell({
      type: 'ready',
      session_id: terminal.id,
      transport: protocol,
      backend: terminal.backend,
      resumed: isResumed,
      offset: from,
      input_offset: terminal.inputBytes,
      ...terminal.size,
    });
    this.#tellTitle(terminal.title);
    if (restored !== null) {
      this.#tell({ type: 'restore_output', data: restored, offset: from });
      this.#tell({ type: 'relay_resumed', offset: from });
    }
    this.#attachment.run().then(
      (detachment) => this.#detach(detachment),
      (error: unknown) => {
        this.deps.stream.onFault(error);
        this.#close(1011, 'internal error');
      },
    );
  }

  show(bytes: Uint8Array, offset: number, isLast: boolean): number {
    const count = this.options.protocol === 'binary' || isLast ? bytes.length : wholeUtf8Length(bytes);
    if (count === 0) return 0;
    const shown = bytes.subarray(0, count);
    if (this.options.protocol === 'binary') this.socket.send(shown);
    else this.#tell({ type: 'output', data: decodeUtf8(shown), offset: offset + count });
    this.sentBytes += count;
    this.#tellTitle(this.#titles.scan(shown));
    this.#askSoon();
    return count;
  }

  gap(from: number, to: number): void {
    this.#tell({ type: 'gap', from, to });
  }

  resized(): void {
    const { terminal } = this.deps;
    if (this.#size === sizeOf(terminal)) return;
    this.#size = sizeOf(terminal);
    this.#tell({ type: 'resize', ...terminal.size });
  }

  take(message: string | Uint8Array): void {
    this.#heartbeat.heard();
    if (this.bufferedBytes > mostUnreadBytes) {
      this.#close(closeCodes.stalled, `too slow: go on with offset=${this.#attachment.offset}`);
      return;
    }
    try {
      const read = typeof message === 'string' ? readMessage(message) : null;
      if (read) this.#act(read);
      else this.#type(message);
    } catch (error) {
      this.#refuse(error);
    }
  }

  pong(text: string): void {
    this.#heartbeat.heard();
    const offset = Number(text);
    if (!Number.isSafeInteger(offset) || offset > this.#attachment.offset) return;
    this.#attachment.confirm(offset);
    if (offset !== this.#asked) return;
    this.#asked = null;
    if (this.#attachment.offset > offset) this.#askSoon();
  }

  closed(code: number): void {
    this.#heartbeat[Symbol.dispose]();
    clearTimeout(this.#asking ?? undefined);
    this.#stop[Symbol.dispose]();
    if (!this.#isClosed && code !== abnormalClosure) this.#attachment.leave();
    this.#isClosed = true;
  }

  #act(message: ClientMessage): void {
    const { terminal } = this.deps;
    switch (message.type) {
      case 'input':
        this.#type(message.data);
        break;
      case 'resize':
        this.#mayWrite('resize');
        terminal.resize({ cols: message.cols ?? terminal.size.cols, rows: message.rows ?? terminal.size.rows });
        this.#size = sizeOf(terminal);
        this.deps.attaching.keep();
        break;
      case 'signal':
        this.#mayWrite('signal');
        if (!terminal.signal(message.signal)) throw new CoreError('terminal_ended', 'nobody is in the foreground');
        break;
      case 'ack':
        this.#attachment.ack(message.offset);
        break;
      case 'ping':
        this.#tell(timedMessage('pong', message.timestamp ?? null));
        break;
      case 'pong':
        break;
    }
  }

  #type(typed: string | Uint8Array): void {
    this.#mayWrite('input');
    this.#input.type(typeof typed === 'string' ? Buffer.from(typed) : typed);
  }

  #mayWrite(what: string): void {
    if (this.options.isWriter) return;
    throw new CoreError('forbidden', `${what} was left out: this socket only reads`, {
      hint: 'Attach with mode=rw.',
    });
  }

  #ping(): void {
    this.#tell(timedMessage('ping', Date.now()));
    this.socket.ping(String(this.#attachment.offset));
  }

  /** What a client answers by itself tells how much has arrived; one question at a time, and none for each key. */
  #askSoon(): void {
    if (!this.options.isDurable || this.#asked !== null || this.#isClosed) return;
    this.#asking ??= setTimeout(() => this.#ask(), askWithinMs);
  }

  #ask(): void {
    this.#asking = null;
    this.#asked = this.#attachment.offset;
    this.socket.ping(String(this.#asked));
  }

  #detach(detachment: Detachment): void {
    const { offset } = this.#attachment;
    if (detachment.kind === 'ended') {
      this.#tell(exitMessage(detachment.end, offset));
      this.#close(closeCodes.ended, 'ended');
      return;
    }
    const why = detachment.kind === 'stalled' ? 'too slow' : 'the daemon is going';
    this.#close(closeCodes[detachment.kind], `${why}: go on with offset=${offset}`);
  }

  #close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.socket.close(code, reason);
  }

  #refuse(error: unknown): void {
    if (error instanceof CoreError) this.#tell(errorMessage(error));
    else this.deps.stream.onFault(error);
  }

  #tellTitle(title: string | null): void {
    if (title === null || title === this.#title) return;
    this.#title = this.deps.terminal.title = title;
    this.#tell({ type: 'title', title, data: title });
  }

  #tell(message: object): void {
    this.socket.send(JSON.stringify(message));
  }
}

function sizeOf({ size }: Terminal): string {
  return `${size.cols}x${size.rows}`;
}
