/** The entries of a directory, as the protocol shows them. */
import { isBelow } from '../../core/files/confine.ts';
import { list, maxPage, type ListRequest } from '../../core/files/read/list.ts';
import type { ListedFile } from '../../core/files/read/listed-file.ts';
import { realPathOf, statFile } from '../../core/files/read/stat.ts';
import { nullOn } from '../../kit/errno.ts';
import { CoreError } from '../../kit/errors.ts';
import { showName } from '../../kit/text/path-text.ts';
import type { AgentSandboxDeps } from './app.ts';

export interface WireEntry {
  readonly name: string;
  readonly size: number;
  readonly type: 'file' | 'directory';
  readonly modified_at: string;
  readonly mode: string;
}

const order = { by: 'name', direction: 'asc' } as const;

type ListingDeps = Pick<AgentSandboxDeps, 'files' | 'root'>;

/** All entries, sorted by name. */
export async function allIn({ files }: ListingDeps, path: string, signal: AbortSignal): Promise<ListedFile[]> {
  const found: ListedFile[] = [];
  let cursor: string | null = null;
  do {
    const request: ListRequest = {
      ...{ path, user: null, isRecursive: false, maxDepth: null, showsHidden: true, obeysGitignore: false },
      ...{ extensions: null, order, cursor, limit: maxPage },
    };
    const page = await list(files, request, signal);
    found.push(...page.files);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

/** A link shows what it leads to. Links that are broken or lead out of the root are left out. */
export async function shownIn(
  deps: ListingDeps,
  path: string,
  signal: AbortSignal,
): Promise<Pick<ListedFile, 'name' | 'size' | 'isDirectory' | 'modifiedMs' | 'permissions'>[]> {
  const root = await realPathOf(deps.root);
  const shown = [];
  for (const entry of await allIn(deps, path, signal)) {
    if (!entry.isLink) shown.push(entry);
    else {
      const looking = statFile(deps.files, { path: entry.path, user: null, followSymlinks: true });
      const stat = await nullOn(CoreError, looking); // It leads nowhere, or where the daemon may not look.
      if (stat?.realPath && root !== null && isBelow(stat.realPath, root)) shown.push({ ...stat, name: entry.name });
    }
  }
  return shown;
}

export async function entriesOf(deps: ListingDeps, path: string, signal: AbortSignal): Promise<WireEntry[]> {
  const shown = await shownIn(deps, path, signal);
  return shown.map(({ name, size, isDirectory, modifiedMs, permissions }) => ({
    name: showName(name),
    size: size ?? 0,
    type: isDirectory ? 'directory' : 'file',
    modified_at: new Date(modifiedMs ?? 0).toISOString().replace(/\.\d+Z$/, 'Z'),
    mode: (permissions ?? '').padStart(4, '0'),
  }));
}
