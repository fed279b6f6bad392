/** What a cell has shown so far, as a notebook would keep it, up to a bound; and what of it is new to a follower. */
import type { CellEvent } from './events.ts';
import type { ErrorOutput, MimeBundle, NotebookOutput, StreamOutput } from './notebook.ts';

/** Characters of one cell (contract, Code). */
export const mostCharacters = 2_000_000;
/** Outputs of one cell: each costs more than its characters. */
const mostOutputs = 10_000;
const mostErrorCharacters = 100_000;
/** Errors are shown behind all that was cut, because one of them says how the cell has ended. */
const mostErrorsBehind = 10;
export const cutNote = `\n[the output was cut after ${mostCharacters} characters]\n`;
const countNote = `\n[the output was cut after ${mostOutputs} outputs]\n`;

export type CellChange =
  | { readonly kind: 'output'; readonly output: NotebookOutput; readonly displayId: string | null }
  | { readonly kind: 'update'; readonly displayId: string; readonly data: MimeBundle; readonly metadata: MimeBundle }
  | { readonly kind: 'clear' };

interface Shown {
  output: NotebookOutput;
  readonly displayId: string | null;
  /** Of the change that made it what it is. */
  version: number;
}

/** Where a follower is. */
export interface OutputCursor {
  readonly clears: number;
  readonly index: number;
  /** Characters of the last output that were handed out: a stream grows. */
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

  /** All of it, streams joined where nothing came between. */
  get all(): readonly NotebookOutput[] {
    return this.#shown.map(({ output }) => output);
  }

  /** What was printed there. */
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

  /** What came since, in its order, and where the follower is then. */
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

  /** A stream that is last may still grow: the follower stays at it. */
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
    const hasRoom = this.#shown.length < mostOutputs || joined(this.#shown.at(-1)?.output, kept) !== null;
    if (!this.isCut && hasRoom && this.#characters + size <= mostCharacters) {
      this.#characters += size;
      this.#push(kept, displayId);
      return;
    }
    if (!this.isCut) this.#cut(kept, hasRoom ? cutNote : countNote);
    if (kept.output_type === 'error' && this.#errorsBehind++ < mostErrorsBehind) this.#push(kept, displayId);
  }

  #cut(output: NotebookOutput, note: string): void {
    this.isCut = true;
    const isStream = output.output_type === 'stream';
    const kept = isStream && note === cutNote ? output.text.slice(0, mostCharacters - this.#characters) : '';
    this.#characters = mostCharacters;
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
      if (this.#characters + growth > mostCharacters) continue;
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

/** Text that goes on where the last output is of the same stream; null for what is an output of its own. */
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
  const [ename, evalue] = [error.ename, error.evalue].map((text) => text.slice(0, mostErrorCharacters));
  return { ...error, ename: ename ?? '', evalue: evalue ?? '', traceback: cutLines(error.traceback) };
}

/** The first and the last lines tell the most. */
function cutLines(lines: readonly string[]): readonly string[] {
  if (charactersOf(lines) <= mostErrorCharacters) return lines;
  const most = mostErrorCharacters / 2;
  const joined = lines.join('\n');
  return [joined.slice(0, most), '[…]', joined.slice(-most)];
}
