/** The v2 routes that attach a WebSocket to a terminal. */
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { startOf } from '../../../core/terminals/attach/attachment.ts';
import { ViewerSession } from '../../../core/terminals/attach/viewer-session.ts';
import type { Terminal } from '../../../core/terminals/session/terminal.ts';
import { sessionHandler, SocketUpgrade } from '../../../http/stream/socket.ts';
import type { StreamEvents } from '../../../http/stream/stream-body.ts';
import { CoreError } from '../../../kit/errors.ts';
import { HandedOver } from '../../../kit/handed-over.ts';
import { route, type V2Deps } from '../app.ts';
import { cols, environment, rows, systemText } from '../../../operations/inputs.ts';
import type { TerminalSize } from '../../../kit/types/terminal-size.ts';
import { TerminalPath } from './inputs.ts';
import { TerminalClientFrame, TerminalServerFrame, transports } from './messages.ts';
import { TerminalSocket, type TerminalSocketOptions } from './socket.ts';

const protocol = z
  .enum(transports)
  .default('json')
  .describe(
    'binary: output arrives unchanged in binary frames, and the daemon types binary frames of the client as input.',
  );
const [minReplayBytes, maxReplayBytes] = [256 * 1024, 10 * 1024 * 1024];
const environmentText = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('must be a JSON object'); // The parser's message names a position in the text, which helps no client.
      return z.NEVER;
    }
  })
  .pipe(environment)
  .describe('A JSON object with environment variables of the shell; null unsets a variable.');

export const attachTerminal = route({
  operation: 'terminals.attach',
  method: 'GET',
  path: '/v2/pty/sessions/{id}/ws',
  summary: 'Attach a WebSocket to a terminal session (docs/protocols/terminal.md)',
  params: TerminalPath,
  query: z.object({
    protocol,
    durable: z
      .boolean()
      .default(true)
      .describe('true: start where the last durable socket stopped; false: start with new output.'),
    restore: z.boolean().default(false).describe('Start with the current screen and its scrollback.'),
    replay_bytes: z
      .int()
      .default(maxReplayBytes)
      .describe('Maximum bytes that restore sends; the daemon clamps values to the range from 256 KiB to 10 MiB.'),
    cols: cols.optional().describe('Columns to set when the socket opens.'),
    rows: rows.optional().describe('Rows to set when the socket opens.'),
    mode: z.enum(['rw', 'ro']).default('rw').describe('ro: the client only receives output.'),
    offset: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Start at this byte of the whole output; overrides durable and restore.'),
  }),
  socket: { sends: TerminalServerFrame, receives: TerminalClientFrame },
  errors: ['terminal_not_found', 'capacity_reached', 'unavailable'],
  async handle(deps, { params, query, context }) {
    const { terminals, screens } = deps;
    // Data of broken connections is handled first, because `input_offset` and durable positions depend on it. The
    // first turn of the event loop is the rest of the current turn. The second turn follows a poll of all connections.
    await turn();
    await turn();
    const terminal = terminals.get(params.id);
    const isWriter = query.mode === 'rw';
    const isSized = isWriter && (query.cols ?? query.rows) !== undefined && !terminal.isTerminated;
    const size = isSized ? { ...terminal.size, ...sizeOf(query) } : null;
    if (size !== null && terminal.viewerSizes.isFree) {
      terminal.resize(size);
      terminals.flush();
    }
    const isRestored = query.restore && query.offset === undefined;
    const replayBytes = Math.min(maxReplayBytes, Math.max(minReplayBytes, query.replay_bytes));
    const restored = isRestored ? await screens.restore(terminal, replayBytes) : null;
    const from = startOf(terminal, restored?.offset ?? query.offset ?? null, query.durable);
    const isResumed = terminal.record.relayed !== undefined;
    return socketOf(deps, terminal, context.openStream(), {
      ...{ protocol: query.protocol, isWriter, isDurable: query.durable, from },
      ...{ isResumed, restored: restored?.data ?? null, size: isWriter ? size : null },
    });
  },
});

function sizeOf({
  cols: wide,
  rows: high,
}: {
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
}) {
  return { ...(wide !== undefined && { cols: wide }), ...(high !== undefined && { rows: high }) };
}

/** Clients send the same parameters to both sockets. */
function withoutEffect<S extends z.ZodType>(schema: S) {
  return schema.optional().describe('Has no effect: the shell ends with its socket.');
}

export const openShell = route({
  operation: 'terminals.shell',
  method: 'GET',
  path: '/v2/pty/ws',
  summary: 'Open a shell that lives as long as this WebSocket (docs/protocols/terminal.md)',
  query: z.object({
    protocol,
    cwd: systemText.min(1).optional().describe('Initial directory; the workspace by default.'),
    user: systemText.min(1).optional().describe('Account of the shell; the default account if absent.'),
    env: environmentText.optional(),
    cols: cols.default(80),
    rows: rows.default(24),
    durable: withoutEffect(z.boolean()),
    restore: withoutEffect(z.boolean()),
    replay_bytes: withoutEffect(z.int()),
  }),
  socket: { sends: TerminalServerFrame, receives: TerminalClientFrame },
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle(deps, { query, context }) {
    const { terminals } = deps;
    const stream = context.openStream();
    try {
      using opened = await terminals.open({
        id: null,
        cwd: query.cwd ?? null,
        env: query.env ?? {},
        user: query.user ?? null,
        size: { cols: query.cols, rows: query.rows },
        retention: null,
        noChangeTimeoutMs: null,
        isTied: true,
      });
      const { terminal } = opened;
      const onClose = () => {
        terminals.close(terminal.id).catch((error: unknown) => {
          // Another client has closed the terminal, or the next daemon will.
          if (!(error instanceof CoreError || error instanceof HandedOver)) stream.onFault(error);
        });
      };
      const { protocol } = query;
      const options = { protocol, isWriter: true, isDurable: false, from: 0, isResumed: false, restored: null };
      return socketOf(deps, terminal, stream, options, onClose);
    } catch (error) {
      stream.onEnd(0);
      throw error;
    }
  },
});

/** Limit for a client that sends requests and reads no answers. A restored screen and a piece of output stay below it. */
const maxUnreadBytes = 12 * 1024 * 1024;

function socketOf(
  { terminals: { clients }, closing }: V2Deps,
  terminal: Terminal,
  stream: StreamEvents,
  options: TerminalSocketOptions & { readonly isDurable: boolean; readonly size?: TerminalSize | null },
  onClose: () => void = () => undefined,
): SocketUpgrade {
  const deps = { terminal, clients, closing, onFault: (error: unknown) => stream.onFault(error) };
  const takesAnyPiece = options.protocol === 'binary';
  const handler = sessionHandler(
    (socket) =>
      new ViewerSession(socket, new TerminalSocket(socket, terminal, options), deps, {
        ...options,
        takesAnyPiece,
        maxUnreadBytes,
      }),
    (sentBytes) => {
      stream.onEnd(sentBytes);
      onClose();
    },
  );
  return new SocketUpgrade(handler);
}
