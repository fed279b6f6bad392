/** The v2 route that runs a command in the shell of a terminal session. */
import { z } from 'zod';
import type { ExecStatus } from '../../../core/terminals/exec/record.ts';
import { shellNews } from '../../../core/terminals/session/start-up.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { Answer } from '../../../kit/answer.ts';
import { stoppingMessage } from '../../../http/route/stopping.ts';
import { route } from '../app.ts';
import { milliseconds, seconds, systemText } from '../../../operations/inputs.ts';
import { noChangeTimeout, TerminalPath } from './inputs.ts';
import { TerminalExec } from './views.ts';

const hints: Readonly<Partial<Record<ExecStatus, string>>> = {
  running:
    'The command continues: GET /v2/pty/sessions/{id}/screen shows it, input types into it, signal interrupts it.',
  no_change_timeout:
    'The command is quiet and continues: GET /v2/pty/sessions/{id}/screen shows it, input types into it, signal interrupts it.',
};

export const execInTerminal = route({
  operation: 'terminals.exec',
  method: 'POST',
  path: '/v2/pty/sessions/{id}/exec',
  summary: 'Run a command in the shell of a terminal session',
  params: TerminalPath,
  body: z.object({
    command: systemText.min(1).describe('As it would be typed, of any length and number of lines.'),
    timeout: seconds
      .nullable()
      .default(null)
      .describe('Seconds that the call waits; then the answer is running and the command continues.'),
    hard_timeout: seconds
      .nullable()
      .default(null)
      .describe('Seconds after which the command is stopped: SIGINT, then SIGTERM, then SIGKILL.'),
    no_change_timeout: noChangeTimeout.optional().describe('For this call; the value of the session by default.'),
    async: z.boolean().default(false).describe('Answer at once.'),
    truncate: z.boolean().default(true).describe('Cut output to 30 000 characters; to 8 MiB otherwise.'),
    on_busy: z
      .enum(['wait', 'fail'])
      .default('wait')
      .describe('wait: for its turn, within timeout; fail: answer 409 when something runs.'),
  }),
  data: TerminalExec,
  errors: [
    'terminal_not_found',
    'terminal_ended',
    'terminal_busy',
    'bad_argument',
    'unavailable',
    'capacity_reached',
    'no_space_left',
    'not_implemented',
  ],
  async handle({ terminals, closing }, { params, body, context }) {
    const terminal = terminals.get(params.id);
    terminal.touch();
    const { no_change_timeout: quiet } = body;
    const spec = {
      command: body.command,
      timeoutMs: milliseconds(body.timeout),
      hardTimeoutMs: milliseconds(body.hard_timeout),
      noChangeTimeoutMs: quiet === undefined ? terminal.record.noChangeTimeoutMs : milliseconds(quiet),
      isAsync: body.async,
      isTruncated: body.truncate,
      onBusy: body.on_busy,
    };
    using waiting = new Deadline(null, context.signal, closing);
    const answer = await terminal.exec.run(spec, waiting.signal);
    const result = {
      session_id: params.id,
      command: answer.command,
      status: answer.status,
      output: answer.output,
      console: [...answer.console],
      exit_code: answer.exitCode,
      truncated: answer.isTruncated,
    };
    if (answer.status === 'running' && closing.aborted)
      return new Answer(result, { message: stoppingMessage('command') });
    const texts = [shellNews(terminal), hints[answer.status]?.replace('{id}', params.id)].filter(Boolean);
    return texts.length === 0 ? new Answer(result) : new Answer(result, { hint: texts.join(' ') });
  },
});
