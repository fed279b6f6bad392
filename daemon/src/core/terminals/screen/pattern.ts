/** Searches text for a client's pattern without blocking the daemon on a slow pattern. */
import { CoreError } from '../../../kit/errors.ts';
import { Deadline } from '../../../kit/deadline.ts';
import type { OpenWorker, WorkerHandle } from '../../../platform/host/workers.ts';
import type { PatternAnswer, PatternQuestion } from './pattern-worker.ts';

/** How much of the end of the text is searched. */
export const searchedCharacters = 128 * 1024;
/** Long enough for a thread that has to start first on a busy machine. */
const answerWithinMs = 5000;

/** Throws `bad_argument` if the pattern does not compile. */
export function checkPattern(pattern: string): void {
  try {
    void new RegExp(pattern, 'm');
  } catch (error) {
    throw new CoreError('bad_argument', `is not a regular expression: ${(error as Error).message}`, {
      argument: 'waitFor',
      hint: 'Use the syntax of JavaScript: ^ and $ match at the ends of a line, and \\ makes a special character literal.',
    });
  }
}

/** Holds one pattern while a caller waits for it. Disposing of it ends the thread. */
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

  /** Throws `bad_argument` if the search takes too long. */
  async isIn(text: string): Promise<boolean> {
    const end = text.slice(-searchedCharacters);
    if (this.#isPlain) return end.includes(this.pattern);
    this.#worker ??= this.openWorker('core/terminals/screen/pattern-worker');
    using deadline = new Deadline(answerWithinMs);
    const question: PatternQuestion = { pattern: this.pattern, text: end };
    const answer = (await this.#worker.ask(question, deadline.signal)) as PatternAnswer | null;
    if (answer && answer.isMatch !== null) return answer.isMatch;
    throw new CoreError('bad_argument', 'takes too long to look for', {
      argument: 'waitFor',
      hint: 'Avoid nested repetitions such as (a+)+.',
    });
  }

  [Symbol.dispose](): void {
    this.#worker?.[Symbol.dispose]();
  }
}
