/** Thrown where another daemon has taken over what a request is about: it is to be made there, as a whole. */

type Changes = Readonly<Record<string, unknown>>;

export class HandedOver extends Error {
  override readonly name = 'HandedOver';

  constructor(
    /** What the request has to say in its body, beside what it said, so that nothing is done twice. */
    readonly changes: Changes = {},
    /** The whole body of the request to be made; null for one without. */
    readonly body: Changes | null = null,
  ) {
    super('another daemon has taken over');
  }

  withBody(body: Changes): HandedOver {
    return new HandedOver({}, { ...body, ...this.changes });
  }
}
