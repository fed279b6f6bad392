/** Edits a text file: one change or several, all of them or none, and the last one back again. */
import { CoreError } from '../../kit/errors.ts';
import { FileFailure, asFileOperation } from '../../kit/file-failure.ts';
import { showPath } from '../../kit/path-text.ts';
import type { FilesContext } from './context.ts';
import { applyEdit, EditRefusal, snippet, type EditedText, type TextEdit } from './edit-text.ts';
import { etagOf } from './etag.ts';
import { openFile } from './open-file.ts';
import { decodeText, readWhole } from './read.ts';
import { replaceFile, writeAll } from './replace.ts';
import type { Target } from './target.ts';
import { assertMatch, changeFile } from './write.ts';

export interface EditRequest {
  readonly path: string;
  readonly user: string | null;
  /** In this order, each on the result of the one before; `undo` takes back the last request that edited the file. */
  readonly edits: readonly TextEdit[] | 'undo';
  readonly ifMatch: string | null;
  /** Tells what would be, and changes nothing. */
  readonly isDryRun: boolean;
}

export interface EditResult {
  readonly path: string;
  /** The lines around the first change, numbered. */
  readonly output: string;
  readonly oldContent: string;
  readonly newContent: string;
  readonly prevExist: true;
  /** Unified; null where the texts differ so much that a diff says nothing. */
  readonly diff: string | null;
  readonly etag: string;
}

export async function editFile(context: FilesContext, request: EditRequest): Promise<EditResult> {
  const path = context.places.resolve(request.path, request.user);
  return asFileOperation('edit', path, () =>
    changeFile(context, { operation: 'edit', path }, async (target, key) => {
      if (!target.stat) throw new FileFailure({ operation: 'edit', path, errnoName: 'ENOENT' });
      assertMatch(target, request.ifMatch);
      const before = await textOf(target, path);
      const edited =
        request.edits === 'undo' ? undo(context, key, target, request) : editAll(before, request.edits, path);
      const etag = request.isDryRun ? etagOf(target.stat) : await putText(context, target, edited.text);
      if (!request.isDryRun && request.edits === 'undo') context.edits.takeBack(key, etag);
      else if (!request.isDryRun) context.edits.add(key, { oldText: before, etag });
      return {
        path,
        output: snippet(edited),
        oldContent: before,
        newContent: edited.text,
        prevExist: true,
        diff: await context.diff(showPath(path), before, edited.text),
        etag,
      };
    }),
  );
}

/** The text of a file that is to be edited. */
export async function textOf(target: Target, path: string): Promise<string> {
  await using opened = await openFile(target.path, 'edit');
  return decodeText(await readWhole(opened, path, 'edit'), path, 'edit');
}

/** The first change is shown, as it is in the text that all of them leave. */
function editAll(before: string, edits: readonly TextEdit[], path: string): EditedText {
  const steps: EditedText[] = [];
  for (const [i, edit] of edits.entries()) {
    const text = steps.at(-1)?.text ?? before;
    steps.push(attempt(() => applyEdit(text, edit), path, edits.length > 1 ? i : null));
  }
  const { start = 0, end = 0 } = steps[0] ?? {};
  return { text: steps.at(-1)?.text ?? before, start, end };
}

/** `index` tells which one of several cannot be made. */
export function attempt<T>(work: () => T, path: string, index: number | null = null): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof EditRefusal)) throw error;
    const message = index === null ? error.message : `edits.${index}: ${error.message}`;
    const { hint } = error;
    throw new FileFailure({ operation: 'edit', path, errnoName: 'EINVAL', message, hint, cause: error });
  }
}

/** What others have changed since is lost by it, so that they have to be named with `ifMatch`. */
function undo(context: FilesContext, key: string, { path, stat }: Target, { ifMatch }: EditRequest): EditedText {
  const edition = context.edits.last(key);
  if (!edition || edition.oldText === null) return attempt(() => refuse(path), path);
  const etag = stat && etagOf(stat);
  if (ifMatch === null && edition.etag !== etag) {
    throw new CoreError(
      'precondition_failed',
      `${showPath(path)}: has changed since the edit that would be taken back`,
      {
        hint: 'Taking it back loses that change: to do so, send undo_edit again with if_match set to this etag.',
        facts: { etag },
      },
    );
  }
  return { text: edition.oldText, start: 0, end: 0 };
}

function refuse(path: string): never {
  throw new EditRefusal(
    { kind: 'no-history' },
    `${showPath(path)}: there is no edit to take back`,
    'Edits are remembered while the daemon runs, some of each file; write the content that is wanted.',
  );
}

/** Puts the edited text in its place, and answers its entity tag. */
export async function putText(context: FilesContext, target: Target, text: string): Promise<string> {
  const stat = await replaceFile(context, target, {
    operation: 'edit',
    owner: null,
    mode: null,
    fill: (file) => writeAll(file, Buffer.from(text)),
  });
  return etagOf(stat);
}
