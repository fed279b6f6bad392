/** How the file operations open directories. */
import type { Directory } from '../../platform/files/directory.ts';

export type OpenDirectory = (path: string) => Promise<Directory>;
