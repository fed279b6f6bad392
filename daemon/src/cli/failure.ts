/** The failures of the client itself, each with one line for people and an exit code for programs. */

/** Like `env`, `timeout` and `docker run`: the client failed, whatever became of the command. */
export const exitClientFailed = 125;

/** Ends a sub-command with one line on standard error. */
export class ClientFailure extends Error {
  override readonly name: string = 'ClientFailure';
  readonly exitCode: number = exitClientFailed;
}

/** The daemon answered, and the answer is no. */
export class Refusal extends ClientFailure {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** No answer: the daemon, or the way to it, is not there. Trying again may help. */
export class Unreachable extends ClientFailure {
  override readonly name = 'Unreachable';

  constructor(
    message: string,
    /** True where the request may have arrived before the connection broke. */
    readonly isMaybeSent: boolean,
  ) {
    super(message);
  }
}

/** Whoever reads our output has gone; there is nobody to tell. */
export class ReaderGone extends ClientFailure {
  override readonly name = 'ReaderGone';
  /** As a shell tells of a program that wrote into a closed pipe. */
  override readonly exitCode = 141;
}

/** Whoever started us does not want to wait any longer, and said so by a signal. */
export class GivenUp extends ClientFailure {
  override readonly name = 'GivenUp';

  constructor(
    message: string,
    override readonly exitCode = 130,
  ) {
    super(message);
  }
}
