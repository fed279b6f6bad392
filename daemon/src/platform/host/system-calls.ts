/** Calls of the C library that the runtime does not offer. Each blocks for about as long as a rename. */
import { dlopen, ptr, read } from 'bun:ffi';
import { constants } from 'node:fs';
import { nullOnNow } from '../../kit/errno.ts';
import { once } from '../../kit/once.ts';
import { encodePath, systemPath } from '../../kit/text/path-text.ts';
import { systemError } from './system-error.ts';

/** O_CLOEXEC, open(2), which the runtime adds to its own calls. */
const closeOnExec = 0o2000000;
const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const readingFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | closeOnExec;
const flags = { noReplace: 1, exchange: 2 } as const; // renameat2(2)

interface OldName {
  readonly from: number;
  readonly name: string;
}

interface NewName {
  readonly to: number;
  readonly name: string;
}

/** Opened at the first call, because opening it would add a millisecond to the start. */
const library = once(() => {
  const { symbols } = dlopen('libc.so.6', {
    renameat2: { args: ['i32', 'ptr', 'i32', 'ptr', 'u32'], returns: 'i32' },
    flistxattr: { args: ['i32', 'ptr', 'u64'], returns: 'i64' },
    fgetxattr: { args: ['i32', 'ptr', 'ptr', 'u64'], returns: 'i64' },
    llistxattr: { args: ['ptr', 'ptr', 'u64'], returns: 'i64' },
    lgetxattr: { args: ['ptr', 'ptr', 'ptr', 'u64'], returns: 'i64' },
    fremovexattr: { args: ['i32', 'ptr'], returns: 'i32' },
    fsetxattr: { args: ['i32', 'ptr', 'ptr', 'u64', 'i32'], returns: 'i32' },
    futimens: { args: ['i32', 'ptr'], returns: 'i32' },
    utimensat: { args: ['i32', 'ptr', 'ptr', 'i32'], returns: 'i32' },
    openat: { args: ['i32', 'ptr', 'i32'], returns: 'i32' },
    // glibc before 2.30 has no getdents64.
    syscall: { args: ['i64', 'i64', 'ptr', 'u64'], returns: 'i64' },
    lseek: { args: ['i32', 'i64', 'i32'], returns: 'i64' },
    __errno_location: { args: [], returns: 'ptr' },
  });
  return symbols;
});

/** Throws EEXIST when the new name exists. */
export function renameWithoutReplacing(source: OldName, target: NewName): void {
  rename(source, target, flags.noReplace);
}

/** Both names must exist. */
export function exchange(source: OldName, target: NewName): void {
  rename(source, target, flags.exchange);
}

function rename(source: OldName, target: NewName, flag: number): void {
  const [name, newName] = [cString(source.name), cString(target.name)];
  check('renameat2', library().renameat2(source.from, ptr(name), target.to, ptr(newName), flag));
}

/**
 * Opens an existing name in an open directory for reading. Follows no link and waits for no device or pipe. A path
 * through /proc/self/fd takes longer.
 */
export function openToRead(directory: number, name: string): number {
  return check('openat', library().openat(directory, ptr(shortName(name)), readingFlags));
}

/** Space for one name, which saves an allocation for each file of a tree. */
const nameSpace = Buffer.alloc(1024);

/** Valid until the next call. */
function shortName(name: string): Buffer {
  // A character of UTF-16 is at most three bytes of UTF-8.
  if (name.length * 3 >= nameSpace.length || typeof systemPath(name) !== 'string') return cString(name);
  nameSpace[nameSpace.write(name)] = 0;
  return nameSpace;
}

const getdents64 = process.arch === 'arm64' ? 61 : 217; // The number of getdents64(2) in the kernel's tables.

/** Fills `buffer` with the next entries of an open directory. Returns the number of bytes, 0 at the end. */
export function nextEntries(directory: number, buffer: Buffer): number {
  return check('getdents64', Number(library().syscall(getdents64, directory, ptr(buffer), buffer.length)));
}

/** The next range of stored bytes, up to the hole after it; null when only a hole is left. */
export function nextExtent(fd: number, offset: number): { readonly from: number; readonly to: number } | null {
  const [data, hole] = [3, 4]; // SEEK_DATA and SEEK_HOLE, lseek(2)
  const from = Number(library().lseek(fd, offset, data));
  if (from < 0) return null;
  return { from, to: check('lseek', Number(library().lseek(fd, from, hole))) };
}

export interface Times {
  readonly atimeNs: bigint;
  readonly mtimeNs: bigint;
}

