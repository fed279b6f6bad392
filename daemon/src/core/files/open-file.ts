/** Opens what a path leads to, to read it, and refuses what has no content of its own. */
import { constants, promises as fs, type BigIntStats } from 'node:fs';
import type { FileOperation } from '../../kit/file-failure.ts';
import { systemPath } from '../../kit/path-text.ts';
import { assertRegular } from './replace.ts';

/** Opening a pipe waits for nobody, and a terminal does not become the daemon's own. */
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
