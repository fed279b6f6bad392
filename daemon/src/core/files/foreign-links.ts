/**
 * Links of other accounts on the way to what a root daemon changes. Such a link leads only to what its owner could
 * change too: whoever may plant links in a directory must not make the daemon work for them elsewhere.
 */
import type { BigIntStats } from 'node:fs';
import { FileFailure, type FileOperation } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/directory.ts';

/** As many as the kernel follows (path_resolution(7)). */
export const mostLinks = 40;

const bits = { read: 0o4n, write: 0o2n, sticky: 0o1000n } as const;

export class ForeignLinks {
  readonly #links: BigIntStats[] = [];

  constructor(
    private readonly open: (path: string) => Promise<Directory>,
    private readonly operation: FileOperation,
    private readonly access: 'read' | 'write',
  ) {}

  /** Opens a directory, links followed; those of other accounts are remembered. */
  async openDirectory(path: string): Promise<Directory> {
    const directory = await this.open(path);
    if (process.geteuid?.() !== 0) return directory;
    try {
      if ((await directory.realPath()) === path) return directory; // There was no link.
    } catch (error) {
      await directory[Symbol.asyncDispose]();
      throw error;
    }
    await directory[Symbol.asyncDispose]();
    return this.#walk(path);
  }

  note(link: BigIntStats): void {
    if (process.geteuid?.() === 0 && link.uid !== 0n) this.#links.push(link);
  }

  /** Throws `permission_denied` for what the owner of a link on the way has no right to. */
  async assertAllowed(path: string, directory: Directory, stat: BigIntStats | null): Promise<void> {
    if (this.#links.length === 0) return;
    const above = await directory.own();
    const isAllowed = this.access === 'read' ? mayRead : mayChange;
    const link = this.#links.find((each) => !isAllowed(each, above, stat));
    if (!link) return;
    const right = this.access === 'read' ? 'read' : 'change';
    throw new FileFailure({
      operation: this.operation,
      path,
      errnoName: 'EACCES',
      message: `${path}: a link of uid ${link.uid} leads there, and that account may not ${right} it`,
      hint: 'Give the path itself, without that link.',
    });
  }

  /** Each link is looked at before it is followed, and none can take the place of a directory meanwhile. */
  async #walk(path: string): Promise<Directory> {
    let here = await this.open('/');
    try {
      const rest = segmentsOf(path);
      for (let links = 0; rest.length > 0;) {
        const name = rest.shift() ?? '';
        const next = await this.#step(here, name, rest);
        if (next.isLink && ++links > mostLinks) {
          throw new FileFailure({ operation: this.operation, path, errnoName: 'ELOOP' });
        }
        if (!next.directory) continue;
        await here[Symbol.asyncDispose]();
        here = next.directory;
      }
      return here;
    } catch (error) {
      await here[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The next directory; null where a link says more of the way first. */
  async #step(
    here: Directory,
    name: string,
    rest: string[],
  ): Promise<{ readonly isLink: boolean; readonly directory: Directory | null }> {
    if (name === '..') return { isLink: false, directory: await here.openParent() };
    const stat = await here.stat(name);
    if (!stat.isSymbolicLink()) return { isLink: false, directory: await here.openDirectory(name) };
    this.note(stat);
    // Those of processes are no text, and lead into other roots.
    if (await here.isOfProcesses()) return { isLink: true, directory: await here.follow(name) };
    const text = await here.readLink(name);
    rest.unshift(...segmentsOf(text));
    return { isLink: true, directory: text.startsWith('/') ? await this.open('/') : null };
  }
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.');
}

function mayChange(link: BigIntStats, directory: BigIntStats, stat: BigIntStats | null): boolean {
  if (!has(link, directory, bits.write)) return false;
  const isKept = (directory.mode & bits.sticky) !== 0n && directory.uid !== link.uid;
  return !isKept || !stat || stat.uid === link.uid;
}

function mayRead(link: BigIntStats, _: BigIntStats, stat: BigIntStats | null): boolean {
  return !stat || stat.uid === link.uid || (stat.isFile() && has(link, stat, bits.read));
}

/** As far as owner, group and mode tell; what belongs to the owner of the link is within its reach anyway. */
function has(link: BigIntStats, { uid, gid, mode }: BigIntStats, bit: bigint): boolean {
  if (uid === link.uid) return true;
  return (mode & (gid === link.gid ? bit << 3n : bit)) !== 0n;
}
