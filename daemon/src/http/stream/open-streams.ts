/** Counts open streams and refuses new ones beyond the limit. */
import { CoreError } from '../../kit/errors.ts';

export class OpenStreams {
  #open = 0;

  constructor(private readonly max: number) {}

  get count(): number {
    return this.#open;
  }

  /** Counts one more stream; the returned function ends it. Throws `capacity_reached`. */
  open(): () => void {
    if (this.#open >= this.max) {
      throw new CoreError('capacity_reached', `${this.max} streams are open, which is the limit`, {
        hint: 'Close one, or send the request again without a stream.',
      });
    }
    this.#open += 1;
    return () => {
      this.#open -= 1;
    };
  }
}
