/** Computes the digest of a file's content, in pieces. */
import { createHash } from '../../../kit/crypto.ts';
import type { FilesContext } from '../context.ts';
import { openDownload, type DownloadRequest } from './download.ts';

export interface ContentDigest {
  /** Hexadecimal. */
  readonly sha256: string;
  /** Of the content that was read. */
  readonly size: number;
  readonly etag: string;
}

/** Throws a failure with `precondition_failed` when the file changes meanwhile, and the reason of the signal. */
export async function digestFile(
  context: FilesContext,
  request: Pick<DownloadRequest, 'path' | 'user'>,
  signal: AbortSignal,
): Promise<ContentDigest> {
  await using file = await openDownload(context, { ...request, changePolicy: 'abort' });
  const hash = createHash('sha256');
  for await (const piece of file.pieces(0, file.size)) {
    signal.throwIfAborted();
    hash.update(piece);
  }
  return { sha256: hash.digest('hex'), size: file.size, etag: file.etag };
}
