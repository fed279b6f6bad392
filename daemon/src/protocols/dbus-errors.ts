/** The errors of a D-Bus connection, which platform throws and core turns into errors for the client. */

/** The peer, or the bus in its place, has answered a call with an error. */
export class DbusRefusal extends Error {
  override readonly name = 'DbusRefusal';

  constructor(
    /** For example `org.freedesktop.DBus.Error.UnknownObject`. */
    readonly errorName: string,
    message: string,
  ) {
    super(message === '' ? errorName : message);
  }
}

/** The connection has ended before the answer. */
export class DbusClosed extends Error {
  override readonly name = 'DbusClosed';
}

/** No bus listens at the address, or the bus refuses the account. */
export class DbusUnreachable extends Error {
  override readonly name = 'DbusUnreachable';
}
