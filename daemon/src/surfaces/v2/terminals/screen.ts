/** The v2 routes that return the current screen, the history and the recording of a terminal session. */
import { z } from 'zod';
import { recordingOf, type Recording, type RecordingEvent } from '../../../core/terminals/screen/recording.ts';
import { terminalStatuses, type Terminal } from '../../../core/terminals/session/terminal.ts';
import { Answer } from '../../../kit/answer.ts';
import { RawReply } from '../../../http/stream/raw.ts';
import { route } from '../app.ts';
import { TerminalPath } from './inputs.ts';
import { cols, namedObject, rows } from '../../../operations/inputs.ts';

const ScreenQuery = z.object({
  wait_for: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('Answer once this regular expression is found in the text of scrollback and screen.'),
  wait_stable_ms: z
    .int()
    .min(0)
    .max(60_000)
    .optional()
    .describe(
      'Answer once nothing has changed for this long, in milliseconds. With wait_for, the time starts after the match.',
    ),
  timeout: z.number().min(0).max(300).default(30).describe('Maximum wait in seconds, for both conditions together.'),
});

export const getTerminalScreen = route({
  operation: 'terminals.screen',
  method: 'GET',
  path: '/v2/pty/sessions/{id}/screen',
  summary: 'Read the screen of a terminal session, at once or when a condition is met',
  params: TerminalPath,
  query: ScreenQuery,
  data: namedObject('TerminalScreen', {
    session_id: z.string(),
    status: z.enum(terminalStatuses),
    output: z.string().describe('Scrollback and screen as text; wrapped lines are joined.'),
    cols,
    rows,
    cursor: z.object({
      x: z.int().describe('Column, counted from 0.'),
      y: z.int().describe('Row of the screen, counted from 0.'),
      visible: z.boolean(),
    }),
    lines: z.array(z.string()).describe('The rows of the screen, without trailing blanks.'),
    ansi: z.string().describe('Escape sequences that draw this screen in a terminal of the same size, after a reset.'),
    alt_screen: z.boolean().describe('A full-screen program uses the alternate screen.'),
    title: z.string().nullable(),
    scrollback_lines: z.int().describe('Number of rows above the screen.'),
    matched: z.boolean().nullable().describe('Whether wait_for was found; null without it.'),
    stable: z.boolean().nullable().describe('Whether the screen was stable for wait_stable_ms; null without it.'),
    command: z.string().nullable().describe('The last command that exec ran.'),
    console: z.array(z.object({ ps1: z.string(), command: z.string(), output: z.string() })),
    exit_code: z.int().nullable().describe('Exit code of that command, or of the shell once the shell has ended.'),
  }),
  errors: ['terminal_not_found', 'bad_argument'],
  async handle({ terminals, screens, closing }, { params, query, context }) {
    const terminal = terminals.get(params.id);
    terminal.touch();
    const { isMatched, isStable } = await screens.wait(
      terminal,
      {
        pattern: query.wait_for ?? null,
        stableMs: query.wait_stable_ms ?? null,
        timeoutMs: query.timeout * 1000,
      },
      context.signal,
      closing,
    );
    const { text, isAltScreen, scrollbackLines, cursor, ...shown } = await screens.look(terminal);
    const screen = {
      session_id: terminal.id,
      status: terminal.status,
      output: text,
      cols: shown.cols,
      rows: shown.rows,
      cursor: { x: cursor.x, y: cursor.y, visible: cursor.isVisible },
      lines: [...shown.lines],
      ansi: shown.ansi,
      alt_screen: isAltScreen,
      title: shown.title,
      scrollback_lines: scrollbackLines,
      matched: isMatched,
      stable: isStable,
      ...lastExec(terminal),
    };
    return isMatched === false ? new Answer(screen, notFound(terminal, query.timeout)) : screen;
  },
});

function notFound({ id, isTerminated }: Terminal, timeout: number): { message: string; hint: string } {
  const when = isTerminated ? 'before the shell ended' : `within ${timeout} s`;
  return {
    message: `wait_for was not found in scrollback and screen ${when}; data has the current screen`,
    hint: isTerminated
      ? 'Read data.output, which has the output of the shell.'
      : `Compare wait_for with data.output, or call GET /v2/pty/sessions/${id}/screen with a longer timeout.`,
  };
}

/** The last command run through exec. After the shell has ended, with the shell's exit code. */
function lastExec({ isTerminated, end, exec: { last } }: Terminal) {
  const shellExitCode = end?.kind === 'exited' ? end.exitCode : null;
  return {
    command: last?.command ?? null,
    console: last ? [...last.console] : [],
    exit_code: isTerminated ? shellExitCode : (last?.exitCode ?? null),
  };
}

export const getTerminalRecording = route({
  operation: 'terminals.recording',
  method: 'GET',
  path: '/v2/pty/sessions/{id}/recording',
  summary: 'Download the kept output of a terminal session as an asciicast',
  params: TerminalPath,
  raw: {
    contentType: 'application/x-asciicast',
    description: 'asciicast, version 2: a header, then one event per line',
  },
  errors: ['terminal_not_found', 'capacity_reached'],
  handle({ terminals }, { params }) {
    const terminal = terminals.get(params.id);
    const recording = recordingOf(terminal, Date.now());
    return new RawReply(
      { kind: 'pieces', pieces: () => pieces(recording) },
      {
        'content-type': 'application/x-asciicast',
        'content-disposition': `attachment; filename="${terminal.id}.cast"`,
        'cache-control': 'no-store',
      },
    );
  },
});

const encoder = new TextEncoder();

async function* pieces({ header, events }: Recording): AsyncGenerator<Uint8Array> {
  yield encoder.encode(`${JSON.stringify(headerLine(header))}\n`);
  for (const event of events) yield encoder.encode(`${JSON.stringify(eventLine(event))}\n`);
}

function headerLine({ size, startedMs, title }: Recording['header']): object {
  const named = title === null ? {} : { title };
  const timestamp = Math.floor(startedMs / 1000);
  return { version: 2, width: size.cols, height: size.rows, timestamp, ...named, env: { TERM: 'xterm-256color' } };
}

/** Asciicast times are in seconds. */
function eventLine(event: RecordingEvent): [number, 'o' | 'r', string] {
  const seconds = Math.round(event.atMs) / 1000;
  if (event.kind === 'output') return [seconds, 'o', event.text];
  return [seconds, 'r', `${event.size.cols}x${event.size.rows}`];
}
