/** What is told of a command: how it stands when its caller has waited long enough, and what it has printed. */
import { Deadline } from '../../kit/deadline.ts';
import type { Execution } from './exec.ts';
import type { ConsoleRecord, ExecAnswer, ExecStatus } from './exec-record.ts';

/** Its end, or how it stands when it was quiet for too long, or when the signal aborts. */
export async function outcomeOf(
  execution: Execution,
  quietMs: number | null,
  now: () => number,
  signal: AbortSignal,
): Promise<ExecStatus> {
  const quietSinceMs = () => (execution.isStarted ? execution.changedMs : now());
  while (!execution.end && !signal.aborted) {
    const leftMs = quietMs === null ? null : quietSinceMs() + quietMs - now();
    if (leftMs !== null && leftMs <= 0) return 'no_change_timeout';
    using look = new Deadline(leftMs, signal);
    await execution.changed(look.signal);
  }
  return execution.end?.status ?? 'running';
}

export function answerOf(execution: Execution, status: ExecStatus, isTruncated: boolean): ExecAnswer {
  const { command, ps1, end, before } = execution;
  const { text, isTruncated: wasTruncated } = execution.output(isTruncated);
  return {
    command,
    status,
    output: text,
    isTruncated: wasTruncated,
    console: [{ ps1, command, output: text }],
    before,
    exitCode: end?.status === status && status === 'completed' ? end.exitCode : null,
  };
}

/** Of one whose end nobody waits for. */
export function answerAtOnce(command: string, before: readonly ConsoleRecord[]): ExecAnswer {
  return { command, status: 'running', output: '', isTruncated: false, console: [], before, exitCode: null };
}

/** For those who look at the session. */
export function consoleRecord(execution: Execution): ConsoleRecord {
  const { command, ps1 } = execution;
  return { command, ps1, output: execution.output(true).text };
}
