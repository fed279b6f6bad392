/** A position in a pattern, and the refusal that names the position. */
import { PatternError } from './query.ts';

export class PatternCursor {
  at = 0;

  constructor(readonly pattern: string) {}

  get rest(): string {
    return this.pattern.slice(this.at);
  }

  get next(): string {
    return String.fromCodePoint(this.pattern.codePointAt(this.at) ?? 0);
  }

  get isOver(): boolean {
    return this.at >= this.pattern.length;
  }

  looksAt(text: string): boolean {
    return this.pattern.startsWith(text, this.at);
  }

  refusal(what: string): PatternError {
    return new PatternError(`the pattern does not compile: ${what}, at character ${this.at + 1}`);
  }
}
