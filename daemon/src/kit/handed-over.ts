/** Thrown when another daemon has taken over the target of a request. The other daemon must receive the whole request. */

/** What this daemon has done already. The repeated request must not do the same again. */
export interface HandedOverFacts {
  /** The position of the first byte of the request in the standard input of the command. */
  readonly inputOffset?: number;
  /** The terminal session of the request, which this daemon may have created for the request. */
  readonly terminalId?: string;
}

export class HandedOver extends Error {
  override readonly name = 'HandedOver';

  constructor(readonly facts: HandedOverFacts = {}) {
    super('another daemon has taken over');
  }
}

/** Thrown by a route for a request that must be repeated at the other daemon. */
export class RepeatElsewhere extends Error {
  override readonly name = 'RepeatElsewhere';

  constructor(
    /** The whole body of the repeated request; null for a request without one. */
    readonly body: string | Uint8Array<ArrayBuffer> | null,
  ) {
    super('the other daemon must receive the request');
  }
}
