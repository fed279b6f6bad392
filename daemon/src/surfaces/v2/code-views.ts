/** The wire shapes of the code plane. */
import { z } from 'zod';
import { cellStatuses, type Cell } from '../../core/code/cells/cell.ts';
import type { CellChange } from '../../core/code/cells/outputs.ts';
import { codeBackends, languages, languageWordList } from '../../core/code/language.ts';
import type { CodeSession } from '../../core/code/sessions/session.ts';
import { CoreError, errorCodes, type ErrorCode } from '../../kit/errors.ts';
import { signalName } from '../../kit/signal-name.ts';
import { clientId, environment, namedObject, systemText } from '../../operations/inputs.ts';

const bundle = z.record(z.string(), z.unknown()).describe('A text for each media type; base64 for binary types.');

export const NotebookOutput = z
  .discriminatedUnion('output_type', [
    z.object({ output_type: z.literal('stream'), name: z.enum(['stdout', 'stderr']), text: z.string() }),
    z.object({
      output_type: z.literal('execute_result'),
      execution_count: z.int().nullable(),
      data: bundle,
      metadata: z.record(z.string(), z.unknown()),
    }),
    z.object({ output_type: z.literal('display_data'), data: bundle, metadata: z.record(z.string(), z.unknown()) }),
    z.object({
      output_type: z.literal('error'),
      ename: z.string(),
      evalue: z.string(),
      traceback: z.array(z.string()).readonly(),
    }),
  ])
  .meta({ id: 'NotebookOutput' });

const KernelDeath = namedObject('KernelDeath', {
  signal: z.string().nullable().describe('null where it has ended with an exit code.'),
  oom_killed: z.boolean().nullable().describe('null when it is unknown.'),
  restarted: z.boolean().describe('The session continues with a new interpreter, without its state.'),
  before_cell: z.boolean().describe('It ended before this cell, which ran in the new one.'),
});

export const language = z.enum(languageWordList).describe('python3 is python; node, nodejs and js are javascript.');
export const kernel = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe('The name of an installed Jupyter kernel, under the language that it runs.');
export const ExecuteBody = z.object({
  language,
  code: z.string(),
  session_id: clientId
    .optional()
    .describe('Runs in this session, which is created if it does not exist; without an id, in a new interpreter.'),
  timeout: z.number().gt(0).max(900).default(30).describe('Seconds; then the code is interrupted.'),
  cwd: systemText.min(1).optional().describe('Working directory; a session keeps it.'),
  env: environment.default({}).describe('Environment, kept by the session; null unsets.'),
  user: systemText.min(1).optional().describe('Account; the default account otherwise.'),
  kernel,
  stream: z.boolean().default(false).describe('Stream NDJSON, as Accept: application/x-ndjson does.'),
});

export const CellResult = namedObject('CodeResult', {
  code: z.string(),
  language: z.enum(languages),
  backend: z.enum(codeBackends),
  session_id: z.string().nullable().describe('null for code that ran alone.'),
  status: z.enum(cellStatuses).describe('error: it raised, or its interpreter died; timeout: it was interrupted.'),
  execution_count: z.int().nullable(),
  exit_code: z.int().nullable().describe('0 on success, 1 after an error, or the exit code that the code set.'),
  outputs: z.array(NotebookOutput),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean().describe('More was printed than is shown.'),
  duration_ms: z.number().nullable(),
  kernel: KernelDeath.nullable().describe(
    'How the interpreter ended, during this cell or before; null while it lives.',
  ),
  late_outputs: z.array(NotebookOutput).describe('Late output of earlier cells: threads, timers, processes.'),
  partial: z.boolean().describe('Outputs may be missing.'),
});

export const CellLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), session_id: z.string().nullable(), language: z.enum(languages) }),
  z.object({ type: z.literal('output'), output: NotebookOutput, display_id: z.string().nullable() }),
  z.object({
    type: z.literal('update'),
    display_id: z.string().describe('Id of an earlier output, which this one replaces.'),
    data: bundle,
    metadata: z.record(z.string(), z.unknown()),
  }),
  z.object({ type: z.literal('clear') }).describe('All outputs before it are gone.'),
  z.object({ type: z.literal('heartbeat') }),
  z
    .object({
      type: z.literal('end'),
      status: z.enum(cellStatuses).nullable(),
      execution_count: z.int().nullable(),
      exit_code: z.int().nullable(),
      truncated: z.boolean(),
      kernel: KernelDeath.nullable(),
      late_outputs: z.array(NotebookOutput),
      partial: z.boolean(),
      reason: z.enum(['ended', 'closing', 'failed']),
      message: z.string().nullable().describe('Why the code did not run.'),
      code: z.enum(errorCodes).nullable().describe('The error code of that.'),
      retryable: z.boolean().nullable().describe('Whether the same call may succeed later; null without a code.'),
    })
    .describe('The last line.'),
]);

