/** Writes a file completely, or appends to it. */
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { createHash, type Hash } from '../../../kit/crypto.ts';
import { CoreError } from '../../../kit/errors.ts';
import { asFileOperation, FileFailure, type FileOperation } from '../../../kit/file-failure.ts';
import type { FileRequest, FilesContext } from '../context.ts';
import { bytesInForm, formOf, plainForm, type WrittenContent } from '../read/content.ts';
import { etagOf } from '../read/etag.ts';
import { ownerFor } from '../owner.ts';
import { assertRegular, copyAll, replaceFile, writeAll } from './replace.ts';
import { openTarget, type Target } from '../target.ts';

/** Size of one hash update, which takes about a millisecond. */
const pieceBytes = 1024 * 1024;

export interface WriteRequest extends FileRequest {
  readonly content: WrittenContent;
  readonly append: boolean;
  /** The entity tag that the file must have; null accepts any. */
  readonly ifMatch: string | null;
  /** Throw `file_exists` when the file exists, also when another process creates the file first. */
  readonly mustBeNew?: boolean;
  /** Permission bits. null keeps the bits of an existing file and gives a new file the default bits. */
  readonly mode: number | null;
}

export interface WrittenFile {
  readonly path: string;
  readonly bytesWritten: number;
  readonly size: number;
  /** Hash of the whole file, hexadecimal. */
  readonly sha256: string;
  readonly etag: string;
}

export async function writeFile(context: FilesContext, request: WriteRequest): Promise<WrittenFile> {
  const path = context.paths.resolve(request.path, request.user);
  const owner = ownerFor(context.accounts, request.user);
  return asFileOperation('write', path, () =>
    changeFile(context, { operation: 'write', path, parents: { owner, parts: context.parts } }, async (target) => {
      const { mustBeNew = false } = request;
      if (mustBeNew && target.stat) throw new FileFailure({ operation: 'write', path, errnoName: 'EEXIST' });
      assertMatch(target, request.ifMatch);
      const hash = createHash('sha256');
      let bytesWritten = 0;
      const stat = await replaceFile(context, target, {
        operation: 'write',
        owner,
        mode: request.mode,
        mustBeNew,
        fill: async (file) => void (bytesWritten = await fill(file, target, request, hash)),
      });
      const size = Number(stat.size);
      const sha256 = hash.digest('hex');
      return { path, bytesWritten, size, sha256, etag: etagOf(stat) };
    }),
  );
}

interface Change {
  readonly operation: FileOperation;
  readonly path: string;
  readonly parents?: Parameters<typeof openTarget>[2]['parents'];
}

/** Runs `work` on the file behind all links. Changes of the same file run one after another. */
export async function changeFile<T>(
  context: FilesContext,
  { operation, path, parents }: Change,
  work: (target: Target, key: string) => Promise<T>,
): Promise<T> {
  const options = { operation, followLinks: true, ...(parents ? { parents } : {}) };
  await using target = await openTarget(context.openDirectory, path, options);
  const key = await target.key();
  return await context.fileLocks.run(key, async () => work(await target.again(), key));
}

/** Throws `precondition_failed` when the file has changed. */
export function assertMatch({ path, stat }: { path: string; stat: BigIntStats | null }, ifMatch: string | null): void {
  if (ifMatch === null) return;
  const etag = stat && etagOf(stat);
  if (etag !== null && (ifMatch === etag || ifMatch === '*' || `"${ifMatch}"` === etag)) return;
  const [what, hint] =
    etag === null
      ? ['does not exist', 'Leave the etag out to create it.']
      : [`has changed since it had ${ifMatch}`, 'Read the file again, and send the change with the new etag.'];
  throw new CoreError('precondition_failed', `${path}: ${what}`, {
    hint,
    facts: { etag },
  });
}

/** Returns the number of bytes that the content has in the file. */
async function fill(
  file: FileHandle,
  { directory, name, path, stat }: Target,
  { append, content }: WriteRequest,
  hash: Hash,
): Promise<number> {
  let form = plainForm;
  if (append && stat) {
    await using old = await directory.openToRead(name);
    assertRegular({ stat: await old.stat({ bigint: true }), path }, 'write');
    if (!(content instanceof Uint8Array)) form = await formOf(old);
    await copyAll(old, file, (piece) => hash.update(piece));
  }
  const bytes = bytesInForm(content, form);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes);
    hash.update(piece);
    await writeAll(file, piece);
  }
  return bytes.length;
}
