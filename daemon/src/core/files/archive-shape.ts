/** What an archive may hold, and what it holds: every member is asked here before anything is made of it. */
import type { RawHeader } from './tar-header.ts';
import { quoted, type ArchiveFault } from './tar-reader.ts';

export const mostEntries = 100_000;

export interface Member {
  /** Below the destination, without a slash at either end; empty for the destination itself. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink';
  readonly mode: number;
  readonly modifiedSeconds: number;
  readonly size: number;
  /** What a link says, or the path of the member whose second name this is. */
  readonly target: string;
}

export interface Accepted {
  readonly member: Member;
  /** The directories that lead to it, and that the archive has not told of: from the top down. */
  readonly missing: readonly Member[];
  /** False for a directory that is told of once more. */
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
const setIds = 0o6000;
const permissionBits = 0o7777;
/** As many as the kernel follows (path_resolution(7)): what leads on and on leads nowhere. */
const mostLinks = 40;
/** What every file system can hold: from 1901 to 2446. */
const [earliest, latest] = [-(2 ** 31), 2 ** 34 - 2 ** 31 - 1];

const leaveOut = 'Make the archive without it.';
const stayInside = 'Make the archive with names below the directory that is packed, as tar -C directory -c . does.';

export class ArchiveShape {
  readonly #kinds = new Map<string, Member['kind']>();
  readonly #directories = new Map<string, Member>();
  /** What links say, by their paths. */
  readonly #links = new Map<string, string>();
  readonly #children = new Map<string, string[]>([['', []]]);
  #entries = 0;

  constructor(private readonly fault: ArchiveFault) {}

  /** Members, the destination itself not counted. */
  get entries(): number {
    return this.#entries;
  }

  /** Each before those that are in it. */
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

  /** Throws what is wrong with it. */
  accept(header: RawHeader): Accepted {
    const member = this.#read(header);
    if (member.path !== '' && ++this.#entries > mostEntries) {
      throw this.fault.tooLarge(`the archive has more than ${mostEntries} members`, 'Send it in several archives.');
    }
    const missing = this.#makeWay(member.path, header.name);
    const old = this.#kinds.get(member.path);
    if (old && !(old === 'directory' && member.kind === 'directory')) {
      throw this.fault.member(header.name, 'is there twice', 'Make the archive anew, with each name once.');
    }
    if (!old && member.path !== '') this.#enter(member.path);
    this.#note(member);
    return { member, missing, isNew: !old && member.path !== '' };
  }

  /** Once all are known: a link may lead through others. */
  assertLinksStay(): void {
    for (const [path, target] of this.#links) {
      if (this.#leaves(path, target)) {
        const message = `is a link to ${quoted(target)}, which is outside of the destination`;
        throw this.fault.member(path, message, 'Links have to be relative, and to stay in the archive.');
      }
    }
  }

  #read(header: RawHeader): Member {
    const path = this.#pathOf(header.name, header.name);
    const known = kinds[header.flag];
    // Before there was a kind for them, directories were files with a slash.
    const kind = known === 'file' && header.name.endsWith('/') ? 'directory' : known;
    if (kind === undefined) {
      const what = refusedKinds[header.flag] ?? `of a kind that is not taken (${quoted(header.flag)})`;
      throw this.fault.member(header.name, `is ${what}`, leaveOut);
    }
    if (path === '' && kind !== 'directory') throw this.fault.member(header.name, 'has no name', stayInside);
    if ((header.mode & setIds) !== 0 && kind !== 'symlink') {
      throw this.fault.member(
        header.name,
        'has a set-user-id or set-group-id bit',
        'Take the bit away with chmod ug-s.',
      );
    }
    if (kind === 'symlink' && (header.target === '' || header.target.includes('\0'))) {
      throw this.fault.member(header.name, 'is a link that says nothing', leaveOut);
    }
    if (header.size > 0 && (kind === 'directory' || kind === 'symlink')) {
      throw this.fault.member(header.name, 'has a content, and is no file', leaveOut);
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

  #pathOf(name: string, told: string): string {
    const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
    if (name.startsWith('/')) throw this.fault.member(told, `${quoted(name)} is absolute`, stayInside);
    if (name.includes('\0')) throw this.fault.member(told, 'has a NUL byte in its name', leaveOut);
    if (segments.includes('..')) throw this.fault.member(told, `${quoted(name)} leads out with ..`, stayInside);
    return segments.join('/');
  }

  /** Of a hard link: a file that came before it. */
  #existing({ name, target }: RawHeader): string {
    const path = this.#pathOf(target, name);
    const kind = this.#kinds.get(path);
    if (kind === 'file' || kind === 'hardlink') return path;
    throw this.fault.member(name, `is a hard link to ${quoted(target)}, which is no file before it`, leaveOut);
  }

  #makeWay(path: string, told: string): Member[] {
    const missing: Member[] = [];
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at);
      const known = this.#kinds.get(above);
      if (known && known !== 'directory') {
        throw this.fault.member(told, `is below ${quoted(above)}, which is no directory`, leaveOut);
      }
      if (known) continue;
      const made = implied(above);
      this.#enter(above);
      this.#note(made);
      missing.push(made);
    }
    return missing;
  }

  #enter(path: string): void {
    const slash = path.lastIndexOf('/');
    const above = slash === -1 ? '' : path.slice(0, slash);
    const names = this.#children.get(above);
    if (names) names.push(path.slice(slash + 1));
    else this.#children.set(above, [path.slice(slash + 1)]);
  }

  /** Of a file its kind is all that is kept: there may be a hundred thousand. */
  #note(member: Member): void {
    this.#kinds.set(member.path, member.kind);
    if (member.kind === 'directory') this.#directories.set(member.path, member);
    if (member.kind === 'symlink') this.#links.set(member.path, member.target);
  }

  #leaves(path: string, target: string): boolean {
    const here = path.split('/').slice(0, -1);
    const ahead = target.split('/').toReversed();
    if (target.startsWith('/')) return true;
    for (let links = 0; ahead.length > 0 && links < mostLinks;) {
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
