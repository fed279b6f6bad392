/** What an operation says of its output, beside the output itself. */

/** Data of an answer, with a message, a hint or other details. */
export class Answer<T> {
  constructor(
    readonly data: T,
    readonly details: {
      readonly message?: string;
      readonly hint?: string | null;
      /** Fields beside those of the envelope. */
      readonly top?: object;
      /** The request was handled, but its purpose failed: `success` is false and the status is 200. */
      readonly isFailure?: boolean;
    } = {},
  ) {}
}

/** The data alone. Message and hint of an answer may name routes, which callers of another surface do not have. */
export function dataOf<T>(answer: T | Answer<T>): T {
  return answer instanceof Answer ? answer.data : answer;
}
