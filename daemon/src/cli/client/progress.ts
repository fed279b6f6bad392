/** Shows at a terminal how much of a transfer is done. */
import { writeSync } from 'node:fs';
import { standardError } from './standard-streams.ts';

const everyMs = 100;
const clearLine = '\r\u001b[K';

export class Progress implements Disposable {
  #shownMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly isShown: boolean,
    private readonly name: string,
  ) {}

  show(bytes: number): void {
    const nowMs = performance.now();
    if (!this.isShown || nowMs - this.#shownMs < everyMs) return;
    this.#shownMs = nowMs;
    writeSync(standardError, `${clearLine}${this.name}  ${(bytes / 1e6).toFixed(1)} MB`);
  }

  [Symbol.dispose](): void {
    if (Number.isFinite(this.#shownMs)) writeSync(standardError, clearLine);
  }
}
