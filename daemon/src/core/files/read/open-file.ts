/** Opens a path for reading, and refuses anything that is not a regular file. */
import { constants, promises as fs, type BigIntStats } from 'node:fs';
import type { FileOperation } from '../../../kit/file-failure.ts';
import { systemPath } from '../../../kit/text/path-text.ts';
import { assertRegular } from '../write/replace.ts';

/** Opening a pipe does not block, and opening a terminal does not make it the controlling terminal of the daemon. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

export interface OpenedFile extends AsyncDisposable {
  readonly file: fs.FileHandle;
  readonly stat: BigIntStats;
}

export async function openFile(path: string, operation: FileOperation): Promise<OpenedFile> {
  const file = await fs.open(systemPath(path), flags);
  try {
    const stat = await file.stat({ bigint: true });
    assertRegular({ stat, path }, operation);
    return { file, stat, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}
