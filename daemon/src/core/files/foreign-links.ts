/**
 * Checks links of other accounts on the path to a file that a root daemon changes. Such a link may lead only to files
 * that the owner of the link could change too. Otherwise an account could plant a link and make the daemon change other
 * files.
 */
import { guarding } from '../../kit/guarding.ts';
import type { BigIntStats } from 'node:fs';
import { FileFailure, type FileOperation } from '../../kit/file-failure.ts';
import type { Directory } from '../../platform/files/directory.ts';

/** The limit of the kernel (path_resolution(7)). */
export const maxLinks = 40;

const bits = { read: 0o4n, write: 0o2n, sticky: 0o1000n } as const;

export class ForeignLinks {
  readonly #links: BigIntStats[] = [];

  constructor(
    private readonly open: (path: string) => Promise<Directory>,
    private readonly operation: FileOperation,
    private readonly access: 'read' | 'write',
  ) {}

  /** Opens a directory, following links. Records the links of other accounts. */
  async openDirectory(path: string): Promise<Directory> {
    const directory = await this.open(path);
    if (process.geteuid?.() !== 0) return directory;
    const real = await guarding(directory, () => directory.realPath());
    if (real === path) return directory; // The path contains no link.
    await directory[Symbol.asyncDispose]();
    return this.#walk(path);
  }

  note(link: BigIntStats): void {
    if (process.geteuid?.() === 0 && link.uid !== 0n) this.#links.push(link);
  }

  /** Throws `permission_denied` when the owner of a link on the path has no right to the target. */
  async assertAllowed(path: string, directory: Directory, stat: BigIntStats | null): Promise<void> {
    if (this.#links.length === 0) return;
    const above = await directory.own();
    const isAllowed = this.access === 'read' ? mayRead : mayChange;
    const link = this.#links.find((each) => !isAllowed(each, above, stat));
    if (!link) return;
    const right = this.access === 'read' ? 'read' : 'change';
    throw FileFailure.of(this.operation, path, 'EACCES', {
      message: `${path}: a link of uid ${link.uid} leads there, and that account may not ${right} it`,
      hint: 'Pass the path of the target, without that link.',
    });
  }

  /** Inspects each link before following it, in open directories, so that no link can replace a directory meanwhile. */
  async #walk(path: string): Promise<Directory> {
    let here = await this.open('/');
    try {
      const rest = segmentsOf(path);
      for (let links = 0; rest.length > 0;) {
        const name = rest.shift() ?? '';
        const next = await this.#step(here, name, rest);
        if (next.isLink && ++links > maxLinks) {
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

  /** Opens the next directory. Returns null when a link adds segments to the path first. */
  async #step(
    here: Directory,
    name: string,
    rest: string[],
  ): Promise<{ readonly isLink: boolean; readonly directory: Directory | null }> {
    if (name === '..') return { isLink: false, directory: await here.openParent() };
    const stat = await here.stat(name);
    if (!stat.isSymbolicLink()) return { isLink: false, directory: await here.openDirectory(name) };
    this.note(stat);
    // The links in /proc/<pid> are not plain paths and may lead into other root file systems.
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

/** The owner of the link may always access its own files, because it could change their mode. */
function has(link: BigIntStats, { uid, gid, mode }: BigIntStats, bit: bigint): boolean {
  if (uid === link.uid) return true;
  return (mode & (gid === link.gid ? bit << 3n : bit)) !== 0n;
}
