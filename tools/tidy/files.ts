/** The files of the repository as the tidy rules see them: everything that is written by hand or committed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.mjs';

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** What is made, not written. Mirrors .gitignore. */
const made = new Set(['node_modules', '.git', 'dist', 'coverage']);
const madePaths = [/^native\/build$/, /^examples\/[^/]+\/build$/];

/** Pictures, archives and the like: no rule reads them. */
const binary = /\.(png|jpg|jpeg|gif|ico|gz|tar|zst|zip|woff2?|wasm|so|o|a)$/;

export function repositoryFiles(folder = ''): SourceFile[] {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (made.has(entry.name) || madePaths.some((pattern) => pattern.test(path))) return [];
    if (entry.isDirectory()) return repositoryFiles(path);
    if (!entry.isFile() || binary.test(path)) return [];
    return [{ path, text: readFileSync(join(repositoryRoot, path), 'utf8') }];
  });
}
