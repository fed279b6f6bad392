/** `sandbox_execute_bash`: runs a command in a shell that keeps its directory and variables between calls. */
import { z } from 'zod';
import type { ExecAnswer, ExecSpec } from '../../../core/terminals/exec/record.ts';
import type { Terminal, TerminalUse } from '../../../core/terminals/session/terminal.ts';
import { shellNews } from '../../../core/terminals/session/start-up.ts';
import { Deadline } from '../../../kit/deadline.ts';
import { installAdvice } from '../../../kit/text/install-advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import { clientId, seconds, systemText } from '../../../operations/inputs.ts';
import { TerminalExec } from '../../v2/terminals/views.ts';
import { tool, type McpDeps, type ToolCall, type ToolResult } from '../app.ts';
import { endJob } from '../end-job.ts';
import { asLines, cutText, firstLine, footer } from '../text.ts';

/** All calls that name no session share this one. */
const sharedSession = 'mcp';
/** Below the 60 s after which common clients give up. */
const defaultTimeoutSeconds = 30;
/** Programs that would wait for a key print instead, and npm draws no spinner between its lines. */
const environment = {
  ...{ PAGER: 'cat', GIT_PAGER: 'cat', MANPAGER: 'cat', SYSTEMD_PAGER: 'cat' },
  npm_config_progress: 'false',
};
const size = { cols: 160, rows: 40 };

const Input = z.object({
  cmd: systemText.describe('Bash, any number of lines. Empty: wait for what runs in the session and show its output.'),
  cwd: systemText.min(1).optional().describe('Change to this directory first.'),
  timeout: seconds
    .default(defaultTimeoutSeconds)
    .describe('Seconds to wait for the end; then it goes on running. A busy shell refuses the command at once.'),
  new_session: z.boolean().default(false).describe('Run in a new shell instead of the shared one.'),
  session_id: clientId.optional().describe('Run in the shell of an earlier answer.'),
  truncate: z.boolean().default(true).describe('Cut output to 30 000 characters.'),
  interrupt: z.boolean().default(false).describe('First end what runs in the session.'),
  kill_on_cancel: z.boolean().default(false).describe('End the command if this call is cancelled.'),
});
type Input = z.output<typeof Input>;

const { shape: exec } = TerminalExec;
const Output = z.object({
  session_id: exec.session_id,
  command: exec.command.nullable(),
  status: exec.status,
  exit_code: exec.exit_code,
  output: exec.output,
  cwd: z.string().describe('The directory of the shell now.'),
  truncated: exec.truncated,
  output_file: z.string().nullable().describe('A file with the whole output, when it was cut.'),
});
type Output = z.input<typeof Output>;

/** How a command stands when the call ends. */
type Outcome = Pick<ExecAnswer, 'status' | 'output' | 'exitCode' | 'isTruncated'> & { readonly command: string | null };

export const executeBash = tool({
  name: 'sandbox_execute_bash',
  title: 'Run a shell command',
  description:
    'Run a command in a bash shell of the sandbox. cd, exports and background jobs persist between calls. ' +
    'Answers with the output, the exit code and the directory. stdin is a terminal: pass input with pipes or flags.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: Input,
  output: Output,
  async run(deps, input, call) {
    using use = await openSession(deps, input);
    const { terminal } = use;
    terminal.touch();
    if (input.interrupt) await endJob(terminal, deps.closing);
    const outcome =
      input.cmd.trim() === '' ? await look(terminal, input, call) : await runCommand(deps, terminal, input, call);
    return await describe(terminal, outcome, input, call);
  },
});

async function openSession({ terminals }: McpDeps, input: Input): Promise<TerminalUse> {
  const { new_session: isNew, session_id: named } = input;
  if (isNew && named !== undefined) {
    throw new CoreError('bad_argument', 'new_session and session_id exclude each other', {
      hint: 'Leave one of the two out.',
    });
  }
  if (named !== undefined) return terminals.get(named).use();
  return await terminals.open({
    id: isNew ? null : sharedSession,
    cwd: null,
    env: environment,
    user: null,
    size,
    retention: isNew ? 'expiring' : 'persistent',
    noChangeTimeoutMs: null,
    isTransient: isNew,
  });
}

