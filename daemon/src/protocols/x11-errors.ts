/** The errors of an X11 connection, which platform throws and core turns into errors for the client. */

/** The X server has refused a request, such as one for a window that no longer exists. */
export class X11Refusal extends Error {
  override readonly name = 'X11Refusal';

  constructor(
    /** For example `BadWindow`. */
    readonly kind: string,
    readonly opcode: number,
    /** The resource id or the value that the server refuses. */
    readonly value: number,
  ) {
    super(`the X server answered ${kind} (value 0x${value.toString(16)}) to request ${opcode}`);
  }
}

/** The connection has ended before the answer. */
export class X11Closed extends Error {
  override readonly name = 'X11Closed';
}

/** No X server is at the address, or the server does not admit this client. */
export class X11Unreachable extends Error {
  override readonly name = 'X11Unreachable';
}

/** The X server lacks an extension that the request needs. */
export class X11Unsupported extends Error {
  override readonly name = 'X11Unsupported';
}

/** The X server does not change the size of its screen, for the reason in the message. */
export class X11Unchangeable extends Error {
  override readonly name = 'X11Unchangeable';
}
