/** Collects the outputs of a cell in notebook form, up to a limit, and finds the changes for a follower. */
import type { CellEvent } from './events.ts';
import type { ErrorOutput, MimeBundle, NotebookOutput, StreamOutput } from './notebook.ts';

/** Characters per cell (contract, Code). */
export const maxCharacters = 2_000_000;
/** Outputs per cell. Each output costs more memory than its characters. */
const maxOutputs = 10_000;
const maxErrorCharacters = 100_000;
/** Number of errors kept after the output was cut, because one of them says how the cell ended. */
const maxErrorsBehind = 10;
export const cutNote = `\n[the output was cut after ${maxCharacters} characters]\n`;
const countNote = `\n[the output was cut after ${maxOutputs} outputs]\n`;

export type CellChange =
  | { readonly kind: 'output'; readonly output: NotebookOutput; readonly displayId: string | null }
  | { readonly kind: 'update'; readonly displayId: string; readonly data: MimeBundle; readonly metadata: MimeBundle }
  | { readonly kind: 'clear' };

interface Shown {
  output: NotebookOutput;
  readonly displayId: string | null;
  /** Version of the last change. */
  version: number;
}

/** The position of a follower. */
export interface OutputCursor {
  readonly clears: number;
  readonly index: number;
  /** Number of characters of the last output that the follower already has. A stream may still grow. */
  readonly at: number;
  readonly version: number;
}

export const atStart: OutputCursor = { clears: 0, index: 0, at: 0, version: 0 };

export class CellOutputs {
  #shown: Shown[] = [];
  #characters = 0;
  #clears = 0;
  #version = 0;
  #isClearing = false;
  #errorsBehind = 0;
  isCut = false;

  /** All outputs. Adjacent text of the same stream is joined. */
  get all(): readonly NotebookOutput[] {
    return this.#shown.map(({ output }) => output);
  }

  /** The text printed to this stream. */
  printed(name: 'stdout' | 'stderr'): string {
    return this.all
      .map((output) => (output.output_type === 'stream' && output.name === name ? output.text : ''))
      .join('');
  }

  take(event: Extract<CellEvent, { kind: 'output' | 'update' | 'clear' }>): void {
    if (event.kind === 'clear' && event.isWaiting) this.#isClearing = true;
    else if (event.kind === 'clear') this.#clear();
    else if (event.kind === 'update') this.#update(event);
    else this.#add(event.output, event.displayId);
  }

  /** Returns the changes after the cursor in order, and the new cursor. */
  since(cursor: OutputCursor): { readonly changes: readonly CellChange[]; readonly cursor: OutputCursor } {
    const changes: CellChange[] = [];
    const isCleared = cursor.clears !== this.#clears;
    const from = isCleared ? { index: 0, at: 0 } : cursor;
    if (isCleared) changes.push({ kind: 'clear' });
    for (const { output, displayId, version } of this.#shown.slice(0, from.index)) {
      if (displayId === null || version <= cursor.version || !('data' in output)) continue;
      changes.push({ kind: 'update', displayId, data: output.data, metadata: output.metadata });
    }
    for (const [index, { output, displayId }] of [...this.#shown.entries()].slice(from.index)) {
      const rest = index === from.index ? restOf(output, from.at) : output;
      if (rest) changes.push({ kind: 'output', output: rest, displayId });
    }
    return { changes, cursor: this.#end() };
  }

  /** Keeps the cursor at the last output if it is a stream, because a stream may still grow. */
  #end(): OutputCursor {
    const last = this.#shown.at(-1)?.output;
    const place = { clears: this.#clears, version: this.#version };
    if (last?.output_type !== 'stream') return { ...place, index: this.#shown.length, at: 0 };
    return { ...place, index: this.#shown.length - 1, at: last.text.length };
  }

  #add(output: NotebookOutput, displayId: string | null): void {
    if (this.#isClearing) this.#clear();
    const kept = output.output_type === 'error' ? cutError(output) : output;
    const size = sizeOf(kept);
    const hasRoom = this.#shown.length < maxOutputs || joined(this.#shown.at(-1)?.output, kept) !== null;
    if (!this.isCut && hasRoom && this.#characters + size <= maxCharacters) {
      this.#characters += size;
      this.#push(kept, displayId);
      return;
    }
    if (!this.isCut) this.#cut(kept, hasRoom ? cutNote : countNote);
    if (kept.output_type === 'error' && this.#errorsBehind++ < maxErrorsBehind) this.#push(kept, displayId);
  }

  #cut(output: NotebookOutput, note: string): void {
    this.isCut = true;
    const isStream = output.output_type === 'stream';
    const kept = isStream && note === cutNote ? output.text.slice(0, maxCharacters - this.#characters) : '';
    this.#characters = maxCharacters;
    this.#push({ output_type: 'stream', name: isStream ? output.name : 'stderr', text: kept + note }, null);
  }

  #push(output: NotebookOutput, displayId: string | null): void {
    const last = this.#shown.at(-1);
    const whole = joined(last?.output, output);
    this.#version += 1;
    if (last && whole) last.output = whole;
    else this.#shown.push({ output, displayId, version: this.#version });
  }

  #update({ displayId, data, metadata }: Extract<CellEvent, { kind: 'update' }>): void {
    for (const shown of this.#shown) {
      if (shown.displayId !== displayId || !('data' in shown.output)) continue;
      const next = { ...shown.output, data, metadata };
      const growth = sizeOf(next) - sizeOf(shown.output);
      if (this.#characters + growth > maxCharacters) continue;
      this.#characters += growth;
      shown.output = next;
      shown.version = this.#version += 1;
    }
  }

  #clear(): void {
    this.#shown = [];
    this.#characters = 0;
    this.#clears += 1;
    this.#isClearing = false;
    this.#errorsBehind = 0;
    this.isCut = false;
  }
}

/** Joins text to the last output of the same stream. Null when the output stands alone. */
function joined(last: NotebookOutput | undefined, next: NotebookOutput): StreamOutput | null {
  if (next.output_type !== 'stream' || last?.output_type !== 'stream' || last.name !== next.name) return null;
  return { ...next, text: last.text + next.text };
}

function restOf(output: NotebookOutput, at: number): NotebookOutput | null {
  if (output.output_type !== 'stream' || at === 0) return output;
  return at < output.text.length ? { ...output, text: output.text.slice(at) } : null;
}

function sizeOf(output: NotebookOutput): number {
  if (output.output_type === 'stream') return output.text.length;
  if (output.output_type === 'error') return charactersOf([output.ename, output.evalue, ...output.traceback]);
  return [output.data, output.metadata].flatMap(Object.values).reduce((sum, value) => sum + lengthOf(value), 0);
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length;
}

function charactersOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

function cutError(error: ErrorOutput): ErrorOutput {
  const [ename, evalue] = [error.ename, error.evalue].map((text) => text.slice(0, maxErrorCharacters));
  return { ...error, ename: ename ?? '', evalue: evalue ?? '', traceback: cutLines(error.traceback) };
}

/** Keeps the first and the last lines, which are the most useful. */
function cutLines(lines: readonly string[]): readonly string[] {
  if (charactersOf(lines) <= maxErrorCharacters) return lines;
  const half = maxErrorCharacters / 2;
  const joined = lines.join('\n');
  return [joined.slice(0, half), '[…]', joined.slice(-half)];
}
