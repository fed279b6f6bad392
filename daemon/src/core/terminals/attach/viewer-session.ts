/** One client at a terminal: shows the output, types the input, and ends when the client or the shell does. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { wholeUtf8Length } from '../../../kit/text/text.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';
import type { ChildEnd } from '../../../platform/process/spawn.ts';
import type { Terminal } from '../session/terminal.ts';
import { Heartbeat } from '../../../kit/heartbeat.ts';
import { Attachment, type Channel, type Viewer } from './attachment.ts';
import type { AttachedClients } from './clients.ts';
import { AttachedInput } from './input.ts';
import type { Viewer as SizedViewer } from './viewer-sizes.ts';
import { TitleScanner } from './title-scanner.ts';

export type SessionEnd =
  | { readonly kind: 'ended'; readonly end: ChildEnd | null }
  /** The client takes no output, or gives no sign of life. */
  | { readonly kind: 'stalled' | 'silent' }
  /** The daemon ends the session, because the daemon shuts down or because of a bug. */
  | { readonly kind: 'stopped' | 'failed' };

/** Translates between the session and the messages of one protocol. */
export interface Display {
  readonly sentBytes: number;
  /** Greets the client before any output. */
  begin(session: ViewerSession): void;
  /** The bytes are valid during this call only, and `to` is the offset after them. False if they were not sent. */
  output(bytes: Uint8Array, to: number): boolean;
  gap(from: number, to: number): void;
  resized?(): void;
  /** Without this method, the output is not searched for titles. */
  titled?(title: string): void;
  /** Asks the client for a sign of life. */
  beat(): void;
  refused(error: CoreError): void;
  /** Closes the connection. `offset` is that of the next byte to show. */
  end(end: SessionEnd, offset: number): void;
  /** Acts on a message. What is thrown goes to `refused`. */
  receive(message: string | Uint8Array, session: ViewerSession): void;
}

export interface ViewerSessionDeps {
  readonly terminal: Terminal;
  readonly clients: AttachedClients;
  /** Aborted when the daemon shuts down. */
  readonly closing: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

export interface ViewerSessionOptions {
  /** The offset of the first byte to show. */
  readonly from: number;
  readonly isWriter: boolean;
  readonly isDurable: boolean;
  /** The client takes pieces that end within a character. */
  readonly takesAnyPiece: boolean;
  /** The size that the client wants; null for none. Absent for a client that always sets the size. */
  readonly size?: TerminalSize | null;
  /** Limit of unread bytes for a client that sends messages. A restored screen and a piece of output stay below it. */
  readonly maxUnreadBytes: number;
}

const askWithinMs = 20;

export class ViewerSession implements Viewer {
  readonly #attachment: Attachment;
  readonly #input: AttachedInput;
  readonly #heartbeat = new Heartbeat({ ask: () => this.beat(), giveUp: () => this.#end({ kind: 'silent' }) });
  readonly #titles = new TitleScanner();
  readonly #viewer: SizedViewer | null;
  /** Aborted when the connection has closed or the daemon ends. */
  readonly #stop: Deadline;
  #title: string | null;
  #size: string;
  /** The offset that the pending ping asks about; null without a pending ping. */
  #asked: number | null = null;
  #asking: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(
    readonly channel: Channel,
    private readonly display: Display,
    private readonly deps: ViewerSessionDeps,
    private readonly options: ViewerSessionOptions,
  ) {
    const { terminal, clients, closing } = deps;
    this.#stop = new Deadline(null, closing, clients.left);
    this.#attachment = new Attachment(terminal, clients, this, { ...options, signal: this.#stop.signal });
    // Input from a client is still typed after the client has disconnected.
    this.#input = new AttachedInput(terminal, clients, (error) => this.#refuse(error));
    this.#viewer = options.size === undefined ? null : terminal.viewerSizes.join(options.size);
    this.#title = terminal.title;
    this.#size = sizeOf(terminal);
  }

  get sentBytes(): number {
    return this.display.sentBytes;
  }

