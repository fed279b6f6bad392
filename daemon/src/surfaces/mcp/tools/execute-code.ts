/** `sandbox_execute_code`: runs Python or JavaScript, alone or in a session that keeps its state. */
import { z } from 'zod';
import { describeLoss, describeTimeout, errorAdvice, exitAdvice, lossAdvice } from '../../../core/code/cells/advice.ts';
import type { Cell } from '../../../core/code/cells/cell.ts';
import type { NotebookOutput } from '../../../core/code/cells/notebook.ts';
import { follow } from '../../../core/code/cells/follow.ts';
import { languageWordList, languageWords } from '../../../core/code/language.ts';
import type { CodeSession } from '../../../core/code/sessions/session.ts';
import { CellResult, cellResult, ExecuteBody } from '../../v2/code-views.ts';
import { tool, type ToolCall, type ToolResult } from '../app.ts';
import { asLines, cutText, footer } from '../text.ts';

const words = { ...languageWords, py: 'python' } as const;
const wordList = [...languageWordList, 'py'] as const;

const Input = z.object({
  code: ExecuteBody.shape.code,
  language: z.enum(wordList).default('python').describe('py is python; node and js are javascript.'),
  timeout: ExecuteBody.shape.timeout.describe('Seconds; then the code is interrupted.'),
  session_id: ExecuteBody.shape.session_id.describe(
    'Keep variables in a session of this name, new or existing; without it the code runs alone.',
  ),
  kill_on_cancel: z.boolean().default(false).describe('Interrupt the code if this call is cancelled.'),
});

const Output = CellResult.pick({
  language: true,
  session_id: true,
  exit_code: true,
  stdout: true,
  stderr: true,
  truncated: true,
  kernel: true,
}).extend({
  status: z.enum([...CellResult.shape.status.options, 'running']),
  result: z.string().nullable().describe('The value of the last expression.'),
  error: z.string().nullable().describe('The exception with its traceback.'),
  output_file: z.string().nullable().describe('A file with the whole output, when it was cut.'),
});

export const executeCode = tool({
  name: 'sandbox_execute_code',
  title: 'Run Python or JavaScript',
  description:
    'Run Python or JavaScript (Node.js, top-level await works). Answers with what was printed, the value of the last ' +
    'expression, pictures, and the traceback of an exception. Use session_id to keep state between calls.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: Input,
  output: Output,
  async run(deps, input, call) {
    const request = {
      language: words[input.language],
      kernel: null,
      code: input.code,
      sessionId: input.session_id ?? null,
      timeoutMs: input.timeout * 1000,
      cwd: null,
      env: {},
      user: null,
    };
    const { session, cell } = await deps.code.execute(request, deps.closing);
    call.context.note.account = session.record.account;
    await showOutput(cell, call);
    if (!cell.isOver && input.kill_on_cancel && call.isCancelled()) await session.interrupt();
    if (cell.failure) throw cell.failure;
    return await describe(session, cell, input.session_id === undefined, call);
  },
});

/** Resolves at the end of the cell, or of the call. */
async function showOutput(cell: Cell, { onOutput, signal }: ToolCall): Promise<void> {
  if (!onOutput) return await cell.finished(signal);
  for await (const message of follow(cell, { silenceMs: null, signal, closing: signal })) {
    if (message.kind !== 'change' || message.change.kind !== 'output') continue;
    const { output } = message.change;
    if (output.output_type === 'stream') onOutput(output.text);
  }
}

async function describe(
  session: CodeSession,
  cell: Cell,
  isSingle: boolean,
  call: ToolCall,
): Promise<ToolResult<z.input<typeof Output>>> {
  const { language, session_id, exit_code, kernel, outputs, truncated, ...end } = cellResult(session, cell, isSingle);
  const status = cell.isOver ? end.status : 'running';
  const result = textOf(outputs, 'execute_result');
  const error = errorOf(outputs);
  const [stdout, stderr] = [await cutText(end.stdout, call.outputs), await cutText(end.stderr, call.outputs)];
  const shownResult = result === null ? null : (await cutText(result, call.outputs)).text;
  const isError = status === 'error' || status === 'timeout';
  const lines = [stdout.text, stderr.text, shownResult, error].map((text) => asLines(text ?? ''));
  const state = exit_code === null || status !== 'ok' ? status : `exit ${exit_code}`;
  const facts = footer(language, state, session_id === null ? null : `session_id ${session_id}`);
  return {
    text: `${lines.join('')}${facts}${advice(status, session, cell, isSingle, call)}`,
    data: {
      ...{ language, session_id, status, exit_code, kernel, result: shownResult, error },
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: truncated || stdout.isCut || stderr.isCut,
      output_file: stdout.file ?? stderr.file,
    },
    images: outputs.flatMap(imagesOf),
    isError,
  };
}

/** Facts that an agent needs for its next call. */
function advice(status: string, session: CodeSession, cell: Cell, isSingle: boolean, call: ToolCall): string {
  const { end, deathBefore, record } = cell;
  const limit = `${record.timeoutMs / 1000} s`;
  if (status === 'running') {
    const reason = call.isCancelled() ? 'The call was cancelled.' : 'The daemon is closing.';
    const next = isSingle ? '' : ' The next call with this session_id waits for it.';
    return `\n${reason} The code goes on and is interrupted after ${limit}.${next}`;
  }
  if (end?.death?.cause === 'died')
    return '\nThe interpreter died, and its state is gone. Define again what the code needs.';
  if (status === 'timeout') {
    const what = cell.isEnding || end?.death ? `The code ${describeTimeout(cell)}` : 'Interrupted';
    return `\n${what} after ${limit}. Pass a longer timeout (at most 900).`;
  }
  if (end?.death) return `\n${exitAdvice}`;
  if (deathBefore) {
    const loss = lossAdvice(deathBefore, session.record.backend);
    return `\nThis ran in a new interpreter: ${describeLoss(deathBefore)}. ${loss}`;
  }
  const known = errorAdvice(cell);
  return known === null ? '' : `\n${known}`;
}

function textOf(outputs: readonly NotebookOutput[], type: 'execute_result'): string | null {
  const texts = outputs.flatMap((output) => {
    const text = output.output_type === type ? output.data['text/plain'] : undefined;
    return typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? null : texts.join('\n');
}

// oxlint-disable-next-line no-control-regex -- tracebacks carry colors
const colors = /\x1b\[[0-9;]*m/g;

function errorOf(outputs: readonly NotebookOutput[]): string | null {
  const errors = outputs.flatMap((output) =>
    output.output_type === 'error' ? [output.traceback.join('\n') || `${output.ename}: ${output.evalue}`] : [],
  );
  return errors.length === 0 ? null : errors.join('\n').replaceAll(colors, '');
}

const imageTypes = ['image/png', 'image/jpeg'];

function imagesOf(output: NotebookOutput) {
  if (output.output_type !== 'display_data' && output.output_type !== 'execute_result') return [];
  return imageTypes.flatMap((type) => {
    const data = output.data[type];
    return typeof data === 'string' ? [{ type, bytes: Buffer.from(data, 'base64') }] : [];
  });
}
