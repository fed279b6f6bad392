/** Shows the outputs of a cell in the shapes of 1.x. */
import { z } from 'zod';
import type { Cell } from '../../core/code/cells/cell.ts';
import type { NotebookOutput } from '../../core/code/cells/notebook.ts';
import { namedObject } from '../../operations/inputs.ts';

const bundle = z.record(z.string(), z.unknown()).nullable();

const outputFields = {
  output_type: z.string().describe('stream, execute_result, display_data or error; what it does not have is null.'),
  name: z.string().nullable().describe('Name of a stream: stdout or stderr.'),
  text: z.string().nullable().describe('Text of a stream.'),
  data: bundle.describe('For a result or a display: a text for each media type.'),
  metadata: bundle,
  ename: z.string().nullable(),
  evalue: z.string().nullable(),
  traceback: z.array(z.string()).nullable(),
};

export const JupyterOutput = namedObject('JupyterOutput', { ...outputFields, execution_count: z.int().nullable() });

export const NodeJsOutput = namedObject('NodeJSOutput', outputFields);

type Output = z.input<typeof JupyterOutput>;

const nothing: Omit<Output, 'output_type'> = {
  ...{ name: null, text: null, data: null, metadata: null, execution_count: null },
  ...{ ename: null, evalue: null, traceback: null },
};

/** Printed text comes first, one piece per stream, because 1.x clients read it from there. */
export function outputsOf({ outputs }: Cell): Output[] {
  const streams = (['stdout', 'stderr'] as const)
    .map((name) => ({ ...nothing, output_type: 'stream', name, text: outputs.printed(name) }))
    .filter(({ text }) => text !== '');
  const others = outputs.all.filter(({ output_type: type }) => type !== 'stream');
  return [...streams, ...others.map(wholeOutput)];
}

export function nodeOutputsOf(cell: Cell): z.input<typeof NodeJsOutput>[] {
  return outputsOf(cell).map((output) => {
    const { execution_count: _count, ...rest } = output;
    return rest;
  });
}

function wholeOutput(output: NotebookOutput): Output {
  if (output.output_type === 'error') return { ...nothing, ...output, traceback: [...output.traceback] };
  return { ...nothing, ...output };
}

export function tracebackOf({ outputs }: Cell): string[] | null {
  const error = outputs.all.findLast(({ output_type: type }) => type === 'error');
  return error && 'traceback' in error ? [...error.traceback] : null;
}

/** A daemon that shuts down answers before the code has ended. */
export function statusOf({ end }: Cell): 'ok' | 'error' | 'timeout' {
  return end?.status ?? 'timeout';
}

/** Follows the convention of shells when the process has no exit code of its own. */
export function exitCodeOf(cell: Cell): number {
  const { exitCode = null, death = null } = cell.end ?? {};
  const signal = death?.signal ?? null;
  return exitCode ?? (signal === null ? fallbackCodes[statusOf(cell)] : signalBase + signal);
}

const signalBase = 128;
const fallbackCodes = { ok: 0, error: 1, timeout: 124 } as const;
