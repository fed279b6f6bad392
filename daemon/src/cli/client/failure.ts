/** The failures of the client itself, with one line for people and an exit code for programs. */

/** The same code as `env`, `timeout` and `docker run`: the client failed, independent of the command. */
export const exitClientFailed = 125;

/** Ends a sub-command with one line on standard error. */
export class ClientFailure extends Error {
  override readonly name: string = 'ClientFailure';
  readonly exitCode: number = exitClientFailed;
}

/** The daemon answered with a refusal. */
export class Refusal extends ClientFailure {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** No answer: the daemon or the network path is down. A retry may help. */
export class Unreachable extends ClientFailure {
  override readonly name = 'Unreachable';

  constructor(
    message: string,
    /** True when the request may have arrived before the connection broke. */
    readonly isMaybeSent: boolean,
  ) {
    super(message);
  }
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
