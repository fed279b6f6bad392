/** Checks each member of an archive before the member is created, and records the accepted members. */
import { setIdBits, type RawHeader } from './tar-header.ts';
import { quoted, type ArchiveFault } from './tar-reader.ts';

export const maxEntries = 100_000;

export interface Member extends Pick<RawHeader, 'mode' | 'modifiedSeconds' | 'size'> {
  /** Path below the destination, without a leading or trailing slash. Empty for the destination itself. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink';
  /** For a symbolic link, the link text. For a hard link, the path of the earlier member. */
  readonly target: string;
}

export interface Accepted {
  readonly member: Member;
  /** Parent directories that the archive has not listed, topmost first. */
  readonly missing: readonly Member[];
  /** False for a directory that the archive lists again. */
  readonly isNew: boolean;
}

const kinds: Readonly<Record<string, Member['kind']>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'directory',
};
const refusedKinds: Readonly<Record<string, string>> = { '3': 'a device', '4': 'a device', '6': 'a pipe' };
const permissionBits = 0o7777;
/** The limit of the kernel (path_resolution(7)). A longer chain of links cannot be resolved. */
const maxLinks = 40;
/** The range of times that every file system can store: 1901 to 2446. */
const [earliest, latest] = [-(2 ** 31), 2 ** 34 - 2 ** 31 - 1];

const leaveOut = 'Create the archive without this member.';
const stayInside = 'Create the archive with names below the packed directory, as tar -C directory -c . does.';

export class ArchiveShape {
  readonly #kinds = new Map<string, Member['kind']>();
  readonly #directories = new Map<string, Member>();
  /** Link texts by the path of the link. */
  readonly #links = new Map<string, string>();
  readonly #children = new Map<string, string[]>([['', []]]);
  #entries = 0;

  constructor(private readonly fault: ArchiveFault) {}

  /** Number of members, without the destination itself. */
  get entries(): number {
    return this.#entries;
  }

  /** Directories, each before its contents. */
  directories(): Iterable<Member> {
    return this.#directories.values();
  }

  /** Names in this directory, in the order of the archive. */
  namesIn(path: string): readonly string[] {
    return this.#children.get(path) ?? [];
  }

  directory(path: string): Member | null {
    return this.#directories.get(path) ?? null;
  }

  /** Throws when the member is not allowed. */
  accept(header: RawHeader): Accepted {
    const member = this.#read(header);
    if (member.path !== '' && ++this.#entries > maxEntries) {
      throw this.fault.tooLarge(`the archive has more than ${maxEntries} members`, 'Send it in several archives.');
    }
    const missing = this.#makeParents(member.path, header.name);
    const old = this.#kinds.get(member.path);
    if (old && !(old === 'directory' && member.kind === 'directory')) {
      throw this.fault.member(header.name, 'appears twice', 'Create the archive again, with each name once.');
    }
    if (!old && member.path !== '') this.#enter(member.path);
    this.#record(member);
    return { member, missing, isNew: !old && member.path !== '' };
  }

  /** Call after all members are known, because a link may lead through other links. */
  assertLinksStay(): void {
    for (const [path, target] of this.#links) {
      if (this.#leadsOutside(path, target)) {
        const message = `is a link to ${quoted(target)}, which is outside the destination`;
        throw this.fault.member(
          path,
          message,
          'Links must be relative and stay inside the archive. links=keep keeps each link as it is.',
        );
      }
    }
  }

  #read(header: RawHeader): Member {
    const path = this.#pathOf(header.name, header.name);
    const known = kinds[header.flag];
    // Old archives have no directory type. They mark a directory by a slash at the end of its name.
    const kind = known === 'file' && header.name.endsWith('/') ? 'directory' : known;
    if (kind === undefined) {
      const what = refusedKinds[header.flag] ?? `of an unsupported type (${quoted(header.flag)})`;
      throw this.fault.member(header.name, `is ${what}`, leaveOut);
    }
    if (path === '' && kind !== 'directory') throw this.fault.member(header.name, 'has no name', stayInside);
    if ((header.mode & setIdBits) !== 0 && kind !== 'symlink') {
      throw this.fault.member(header.name, 'has a set-user-id or set-group-id bit', 'Remove the bit with chmod ug-s.');
    }
    if (kind === 'symlink' && (header.target === '' || header.target.includes('\0'))) {
      throw this.fault.member(header.name, 'is a symbolic link without a target', leaveOut);
    }
    if (header.size > 0 && (kind === 'directory' || kind === 'symlink')) {
      throw this.fault.member(header.name, 'has content but is not a file', leaveOut);
    }
    return {
      path,
      kind,
      mode: header.mode & permissionBits,
      modifiedSeconds: Math.min(latest, Math.max(earliest, header.modifiedSeconds)),
      size: header.size,
      target: kind === 'hardlink' ? this.#existing(header) : header.target,
    };
  }

  #pathOf(name: string, shownName: string): string {
    const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
    if (name.startsWith('/')) throw this.fault.member(shownName, `${quoted(name)} is absolute`, stayInside);
    if (name.includes('\0')) throw this.fault.member(shownName, 'has a NUL byte in its name', leaveOut);
    if (segments.includes('..')) throw this.fault.member(shownName, `${quoted(name)} contains ..`, stayInside);
    return segments.join('/');
  }

  /** Resolves the target of a hard link, which must be an earlier file. */
  #existing({ name, target }: RawHeader): string {
    const path = this.#pathOf(target, name);
    const kind = this.#kinds.get(path);
    if (kind === 'file' || kind === 'hardlink') return path;
    throw this.fault.member(name, `is a hard link to ${quoted(target)}, which is not an earlier file`, leaveOut);
  }

  #makeParents(path: string, shownName: string): Member[] {
    const missing: Member[] = [];
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at);
      const known = this.#kinds.get(above);
      if (known && known !== 'directory') {
        throw this.fault.member(shownName, `is below ${quoted(above)}, which is not a directory`, leaveOut);
      }
      if (known) continue;
      const made = implied(above);
      this.#enter(above);
      this.#record(made);
      missing.push(made);
    }
    return missing;
  }

  #enter(path: string): void {
    const slash = path.lastIndexOf('/');
    const above = slash === -1 ? '' : path.slice(0, slash);
    this.#children.getOrInsert(above, []).push(path.slice(slash + 1));
  }

  /** Keeps only the kind of a file, because an archive may have a hundred thousand files. */
  #record(member: Member): void {
    this.#kinds.set(member.path, member.kind);
    if (member.kind === 'directory') this.#directories.set(member.path, member);
    if (member.kind === 'symlink') this.#links.set(member.path, member.target);
  }

  #leadsOutside(path: string, target: string): boolean {
    const here = path.split('/').slice(0, -1);
    const ahead = target.split('/').toReversed();
    if (target.startsWith('/')) return true;
    for (let links = 0; ahead.length > 0 && links < maxLinks;) {
      const segment = ahead.pop() ?? '';
      if (segment === '' || segment === '.') continue;
      if (segment === '..') {
        if (here.pop() === undefined) return true;
        continue;
      }
      here.push(segment);
      const next = this.#links.get(here.join('/'));
      if (next === undefined) continue;
      if (next.startsWith('/')) return true;
      links += 1;
      here.pop();
      ahead.push(...next.split('/').toReversed());
    }
    return false;
  }
}

function implied(path: string): Member {
  return { path, kind: 'directory', mode: 0o755, modifiedSeconds: Math.floor(Date.now() / 1000), size: 0, target: '' };
}
