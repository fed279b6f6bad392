/** The v2 routes that attach a WebSocket to a terminal. */
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { startOf } from '../../core/terminals/attachment.ts';
import { SocketUpgrade } from '../../http/socket.ts';
import { CoreError } from '../../kit/errors.ts';
import { HandedOver } from '../../kit/handed-over.ts';
import { route } from './app.ts';
import { environment, systemText } from './inputs.ts';
import { TerminalPath } from './terminal-inputs.ts';
import { TerminalSocket } from './terminal-socket.ts';
import { cols, rows } from './terminal-views.ts';

const protocol = z
  .enum(['json', 'binary'])
  .default('json')
  .describe('binary: what the terminal shows comes as it is, in binary frames, and those of the client are typed.');
const mebibyte = 1024 * 1024;
const environmentText = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('must be a JSON object'); // The words of the parser are about its own place in the text.
      return z.NEVER;
    }
  })
  .pipe(environment)
  .describe('A JSON object: what the shell finds in its environment; null unsets.');

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
      .describe('true: begin with what was shown since a durable socket was last there; false: with what comes now.'),
    restore: z.boolean().default(false).describe('Begin with the screen as it is, and its scrollback.'),
    replay_bytes: z
      .number()
      .int()
      .min(mebibyte / 4)
      .max(10 * mebibyte)
      .default(10 * mebibyte)
      .describe('Of what restore sends, at most.'),
    cols: cols.optional().describe('Columns, set as the socket opens.'),
    rows: rows.optional().describe('Rows, set as the socket opens.'),
    mode: z.enum(['rw', 'ro']).default('rw').describe('ro: only reads.'),
    offset: z
      .number()
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Begin with the byte at this position of all output; comes before durable and restore.'),
  }),
  socket: true,
  errors: ['terminal_not_found', 'capacity_reached', 'unavailable'],
  async handle({ terminals, screens, closing }, { params, query, context }) {
    // What connections that have broken since brought is taken first: `input_offset` and durable places count on it.
    // The first turn of the event loop is the rest of this one; the second is behind a look at all connections.
    await turn();
    await turn();
    const terminal = terminals.get(params.id);
    const isWriter = query.mode === 'rw';
    if (isWriter && (query.cols ?? query.rows) !== undefined && !terminal.isTerminated) {
      terminal.resize({ cols: query.cols ?? terminal.size.cols, rows: query.rows ?? terminal.size.rows });
      terminals.keep();
    }
    const isRestored = query.restore && query.offset === undefined;
    const restored = isRestored ? await screens.restore(terminal, query.replay_bytes) : null;
    const from = startOf(terminal, restored?.offset ?? query.offset ?? null, query.durable);
    const stream = context.openStream();
    return new SocketUpgrade(
      new TerminalSocket(
        { terminal, attaching: terminals.attaching, closing, stream, onClose() {} },
        {
          protocol: query.protocol,
          isWriter,
          isDurable: query.durable,
          from,
          isResumed: terminal.record.relayed !== undefined,
          restored: restored?.data ?? null,
        },
      ),
    );
  },
});

export const openShell = route({
  operation: 'terminals.shell',
  method: 'GET',
  path: '/v2/pty/ws',
  summary: 'Open a shell that lives as long as this WebSocket (docs/protocols/terminal.md)',
  query: z.object({
    protocol,
    cwd: systemText.min(1).optional().describe('Where it starts; the workspace otherwise.'),
    user: systemText.min(1).optional().describe('Its account; the default account otherwise.'),
    env: environmentText.optional(),
    cols: cols.default(80),
    rows: rows.default(24),
  }),
  socket: true,
  errors: ['bad_argument', 'capacity_reached', 'unavailable', 'no_space_left'],
  async handle({ terminals, closing }, { query, context }) {
    const stream = context.openStream();
    try {
      const terminal = await terminals.create({
        id: null,
        cwd: query.cwd ?? null,
        env: query.env ?? {},
        user: query.user ?? null,
        size: { cols: query.cols, rows: query.rows },
        retention: null,
        noChangeTimeoutMs: null,
        isTied: true,
      });
      const onClose = () => {
        terminals.close(terminal.id).catch((error: unknown) => {
          // Somebody else has closed it, or the daemon that has it now will.
          if (!(error instanceof CoreError || error instanceof HandedOver)) stream.onFault(error);
        });
      };
      return new SocketUpgrade(
        new TerminalSocket(
          { terminal, attaching: terminals.attaching, closing, stream, onClose },
          {
            protocol: query.protocol,
            isWriter: true,
            isDurable: false,
            from: 0,
            isResumed: false,
            restored: null,
          },
        ),
      );
    } catch (error) {
      stream.onEnd(0);
      throw error;
    }
  },
});