async function runCommand(deps: McpDeps, terminal: Terminal, input: Input, call: ToolCall): Promise<Outcome> {
  const { cwd } = input;
  const directory =
    cwd === undefined ? null : deps.terminals.execDirectory(terminal, { path: cwd, isLogical: true, isRequired: true });
  const spec = {
    command: input.cmd,
    timeoutMs: input.timeout * 1000,
    hardTimeoutMs: null,
    noChangeTimeoutMs: null,
    isAsync: false,
    isTruncated: false,
    onBusy: 'failSoon',
    directory,
  } as const;
  const answer = call.onOutput
    ? await follow(terminal, spec, call.onOutput, call.signal)
    : await terminal.exec.run(spec, call.signal);
  if (answer.status !== 'running' || !input.kill_on_cancel || !call.isCancelled()) return answer;
  const { status, exitCode } = await endJob(terminal, deps.closing);
  return { ...answer, status, exitCode };
}

async function follow(
  terminal: Terminal,
  spec: ExecSpec,
  onOutput: (text: string) => void,
  signal: AbortSignal,
): Promise<ExecAnswer> {
  const stream = terminal.exec.stream(spec, signal);
  for (;;) {
    const { done, value } = await stream.next();
    if (done === true) return value;
    onOutput(value);
  }
}

/** Waits for what runs, and reports that command, or else the last one. */
async function look(terminal: Terminal, { timeout }: Input, { signal }: ToolCall): Promise<Outcome> {
  using deadline = new Deadline(timeout * 1000, signal);
  await terminal.job.over(deadline.signal);
  const { current } = terminal.exec;
  if (current) {
    const answer = current.answer(await current.outcome(null, deadline.signal), false);
    return answer;
  }
  const { status, command, exitCode, console } = terminal.job.look();
  return { status, command, exitCode, output: console.at(-1)?.output ?? '', isTruncated: false };
}

async function describe(
  terminal: Terminal,
  outcome: Outcome,
  input: Input,
  call: ToolCall,
): Promise<ToolResult<Output>> {
  const { command, status, exitCode } = outcome;
  const shown = input.truncate
    ? await cutText(outcome.output, call.outputs)
    : { text: outcome.output, isCut: false, file: null };
  const cwd = terminal.directory;
  const session = terminal.id === sharedSession ? null : `session_id ${terminal.id}`;
  const facts = footer(firstLine(command ?? 'nothing has run yet'), stateOf(outcome), `cwd ${cwd}`, session);
  const news = shellNews(terminal);
  const hint = `${news === null ? '' : `\n${news}`}${status === 'running' ? `\n${continuation(terminal.id, call)}` : ''}`;
  const install = exitCode ? installAdvice(outcome.output, exitCode) : null;
  const next = install === null ? '' : `\n${install}`;
  return {
    text: `${asLines(shown.text)}${facts}${hint}${next}`,
    data: {
      session_id: terminal.id,
      command,
      status,
      exit_code: exitCode,
      output: shown.text,
      cwd,
      truncated: shown.isCut || outcome.isTruncated,
      output_file: shown.file,
    },
  };
}

function stateOf({ command, status, exitCode }: Outcome): string | null {
  if (command === null) return null;
  if (status === 'running') return 'still running';
  if (status !== 'completed') return 'ended before it was done';
  return exitCode === null ? 'ended' : `exit ${exitCode}`;
}

function continuation(id: string, { isCancelled, signal }: ToolCall): string {
  const session = id === sharedSession ? '' : ` and session_id ${id}`;
  const reason = isCancelled() ? 'The call was cancelled. ' : signal.aborted ? 'The daemon is closing. ' : '';
  return (
    `${reason}The command goes on. Call again with an empty cmd${session} to wait for it, ` +
    'with interrupt to end it, or with new_session to work beside it.'
  );
}