  start(): void {
    this.display.begin(this);
    this.#attachment.run().then(
      (detachment) => this.#end(detachment),
      (error: unknown) => {
        this.deps.onFault(error);
        this.#end({ kind: 'failed' });
      },
    );
  }

  message(message: string | Uint8Array): void {
    this.#heartbeat.heard();
    if (this.channel.bufferedBytes > this.options.maxUnreadBytes) {
      this.#end({ kind: 'stalled' });
      return;
    }
    try {
      this.display.receive(message, this);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** The client answered a ping, and has received everything before the ping. */
  pong(text: string): void {
    this.#heartbeat.heard();
    const offset = Number(text);
    if (!Number.isSafeInteger(offset) || offset > this.#attachment.offset) return;
    this.#attachment.confirm(offset);
    if (offset !== this.#asked) return;
    this.#asked = null;
    if (this.#attachment.offset > offset) this.#askSoon();
  }

  close(isBroken: boolean): void {
    this.#heartbeat[Symbol.dispose]();
    clearTimeout(this.#asking ?? undefined);
    this.#stop[Symbol.dispose]();
    if (!this.#isClosed && !isBroken) this.#attachment.leave();
    this.#isClosed = true;
    this.#viewer?.leave();
  }

  /** The bytes must not change until they are typed. */
  type(bytes: Uint8Array): void {
    this.#viewer?.typed(bytes);
    this.#input.type(bytes);
  }

  /** Throws `terminal_ended`. */
  resize(change: Parameters<Terminal['resize']>[0]): void {
    const { terminal } = this.deps;
    const { cols, rows } = terminal.size;
    const wanted = { cols: change.cols ?? cols, rows: change.rows ?? rows };
    if (this.#viewer) this.#viewer.resize(wanted);
    else terminal.resize(change);
    this.#size = sizeOf(terminal);
    // A client that resizes its own screen first has to go back to the size of another client.
    if (this.#size !== `${wanted.cols}x${wanted.rows}`) this.display.resized?.();
  }

  /** The client has received the output up to this offset, and limits how many bytes are in flight. */
  ack(offset: number): void {
    this.#attachment.ack(offset);
  }

  /** Asks the client for a sign of life. */
  beat(): void {
    this.display.beat();
    this.channel.ping(String(this.#attachment.offset)); // Clients that ignore the message answer this ping.
  }

  show(bytes: Uint8Array, offset: number, isLast: boolean): number {
    const count = this.options.takesAnyPiece || isLast ? bytes.length : wholeUtf8Length(bytes);
    const shown = bytes.subarray(0, count);
    // A client whose connection has closed gets this output on its next connection.
    if (count === 0 || !this.display.output(shown, offset + count)) return 0;
    if (this.display.titled) this.#showTitle(this.#titles.scan(shown));
    this.#askSoon();
    return count;
  }

  gap(from: number, to: number): void {
    this.display.gap(from, to);
  }

  resized(): void {
    const size = sizeOf(this.deps.terminal);
    if (this.#size === size) return;
    this.#size = size;
    this.display.resized?.();
  }

  ask(): void {
    clearTimeout(this.#asking ?? undefined);
    this.#asking = null;
    this.#asked = this.#attachment.offset;
    this.channel.ping(String(this.#asked));
  }

  /** The answer to a ping shows how much has arrived. One such ping is pending at a time. */
  #askSoon(): void {
    if (!this.options.isDurable || this.#asked !== null || this.#isClosed) return;
    this.#asking ??= setTimeout(() => this.ask(), askWithinMs);
  }

  #showTitle(title: string | null): void {
    if (title === null || title === this.#title) return;
    this.#title = title;
    this.deps.terminal.title = title;
    this.display.titled?.(title);
  }

  #end(end: SessionEnd): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.display.end(end, this.#attachment.offset);
  }

  #refuse(error: unknown): void {
    if (!(error instanceof CoreError)) return this.deps.onFault(error);
    // The message about the end of the shell follows, and is the reason.
    if (error.code === 'terminal_ended' && this.deps.terminal.end !== null) return;
    this.display.refused(error);
  }
}

function sizeOf({ size }: Terminal): string {
  return `${size.cols}x${size.rows}`;
}
