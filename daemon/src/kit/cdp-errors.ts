/** The errors of a DevTools connection, which platform throws and core turns into errors for the client. */

/** The browser has refused a command. */
export class CdpRefusal extends Error {
  override readonly name = 'CdpRefusal';
}

/** The connection, or the session of the command, has ended before the answer. */
export class CdpClosed extends Error {
  override readonly name = 'CdpClosed';
}

/** Nothing listens at the address, or what listens is not a browser. */
export class CdpUnreachable extends Error {
  override readonly name = 'CdpUnreachable';
}
