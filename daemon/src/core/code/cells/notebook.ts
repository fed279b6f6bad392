/** Defines cell outputs in notebook format (nbformat 4), with the keys and the spelling of that format. */
import { isFields, type Fields } from '../../../kit/types/fields.ts';

/** One entry for each media type: text, base64 for binary data, or a JSON value. */
export type MimeBundle = Fields;

export interface StreamOutput {
  readonly output_type: 'stream';
  readonly name: 'stdout' | 'stderr';
  readonly text: string;
}

export interface ResultOutput {
  readonly output_type: 'execute_result';
  readonly execution_count: number | null;
  readonly data: MimeBundle;
  readonly metadata: MimeBundle;
}

export interface DisplayOutput {
  readonly output_type: 'display_data';
  readonly data: MimeBundle;
  readonly metadata: MimeBundle;
}

export interface ErrorOutput {
  readonly output_type: 'error';
  readonly ename: string;
  readonly evalue: string;
  readonly traceback: readonly string[];
}

export type NotebookOutput = StreamOutput | ResultOutput | DisplayOutput | ErrorOutput;

/** Null for a value that is not an output. Code in a cell can write anything to the channel. */
export function readOutput(value: unknown): NotebookOutput | null {
  if (!isFields(value)) return null;
  const { output_type: type } = value;
  if (type === 'stream') {
    return { output_type: type, name: value['name'] === 'stderr' ? 'stderr' : 'stdout', text: text(value['text']) };
  }
  if (type === 'execute_result') {
    return { output_type: type, execution_count: count(value['execution_count']), ...bundleOf(value) };
  }
  if (type === 'display_data') return { output_type: type, ...bundleOf(value) };
  if (type !== 'error') return null;
  const lines = Array.isArray(value['traceback']) ? value['traceback'].map(text) : [];
  return { output_type: type, ename: text(value['ename']), evalue: text(value['evalue']), traceback: lines };
}

/** Returns a non-negative integer, or null for any other value. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

/** Replaces unpaired surrogates, because many clients cannot parse JSON that contains them. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : '';
}

export function bundleOf(value: Fields): { data: MimeBundle; metadata: MimeBundle } {
  return {
    data: isFields(value['data']) ? value['data'] : {},
    metadata: isFields(value['metadata']) ? value['metadata'] : {},
  };
}
