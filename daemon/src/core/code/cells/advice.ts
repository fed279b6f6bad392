/** Explains the end of a cell: a lost state, an end phase that was cut, and errors with a known remedy. */
import { moduleAdvice } from '../../../kit/text/install-advice.ts';
import { poolKindOf, type CodeBackendName } from '../language.ts';
import type { Cell, InterpreterDeath } from './cell.ts';

/** How a session lost its state, as the end of a sentence. */
export function describeLoss({ cause }: InterpreterDeath): string {
  switch (cause) {
    case 'died':
      return 'the one before it had died';
    case 'exited':
      return 'exit() had ended the one before it';
    case 'timeout':
      return 'the one before it had been killed after a timeout';
    case 'idle':
      return 'the session had been closed because it was idle';
  }
}

/** What to do after a loss of the state, and the setting that avoids the loss where there is one. */
export function lossAdvice({ cause }: InterpreterDeath, backend: CodeBackendName): string {
  const advice = 'The state of the session was lost; define what the code needs again.';
  if (cause !== 'idle') return advice;
  const [what, variable] =
    poolKindOf(backend) === 'kernel'
      ? ['kernel', 'SVC_KERNEL_SESSION_TIMEOUT_SECS']
      : ['interpreter', 'SVC_CODE_SESSION_TIMEOUT_SECS'];
  return `${advice} ${variable} sets how long the daemon keeps an idle ${what}.`;
}

export const exitAdvice = 'exit() ended the interpreter. Its state is gone, and the next cell runs in a new one.';

/** What happened at the timeout, without the limit. */
export function describeTimeout({ end, isEnding }: Cell): string {
  if (isEnding) return 'had run, and what it started (threads, timers, sockets, exit functions) was ended';
  return end?.death ? 'was ended with its interpreter, which did not react to the interrupt,' : 'was interrupted';
}

const loopIsRunning = /cannot be called from a running event loop|event loop is already running/;

/** What to do about the error of a cell; null where nothing is known. */
export function errorAdvice({ end, isProgram, outputs }: Cell): string | null {
  if (end?.status !== 'error') return null;
  const error = outputs.all.findLast((output) => output.output_type === 'error');
  if (error?.output_type !== 'error') return null;
  if (error.ename === 'RuntimeError' && loopIsRunning.test(error.evalue))
    return 'A kernel runs its own event loop: write await main() at the top level in place of asyncio.run(main()).';
  if (!isProgram && end.death === null && ['SystemExit', 'Exit'].includes(error.ename))
    return 'The call ended this cell only; the session keeps its state.';
  return moduleAdvice(error.ename, error.evalue);
}
