/** The failures of the client itself, with one line for people and an exit code for programs. */
import { BoxError, type ErrorCode } from '../../../../clients/typescript/src/index.ts';

/** The same code as `env`, `timeout` and `docker run`: the client failed, independent of the command. */
export const exitClientFailed = 125;

/** Ends a sub-command with one line on standard error. */
export class ClientFailure extends Error {
  override readonly name: string = 'ClientFailure';
  readonly exitCode: number = exitClientFailed;
}

/** A standard stream of this process failed, so the command cannot go on as if it ran here. */
export class StreamFailure extends ClientFailure {
  override readonly name: string = 'StreamFailure';
}

/** The reader of this process's output has gone, so no message is printed. */
export class ReaderGone extends StreamFailure {
  override readonly name = 'ReaderGone';
  /** The code that a shell reports for a program that wrote into a closed pipe. */
  override readonly exitCode = 141;
}

/** The user or the parent process sent a signal to stop waiting. */
export class GivenUp extends ClientFailure {
  override readonly name = 'GivenUp';

  constructor(
    message: string,
    override readonly exitCode = 130,
  ) {
    super(message);
  }
}

/** Hints that name the variables of this client, in place of those for programs. */
const hints: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Set SVC_API_KEY to the key of the daemon.',
  bad_key: 'A key in the arguments can be seen in every process list. Put it into the environment as SVC_API_KEY.',
  not_trusted: 'Name the file of its authority with --cacert or in BOXKEEP_CACERT.',
};

/** Describes an error in one line, with the next step. */
export function describeError(error: unknown): string {
  if (!(error instanceof BoxError)) return error instanceof Error ? error.message : String(error);
  const hint = hints[error.code] ?? error.hint;
  return hint === null ? error.message : `${error.message} (${hint})`;
}
