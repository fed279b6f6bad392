/** Applies edits to a text file, all of them or none, and undoes the last edit request. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import { FileFailure, asFileOperation } from '../../../kit/file-failure.ts';
import { showPath } from '../../../kit/text/path-text.ts';
import type { FilesContext } from '../context.ts';
import { applyEdit, EditRefusal, snippet, type EditedText, type TextEdit } from './edit-text.ts';
import { etagOf } from '../read/etag.ts';
import { openFile } from '../read/open-file.ts';
import { decodeText, readWhole } from '../read/read.ts';
import { encodeText, type DecodedText } from '../read/text-encoding.ts';
import { replaceFile, writeAll } from './replace.ts';
import type { Target } from '../target.ts';
import { assertMatch, changeFile, type WriteRequest } from './write.ts';

export interface EditRequest extends Pick<WriteRequest, 'path' | 'user' | 'ifMatch'> {
  /** Each edit applies to the result of the previous one. `undo` reverts the last edit request of the file. */
  readonly edits: readonly TextEdit[] | 'undo';
  /** Returns the result without changing the file. */
  readonly isDryRun: boolean;
}

export interface EditResult {
  readonly path: string;
  /** The lines around the first change, with line numbers. */
  readonly output: string;
  readonly oldContent: string;
  readonly newContent: string;
  readonly prevExist: true;
  /** Unified diff; null when the texts differ too much for a useful diff. */
  readonly diff: string | null;
  /** Number of occurrences that were replaced; 0 for an undo. */
  readonly replacements: number;
  readonly etag: string;
}

export async function editFile(context: FilesContext, request: EditRequest): Promise<EditResult> {
  const path = context.paths.resolve(request.path, request.user);
  return asFileOperation('edit', path, () =>
    changeFile(context, { operation: 'edit', path }, async (target, key) => {
      if (!target.stat) throw new FileFailure({ operation: 'edit', path, errnoName: 'ENOENT' });
      assertMatch(target, request.ifMatch);
      // As read, and as text.
      using _before = context.room.admit(2 * Number(target.stat.size));
      const before = await textOf(target, path);
      const edited =
        request.edits === 'undo'
          ? undo(context, key, target, request)
          : { ...editAll(before.text, request.edits, path), encoding: before.encoding };
      using _after = context.room.admit(edited.text.length);
      const etag = request.isDryRun ? etagOf(target.stat) : await putText(context, target, edited);
      if (!request.isDryRun && request.edits === 'undo') context.edits.takeBack(key, etag);
      else if (!request.isDryRun) context.edits.add(key, { old: before, etag });
      return {
        path,
        output: snippet(edited),
        oldContent: before.text,
        newContent: edited.text,
        prevExist: true,
        diff: await context.diff(showPath(path), before.text, edited.text),
        replacements: edited.count,
        etag,
      };
    }),
  );
}

export async function textOf(target: Target, path: string): Promise<DecodedText> {
  await using opened = await openFile(target.path, 'edit');
  return decodeText(await readWhole(opened, path, 'edit'), path, 'edit');
}

/** Returns the range of the first change, for the snippet. The text contains all changes. */
function editAll(before: string, edits: readonly TextEdit[], path: string): EditedText {
  let edited: EditedText = { text: before, start: 0, end: 0, count: 0 };
  for (const [i, edit] of edits.entries()) {
    const result = attempt(() => applyEdit(edited.text, edit), path, edits.length > 1 ? i : null);
    const { text, count } = result;
    edited = i === 0 ? result : { ...edited, text, count: edited.count + count };
  }
  return edited;
}

/** `index` is the position of the failed edit in a list of edits. */
export function attempt<T>(work: () => T, path: string, index: number | null = null): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof EditRefusal ? refusedEdit(error, path, index) : error;
  }
}

export function refusedEdit(cause: EditRefusal, path: string, index: number | null = null): FileFailure {
  const message = index === null ? cause.message : `edits.${index}: ${cause.message}`;
  const { hint, next } = cause;
  return new FileFailure({ operation: 'edit', path, errnoName: 'EINVAL', message, hint, next, cause });
}

/** Undo discards later changes by other writers. If there are any, the caller must confirm with `ifMatch`. */
function undo(
  context: FilesContext,
  key: string,
  { path, stat }: Target,
  { ifMatch }: EditRequest,
): EditedText & DecodedText {
  const edition = context.edits.last(key);
  if (!edition || edition.old === null) return attempt(() => refuse(path), path);
  const etag = stat && etagOf(stat);
  if (ifMatch === null && edition.etag !== etag) {
    throw new CoreError('precondition_failed', `${showPath(path)}: has changed since the edit that would be undone`, {
      hint: 'Undoing the edit discards that change.',
      advice: advise`To undo it, send the same call with ${'ifMatch'} set to this etag.`,
      facts: { etag },
    });
  }
  return { ...edition.old, start: 0, end: 0, count: 0 };
}

function refuse(path: string): never {
  throw new EditRefusal(
    { kind: 'no-history' },
    `${showPath(path)}: there is no edit to undo`,
    'The daemon keeps the last edits of a file while the daemon runs. Write the wanted content instead.',
  );
}

/** Replaces the content of the file and returns the new entity tag. */
export async function putText(context: FilesContext, target: Target, { text, encoding }: DecodedText): Promise<string> {
  const stat = await replaceFile(context, target, {
    operation: 'edit',
    owner: null,
    mode: null,
    fill: (file) => writeAll(file, encodeText(text, encoding)),
  });
  return etagOf(stat);
}
