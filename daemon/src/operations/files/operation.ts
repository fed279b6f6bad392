/** What the operations of files work on. */
import type { FilesContext } from '../../core/files/context.ts';
import { operationsOn } from '../operation.ts';

export interface FilesDeps {
  readonly files: FilesContext;
}

export const operation = operationsOn<FilesDeps>();
