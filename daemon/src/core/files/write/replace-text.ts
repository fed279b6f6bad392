/** Replaces each occurrence of a text in a file, and counts the replacements. */
import { asFileOperation, FileFailure } from '../../../kit/file-failure.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { replaceEach } from './edit-text.ts';
import { attempt, putText, textOf } from './edit.ts';
import { changeFile } from './write.ts';

export interface ReplaceTextRequest extends FileRequest {
  /** Must not be empty. */
  readonly oldText: string;
  readonly newText: string;
}

export interface ReplacedText {
  readonly path: string;
  /** Number of replacements. When 0, the file is unchanged. */
  readonly count: number;
}

/** The change can be undone like any other edit. */
export async function replaceText(context: FilesContext, request: ReplaceTextRequest): Promise<ReplacedText> {
  const path = context.paths.resolve(request.path, request.user);
  return asFileOperation('edit', path, () =>
    changeFile(context, { operation: 'edit', path }, async (target, key) => {
      if (!target.stat) throw new FileFailure({ operation: 'edit', path, errnoName: 'ENOENT' });
      using _before = context.room.admit(2 * Number(target.stat.size));
      const before = await textOf(target, path);
      const { text, count } = attempt(() => replaceEach(before.text, request), path);
      using _after = context.room.admit(text.length);
      if (count > 0) context.edits.add(key, { old: before, etag: await putText(context, target, { ...before, text }) });
      return { path, count };
    }),
  );
}
