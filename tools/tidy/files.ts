/** Lists the repository's files for the tidy rules: all files that are handwritten or committed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';

export interface SourceFile {
  /** Relative to the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Generated directories. Mirrors .gitignore. */
const made = new Set(['node_modules', '.git', 'dist', 'coverage']);
const madePaths = [/^native\/build$/, /^examples\/[^/]+\/build$/];

/** Pictures, archives and similar files: documents may name them, and no rule reads them. */
const binary = /\.(png|jpg|jpeg|gif|ico|gz|tar|zst|zip|woff2?|wasm|so|o|a)$/;

export function repositoryFiles(folder = ''): SourceFile[] {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (made.has(entry.name) || madePaths.some((pattern) => pattern.test(path))) return [];
    if (entry.isDirectory()) return repositoryFiles(path);
    if (!entry.isFile()) return [];
    return [{ path, text: binary.test(path) ? '' : readFileSync(join(repositoryRoot, path), 'utf8') }];
  });
}
