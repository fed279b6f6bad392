/** Counts the streams that are open, and refuses one too many. */
import { CoreError } from '../kit/errors.ts';

export class OpenStreams {
  #open = 0;

  constructor(private readonly most: number) {}

  get count(): number {
    return this.#open;
  }

  /** Takes a place; the result gives it back. Throws `capacity_reached`. */
  open(): () => void {
    if (this.#open >= this.most) {
      throw new CoreError('capacity_reached', `${this.most} streams are open, which is the most`, {
        hint: 'Close one, or read by offset with wait=true.',
      });
    }
    this.#open += 1;
    return () => {
      this.#open -= 1;
    };
  }
}