/** Exact to the nanosecond; the runtime's own function takes seconds as a floating-point number. */
export function setTimes(fd: number, times: Times): void {
  check('futimens', library().futimens(fd, ptr(timeSpecs(times))));
}

/** Sets the times of a symbolic link itself. */
export function setLinkTimes(directory: number, name: string, times: Times): void {
  const noFollow = 0x100; // AT_SYMLINK_NOFOLLOW
  const cName = cString(name);
  check('utimensat', library().utimensat(directory, ptr(cName), ptr(timeSpecs(times)), noFollow));
}

function timeSpecs({ atimeNs, mtimeNs }: Times): BigInt64Array {
  const second = 1_000_000_000n;
  // Rounded down, so that the nanoseconds of a time before 1970 are positive too.
  const split = (ns: bigint) => {
    const rest = ((ns % second) + second) % second;
    return [(ns - rest) / second, rest];
  };
  return BigInt64Array.from([...split(atimeNs), ...split(mtimeNs)]);
}

/** Extended attributes that a copy keeps: user attributes, access control lists and security labels. */
const carried = /^(user\.|system\.posix_acl_|security\.(selinux|SMACK64)$)/;
/** Errors of file systems that have no extended attributes, or none that the daemon may set. */
const withoutAttributes = new Set(['ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'ENOSYS', 'ENODATA']);
const maxBytes = 64 * 1024; // XATTR_LIST_MAX and XATTR_SIZE_MAX, xattr(7)

/** Copies the extended attributes of the first file to the second. */
export function copyAttributes(source: number, target: number): void {
  whereKept(() => {
    for (const name of namesOf(source).filter((one) => carried.test(one)))
      setAttribute(target, name, valueOf(source, name));
  });
}

/** The file has these extended attributes and no other one with the prefix. False where none can be kept. */
export function replaceAttributes(fd: number, prefix: string, values: ReadonlyMap<string, string>): boolean {
  return whereKept(() => {
    for (const name of namesOf(fd).filter((one) => one.startsWith(prefix))) {
      const cName = cString(name);
      check('fremovexattr', library().fremovexattr(fd, ptr(cName)));
    }
    for (const [name, value] of values) setAttribute(fd, `${prefix}${name}`, Buffer.from(value));
  });
}

/** The extended attributes with the prefix, without it in their names. Follows no link. Throws for a missing file. */
export function attributesOf(path: string, prefix: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  whereKept(() => {
    for (const name of namesOf(path))
      if (name.startsWith(prefix)) values.set(name.slice(prefix.length), valueOf(path, name).toString());
  });
  return values;
}

/** False on a file system that keeps no extended attributes. */
function whereKept(work: () => void): boolean {
  return nullOnNow(withoutAttributes, work) !== null;
}

/** An open file, or a path whose last name is not followed. */
type Attributed = number | string;

function namesOf(file: Attributed): string[] {
  const size = listInto(file, null);
  if (size === 0) return [];
  const names = Buffer.alloc(Math.min(size + 1024, maxBytes));
  return names.toString('latin1', 0, listInto(file, names)).split('\0');
}

function listInto(file: Attributed, names: Buffer | null): number {
  const [at, length] = [names && ptr(names), names?.length ?? 0];
  if (typeof file === 'number') return check('flistxattr', Number(library().flistxattr(file, at, length)));
  const cPath = cString(file);
  return check('llistxattr', Number(library().llistxattr(ptr(cPath), at, length)));
}

function valueOf(file: Attributed, name: string): Buffer {
  const value = Buffer.alloc(maxBytes);
  const [cName, at] = [cString(name), ptr(value)];
  if (typeof file === 'number') {
    const length = check('fgetxattr', Number(library().fgetxattr(file, ptr(cName), at, value.length)));
    return value.subarray(0, length);
  }
  const cPath = cString(file);
  return value.subarray(0, check('lgetxattr', Number(library().lgetxattr(ptr(cPath), ptr(cName), at, value.length))));
}

function setAttribute(fd: number, name: string, value: Buffer): void {
  const cName = cString(name);
  // An empty buffer has no address.
  const at = value.length === 0 ? null : ptr(value);
  check('fsetxattr', library().fsetxattr(fd, ptr(cName), at, value.length, 0));
}

function cString(text: string): Buffer {
  return Buffer.concat([encodePath(text), Buffer.of(0)]);
}

/** Returns the result, or throws the error of the system. */
function check(call: string, result: number): number {
  if (result >= 0) return result;
  throw systemError(call, read.i32(library().__errno_location()!, 0));
}
