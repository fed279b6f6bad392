/** Builds the refusals of the editor that concern its arguments, not the text of the file. */
import type { FileFailure } from '../../../kit/file-failure.ts';
import { EditRefusal, type ArgumentProblem } from '../write/edit-text.ts';
import { refusedEdit } from '../write/edit.ts';

export function refuse(path: string, problem: ArgumentProblem): FileFailure {
  const [message, hint] = wordsOf(problem);
  return refusedEdit(new EditRefusal({ kind: 'argument', problem }, message, hint), path);
}

const rangeHint = 'Give the first and the last line, counted from 1; -1 is the end.';

function wordsOf(problem: ArgumentProblem): readonly [message: string, hint: string] {
  switch (problem.kind) {
    case 'empty-anchor':
      return ['old_str is empty', 'Pass the text to replace, as it is in the file.'];
    case 'no-difference':
      return ['old_str and new_str are equal', 'Pass the changed text as new_str.'];
    case 'before-start':
      return [`insert_line ${problem.line} is negative`, 'Give the number of a line, or 0 for the top.'];
    case 'range-of-directory':
      return ['view_range is not for directories', 'Leave view_range out, or pass the path of a file.'];
    case 'range-not-two':
      return [`view_range ${shown(problem)} does not have two lines`, rangeHint];
    case 'range-below-one':
      return [`view_range ${shown(problem)} starts before line 1`, rangeHint];
    case 'range-reversed':
      return [`view_range ${shown(problem)} ends before its start`, rangeHint];
    case 'range-behind-end':
      return [`view_range ${shown(problem)} is after the end: the file has ${problem.lineCount} lines`, rangeHint];
  }
}

function shown({ range }: { readonly range: readonly number[] }): string {
  return `[${range.join(', ')}]`;
}