export const CodeSessionRecord = namedObject('CodeSession', {
  session_id: z.string(),
  id: z.string().describe('An alias of session_id.'),
  language: z.enum(languages),
  backend: z.enum(codeBackends),
  state: z.enum(['idle', 'busy']),
  cwd: z.string().describe('Directory of the start, or the last cwd of a request.'),
  user: z.string(),
  pid: z.int().nullable().describe('Pid of the interpreter; null when it runs elsewhere or not at all.'),
  created_at: z.string().describe('RFC 3339, UTC.'),
  last_used_at: z.string().describe('RFC 3339, UTC.'),
  execution_count: z.int(),
});

export const CodeSessionDetail = CodeSessionRecord.extend({
  last_execution: CellResult.extend({ status: z.enum([...cellStatuses, 'running']) })
    .nullable()
    .describe(
      'The last cell that was begun, as far as it has come; `code` has at most 16384 characters and then ends in “…”.',
    ),
}).meta({ id: 'CodeSessionDetail' });

type Wire = z.input<typeof CellResult>;

export function cellResult(session: CodeSession, cell: Cell, isSingle: boolean): Wire {
  const { end, outputs, shownCode, startedMs } = cell;
  return {
    code: shownCode,
    language: session.record.language,
    backend: session.record.backend,
    session_id: isSingle ? null : session.id,
    status: end?.status ?? 'ok',
    outputs: [...outputs.all],
    stdout: outputs.printed('stdout'),
    stderr: outputs.printed('stderr'),
    truncated: outputs.isCut,
    duration_ms: cell.endedMs === null || startedMs === null ? null : cell.endedMs - startedMs,
    ...ending(cell, isSingle),
  };
}

export function cellEndLine(
  cell: Cell,
  isSingle: boolean,
  reason: 'ended' | 'closing' | 'failed',
): z.input<typeof CellLine> {
  return {
    type: 'end',
    status: cell.end?.status ?? null,
    truncated: cell.outputs.isCut,
    reason,
    message: cell.failure?.message ?? null,
    code: cell.failure && codeOf(cell.failure),
    retryable: cell.failure && cell.failure instanceof CoreError && cell.failure.isRetryable,
    ...ending(cell, isSingle),
  };
}

function codeOf(failure: Error): ErrorCode {
  return failure instanceof CoreError ? failure.code : 'internal_error';
}

function ending({ deathBefore, end, isPartial, late }: Cell, isSingle: boolean) {
  const own = end?.death ?? null;
  const death = own ?? (end && deathBefore);
  return {
    execution_count: end?.executionCount ?? null,
    exit_code: end?.exitCode ?? null,
    kernel: death && {
      signal: death.signal === null ? null : signalName(death.signal),
      oom_killed: death.oomKilled,
      restarted: !isSingle,
      before_cell: own === null,
    },
    late_outputs: [...late.all],
    partial: isPartial,
  };
}

export function changeLine(change: CellChange): z.input<typeof CellLine> {
  switch (change.kind) {
    case 'output':
      return { type: 'output', output: change.output, display_id: change.displayId };
    case 'update':
      return { type: 'update', display_id: change.displayId, data: change.data, metadata: change.metadata };
    case 'clear':
      return { type: 'clear' };
  }
}

export function codeSession(session: CodeSession): z.input<typeof CodeSessionRecord> {
  const { record } = session;
  return {
    session_id: session.id,
    id: session.id,
    language: record.language,
    backend: record.backend,
    state: session.state,
    cwd: record.cwd,
    user: record.account,
    pid: session.pid,
    created_at: new Date(record.createdMs).toISOString(),
    last_used_at: new Date(record.lastUsedMs).toISOString(),
    execution_count: record.executionCount,
  };
}

export function codeSessionDetail(session: CodeSession): z.input<typeof CodeSessionDetail> {
  const { last } = session;
  const shown = last && { ...cellResult(session, last, false), ...(!last.end && { status: 'running' as const }) };
  return { ...codeSession(session), last_execution: shown };
}
