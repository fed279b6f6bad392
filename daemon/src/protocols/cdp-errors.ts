/** The errors of a DevTools connection, which platform throws and core turns into errors for the client. */

/** The browser has refused a command. */
export class CdpRefusal extends Error {
  override readonly name: string = 'CdpRefusal';
}

/** The browser has answered with more than the daemon keeps. */
export class CdpTooLong extends CdpRefusal {
  override readonly name = 'CdpTooLong';
}

/** The command is larger than what the browser reads in a reasonable time, and was not sent. */
export class CdpTooLarge extends Error {
  override readonly name = 'CdpTooLarge';

  constructor(method: string, bytes: number, maxBytes: number) {
    super(`${method} has ${bytes} bytes, and at most ${maxBytes} are sent to the browser`);
  }
}

/** The connection, or the session of the command, has ended before the answer. */
export class CdpClosed extends Error {
  override readonly name: string = 'CdpClosed';
}

/** The browser has sent nothing for so long that it must have been stopped. The connection is closed. */
export class CdpStalled extends CdpClosed {
  override readonly name = 'CdpStalled';

  constructor(readonly seconds: number) {
    super(`the browser has sent nothing for ${seconds} s`);
  }
}

/** Nothing listens at the address, or what listens is not a browser. */
export class CdpUnreachable extends Error {
  override readonly name = 'CdpUnreachable';
}
