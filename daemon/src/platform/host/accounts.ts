/** Reads the machine's accounts and groups from `/etc/passwd` and `/etc/group`, always in their current version. */
import { readFileSync, statSync, type Stats } from 'node:fs';

export interface PasswdEntry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
}

export interface AccountDatabase {
  byName(name: string): PasswdEntry | null;
  byUid(uid: number): PasswdEntry | null;
  /** The groups of an account, its primary group first. */
  groupsOf(name: string | null, gid: number): number[];
  groupName(gid: number): string | null;
}

export class SystemAccounts implements AccountDatabase {
  readonly #passwd: ParsedFile<PasswdEntry>;
  readonly #group: ParsedFile<GroupEntry>;

  constructor(etc = '/etc') {
    this.#passwd = new ParsedFile(`${etc}/passwd`, parsePasswd);
    this.#group = new ParsedFile(`${etc}/group`, parseGroup);
  }

  byName(name: string): PasswdEntry | null {
    return this.#passwd.entries().find((entry) => entry.name === name) ?? null;
  }

  byUid(uid: number): PasswdEntry | null {
    return this.#passwd.entries().find((entry) => entry.uid === uid) ?? null;
  }

  groupsOf(name: string | null, gid: number): number[] {
    const member = this.#group.entries().filter((group) => name !== null && group.members.includes(name));
    return [...new Set([gid, ...member.map((group) => group.gid)])];
  }

  groupName(gid: number): string | null {
    return this.#group.entries().find((group) => group.gid === gid)?.name ?? null;
  }
}

interface GroupEntry {
  readonly name: string;
  readonly gid: number;
  readonly members: readonly string[];
}

/** A file that is checked on every request and parsed again only after it has changed. */
class ParsedFile<Entry> {
  #version: Version | null = null;
  #entries: readonly Entry[] | null = null;

  constructor(
    private readonly path: string,
    private readonly parse: (fields: readonly string[]) => Entry | null,
  ) {}

  entries(): readonly Entry[] {
    const version = statSync(this.path, { throwIfNoEntry: false }) ?? null;
    if (this.#entries === null || !isSame(version, this.#version)) {
      const lines = version ? readFileSync(this.path, 'utf8').split('\n') : [];
      this.#entries = lines.map((line) => this.parse(line.split(':'))).filter((entry) => entry !== null);
      this.#version = version;
    }
    return this.#entries;
  }
}

type Version = Pick<Stats, 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>;

/** null is a file that does not exist. */
function isSame(one: Version | null, other: Version | null): boolean {
  if (one === null || other === null) return one === other;
  const hasSameTimes = one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs;
  return hasSameTimes && one.ino === other.ino && one.size === other.size;
}

function parsePasswd([name, , uid, gid, , home, shell]: readonly string[]): PasswdEntry | null {
  if (!name || !isId(uid) || !isId(gid)) return null;
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/', shell: shell || '/bin/sh' };
}

function parseGroup([name, , gid, members]: readonly string[]): GroupEntry | null {
  return name && isId(gid) ? { name, gid: Number(gid), members: (members ?? '').split(',').filter(Boolean) } : null;
}

function isId(text: string | undefined): text is string {
  return text !== undefined && /^\d{1,10}$/.test(text);
}
