/** Whether a pattern of a client is found in a text, without the daemon waiting for one that takes for ever. */
import { CoreError } from '../../kit/errors.ts';
import { Deadline } from '../../kit/deadline.ts';
import type { OpenWorker, WorkerHandle } from '../../platform/workers.ts';
import type { PatternAnswer, PatternQuestion } from './screen-pattern-worker.ts';

/** What is looked at, from the end of the text. */
export const searchedCharacters = 128 * 1024;
/** A thread that has to start first on a busy machine is in time. */
const answerWithinMs = 5000;

/** Throws `bad_argument` when it does not compile. */
export function checkPattern(pattern: string): void {
  try {
    void new RegExp(pattern, 'm');
  } catch (error) {
    throw new CoreError('bad_argument', `wait_for is no regular expression: ${(error as Error).message}`, {
      hint: 'Give one as JavaScript knows it; ^ and $ are the ends of a line, and \\ takes a meaning away.',
    });
  }
}

/** One pattern for as long as it is waited for; the thread ends with it. */
export class PatternSearch implements Disposable {
  #worker: WorkerHandle | null = null;
  readonly #isPlain: boolean;

  constructor(
    private readonly pattern: string,
    private readonly openWorker: OpenWorker,
  ) {
    checkPattern(pattern);
    this.#isPlain = !/[\\^$.*+?()[\]{}|]/.test(pattern);
  }

  /** Throws `bad_argument` when it takes too long. */
  async isIn(text: string): Promise<boolean> {
    const end = text.slice(-searchedCharacters);
    if (this.#isPlain) return end.includes(this.pattern);
    this.#worker ??= this.openWorker('core/terminals/screen-pattern-worker');
    using deadline = new Deadline(answerWithinMs);
    const question: PatternQuestion = { pattern: this.pattern, text: end };
    const answer = (await this.#worker.ask(question, deadline.signal)) as PatternAnswer | null;
    if (answer && answer.isMatch !== null) return answer.isMatch;
    throw new CoreError('bad_argument', 'wait_for takes too long to look for', {
      hint: 'Leave out repetitions inside of repetitions, such as (a+)+.',
    });
  }

  [Symbol.dispose](): void {
    this.#worker?.[Symbol.dispose]();
  }
}
