/** The WebSocket of a 1.x shell: its screen as it is, then what it shows; and what is typed comes in. */
import { z } from 'zod';
import { AttachedInput } from '../../core/terminals/attached-input.ts';
import { Attachment, type Detachment, type Viewer } from '../../core/terminals/attachment.ts';
import type { Attaching } from '../../core/terminals/attaching.ts';
import type { ScreenRestore } from '../../core/terminals/screen.ts';
import type { Terminal } from '../../core/terminals/terminal.ts';
import { Heartbeat } from '../../http/heartbeat.ts';
import { SocketUpgrade, type Socket, type SocketHandler } from '../../http/socket.ts';
import type { StreamEvents } from '../../http/stream-body.ts';
import { Deadline } from '../../kit/deadline.ts';
import { CoreError } from '../../kit/errors.ts';
import { decodeUtf8, wholeUtf8Length } from '../../kit/text.ts';
import { route } from './app.ts';
import { frame, readFrame, timedFrame, type ClientFrame } from './shell-frames.ts';
import { wireId } from './shell-ids.ts';
import { sessionId } from './shell-inputs.ts';
import { openSession } from './shell-lookup.ts';
import { refusalOfV1 } from './wording.ts';

/** Of the screen and what is above it. */
const replayBytes = 1024 * 1024;
/** Answers to a client that asks and does not read: a replay and a piece of output are less. */
const mostUnreadBytes = 4 * 1024 * 1024;
const closeCodes = { ended: 4000, stalled: 4003, stopped: 1001 } as const;
const reasons = { ended: 'the shell has ended', stalled: 'too slow', stopped: 'the daemon is going' } as const;
/** Leaves nothing of what a client that comes back has shown before. */
const reset = '\x1bc';

export const attach = route({
  operation: 'shell.attach_v1',
  method: 'GET',
  path: '/v1/shell/ws',
  summary: 'Attach a WebSocket to a shell session: JSON frames of type and data',
  query: z.object({
    session_id: sessionId.optional().describe('Created when it is not there; one of its own when left out or empty.'),
  }),
  socket: true,
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals, screens, closing }, { query, context }) {
    const stream = context.openStream();
    try {
      const terminal = await openSession(terminals, { id: query.session_id }, context.signal);
      const replay = await screens.restore(terminal, replayBytes);
      return new SocketUpgrade(new ShellSocket({ terminal, attaching: terminals.attaching, closing, stream, replay }));
    } catch (error) {
      stream.onEnd(0);
      throw error;
    }
  },
});

interface ShellSocketDeps {
  readonly terminal: Terminal;
  readonly attaching: Attaching;
  /** The daemon is going. */
  readonly closing: AbortSignal;
  readonly stream: StreamEvents;
  readonly replay: ScreenRestore;
}

class ShellSocket implements SocketHandler {
  #session: OpenSession | null = null;

  constructor(private readonly deps: ShellSocketDeps) {}

  open(socket: Socket): void {
    this.#session = new OpenSession(socket, this.deps);
    this.#session.start();
  }

  message(_socket: Socket, message: string | Uint8Array): void {
    this.#session?.take(message);
  }

  pong(): void {
    this.#session?.heard();
  }

  close(): void {
    this.#session?.closed();
    this.deps.stream.onEnd(this.#session?.sentBytes ?? 0);
  }

  refused(): void {
    this.deps.stream.onEnd(0);
  }
}

class OpenSession implements Viewer {
  sentBytes = 0;
  readonly #attachment: Attachment;
  readonly #input: AttachedInput;
  readonly #heartbeat: Heartbeat;
  /** Fires when the socket has closed, or the daemon is going. */
  readonly #stop: Deadline;
  #isClosed = false;

  constructor(
    private readonly socket: Socket,
    private readonly deps: ShellSocketDeps,
  ) {
    const { terminal, attaching, closing, replay } = deps;
    this.#stop = new Deadline(null, closing, attaching.left);
    this.#attachment = new Attachment(terminal, attaching, this, {
      from: replay.offset,
      isWriter: true,
      isDurable: false,
      signal: this.#stop.signal,
    });
    // What somebody has typed before they went is typed.
    this.#input = new AttachedInput(terminal, attaching, (error) => this.#refuse(error));
    this.#heartbeat = new Heartbeat({
      ask: () => this.#ping(),
      giveUp: () => this.#close(closeCodes.stalled, 'no answer to pings'),
    });
  }

  get bufferedBytes(): number {
    return this.socket.bufferedBytes;
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.socket.drained(signal);
  }

  start(): void {
    const { terminal, replay, stream } = this.deps;
    this.socket.send(frame('session_id', wireId(terminal.id)));
    this.socket.send(frame('ready', 'Terminal ready'));
    this.#ping();
    if (replay.data !== '') this.#tell('output', `${reset}${replay.data}`);
    this.#attachment.run().then(
      (detachment) => this.#detach(detachment),
      (error: unknown) => {
        stream.onFault(error);
        this.#close(1011, 'internal error');
      },
    );
  }

  show(bytes: Uint8Array, _offset: number, isLast: boolean): number {
    const count = isLast ? bytes.length : wholeUtf8Length(bytes);
    if (count > 0) this.#tell('output', decodeUtf8(bytes.subarray(0, count)));
    return count;
  }

  gap(from: number, to: number): void {
    this.#tell('error', `${to - from} bytes of output were left out`);
  }

  resized(): void {
    // There is no frame for it: the next thing that is drawn fits.
  }

  heard(): void {
    this.#heartbeat.heard();
  }

  take(message: string | Uint8Array): void {
    this.heard();
    if (this.bufferedBytes > mostUnreadBytes) {
      this.#close(closeCodes.stalled, reasons.stalled);
      return;
    }
    try {
      this.#act(readFrame(message));
    } catch (error) {
      this.#refuse(error);
    }
  }

  closed(): void {
    this.#isClosed = true;
    this.#heartbeat[Symbol.dispose]();
    this.#stop[Symbol.dispose]();
  }

  #act(message: ClientFrame): void {
    const { terminal, attaching } = this.deps;
    switch (message.type) {
      case 'input':
        this.#input.type(Buffer.from(message.data));
        break;
      case 'resize':
        terminal.resize(message.data);
        attaching.keep();
        break;
      case 'ping':
        this.socket.send(timedFrame('pong', message.timestamp ?? message.data ?? null));
        break;
      case 'pong':
        break;
    }
  }

  #ping(): void {
    this.socket.send(timedFrame('ping', Date.now()));
    this.socket.ping(''); // Those who do not answer the frame answer this one by themselves.
  }

  #detach({ kind }: Detachment): void {
    this.#close(closeCodes[kind], reasons[kind]);
  }

  #close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.socket.close(code, reason);
  }

  #refuse(error: unknown): void {
    if (!(error instanceof CoreError)) {
      this.deps.stream.onFault(error);
      return;
    }
    const { message, hint } = refusalOfV1(error, { namesExecDir: true });
    this.#tell('error', `${message}. ${hint ?? ''}`.trim());
  }

  #tell(type: 'output' | 'error', data: string): void {
    this.socket.send(frame(type, data));
    if (type === 'output') this.sentBytes += Buffer.byteLength(data);
  }
}
