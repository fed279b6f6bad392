/** The WebSocket of a 1.x shell: sends the current screen, then new output, and takes input. */
import { z } from 'zod';
import { ViewerSession, type Display, type SessionEnd } from '../../core/terminals/attach/viewer-session.ts';
import type { Terminal } from '../../core/terminals/session/terminal.ts';
import { sessionHandler, SocketUpgrade } from '../../http/stream/socket.ts';
import type { CoreError } from '../../kit/errors.ts';
import { decodeUtf8 } from '../../kit/text/text.ts';
import type { Socket } from '../../kit/types/socket.ts';
import { route } from './app.ts';
import { frame, readFrame, timedFrame } from './shell-frames.ts';
import { wireId } from './shell-ids.ts';
import { sessionId } from './shell-inputs.ts';
import { openSession } from './shell-lookup.ts';
import { refusalOfV1 } from './refusal.ts';

/** Covers the screen and its scrollback. */
const replayBytes = 1024 * 1024;
/** The limit for a client that asks and does not read. A replay and a piece of output stay below it. */
const maxUnreadBytes = 4 * 1024 * 1024;
const closings = {
  ended: [4000, 'the shell has ended'],
  stalled: [4003, 'too slow'],
  silent: [4003, 'no answer to pings'],
  stopped: [1001, 'the daemon is going'],
  failed: [1011, 'internal error'],
} as const;
/** Clears everything that a reconnecting client has shown before. */
const reset = '\x1bc';

export const attach = route({
  operation: 'shell.attach_v1',
  method: 'GET',
  path: '/v1/shell/ws',
  summary: 'Attach a WebSocket to a shell session: JSON frames of type and data',
  query: z.object({
    session_id: sessionId.optional().describe('Created if it does not exist; a new session when absent or empty.'),
  }),
  socket: {},
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals, screens, closing }, { query, context }) {
    const stream = context.openStream();
    try {
      using opened = await openSession(terminals, { id: query.session_id }, context.signal);
      const { terminal } = opened;
      const replay = await screens.restore(terminal, replayBytes);
      const use = terminal.use();
      const onFault = (error: unknown) => stream.onFault(error);
      const deps = { terminal, clients: terminals.clients, closing, onFault };
      const options = { from: replay.offset, isWriter: true, isDurable: false, takesAnyPiece: false, maxUnreadBytes };
      const handler = sessionHandler(
        (socket) => {
          use[Symbol.dispose](); // The session attaches before anything else runs.
          return new ViewerSession(socket, new ShellSocket(socket, terminal, replay.data), deps, options);
        },
        (sentBytes) => {
          use[Symbol.dispose]();
          stream.onEnd(sentBytes);
        },
      );
      return new SocketUpgrade(handler);
    } catch (error) {
      stream.onEnd(0);
      throw error;
    }
  },
});

class ShellSocket implements Display {
  sentBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly terminal: Terminal,
    private readonly replay: string,
  ) {}

  begin(session: ViewerSession): void {
    this.socket.send(frame('session_id', wireId(this.terminal.id)));
    this.socket.send(frame('ready', 'Terminal ready'));
    session.beat();
    if (this.replay !== '') this.#send(`${reset}${this.replay}`);
  }

  output(bytes: Uint8Array): boolean {
    return this.#send(decodeUtf8(bytes));
  }

  gap(from: number, to: number): void {
    this.socket.send(frame('error', `${to - from} bytes of output were left out`));
  }

  beat(): void {
    this.socket.send(timedFrame('ping', Date.now()));
  }

  refused(error: CoreError): void {
    const { message, hint } = refusalOfV1(error, { path: '/v1/shell/ws' });
    this.socket.send(frame('error', `${message}. ${hint ?? ''}`.trim()));
  }

  end({ kind }: SessionEnd): void {
    const [code, reason] = closings[kind];
    this.socket.close(code, reason);
  }

  receive(received: string | Uint8Array, session: ViewerSession): void {
    const message = readFrame(received);
    switch (message.type) {
      case 'input':
        session.type(Buffer.from(message.data));
        break;
      case 'resize':
        session.resize(message.data);
        break;
      case 'ping':
        this.socket.send(timedFrame('pong', message.timestamp ?? message.data ?? null));
        break;
      case 'pong':
        break;
    }
  }

  #send(text: string): boolean {
    this.sentBytes += Buffer.byteLength(text);
    return this.socket.send(frame('output', text));
  }
}
