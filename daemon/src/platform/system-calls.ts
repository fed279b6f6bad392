/** The few calls of the C library that the runtime has no function for. They block for as long as a rename takes. */
import { dlopen, ptr, read } from 'bun:ffi';
import { constants } from 'node:os';
import { once } from '../kit/once.ts';
import { encodePath } from '../kit/path-text.ts';

const noReplace = 1; // RENAME_NOREPLACE, renameat2(2)

/** Opened with the first call: it costs a start a millisecond. */
const library = once(() => {
  const { symbols } = dlopen('libc.so.6', {
    renameat2: { args: ['i32', 'ptr', 'i32', 'ptr', 'u32'], returns: 'i32' },
    flistxattr: { args: ['i32', 'ptr', 'u64'], returns: 'i64' },
    fgetxattr: { args: ['i32', 'ptr', 'ptr', 'u64'], returns: 'i64' },
    fsetxattr: { args: ['i32', 'ptr', 'ptr', 'u64', 'i32'], returns: 'i32' },
    __errno_location: { args: [], returns: 'ptr' },
  });
  return symbols;
});

/** Throws EEXIST where the new name is taken. */
export function renameWithoutReplacing(
  source: { readonly from: number; readonly name: string },
  target: { readonly to: number; readonly name: string },
): void {
  const [name, newName] = [cString(source.name), cString(target.name)];
  check('renameat2', library().renameat2(source.from, ptr(name), target.to, ptr(newName), noReplace));
}

/** Extended attributes that belong to a file whatever it holds: a user's own, access lists and labels. */
const carried = /^(user\.|system\.posix_acl_|security\.(selinux|SMACK64)$)/;
/** Where the file system has none, or none that we may set. */
const withoutAttributes = new Set(['ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'ENOSYS', 'ENODATA']);
const mostBytes = 64 * 1024; // XATTR_LIST_MAX and XATTR_SIZE_MAX, xattr(7)

/** Gives the second file the extended attributes of the first. */
export function copyAttributes(source: number, target: number): void {
  try {
    for (const name of attributeNames(source)) {
      const value = readAttribute(source, name);
      const cName = cString(name);
      check('fsetxattr', library().fsetxattr(target, ptr(cName), ptr(value), value.length, 0));
    }
  } catch (error) {
    if (!withoutAttributes.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function attributeNames(fd: number): string[] {
  const size = check('flistxattr', Number(library().flistxattr(fd, null, 0)));
  if (size === 0) return [];
  const names = Buffer.alloc(Math.min(size + 1024, mostBytes));
  const length = check('flistxattr', Number(library().flistxattr(fd, ptr(names), names.length)));
  const all = names.toString('latin1', 0, length).split('\0');
  return all.filter((name) => carried.test(name));
}

function readAttribute(fd: number, name: string): Buffer {
  const value = Buffer.alloc(mostBytes);
  const cName = cString(name);
  const length = check('fgetxattr', Number(library().fgetxattr(fd, ptr(cName), ptr(value), value.length)));
  return value.subarray(0, length);
}

function cString(text: string): Buffer {
  return Buffer.concat([encodePath(text), Buffer.of(0)]);
}

/** The result, or what the system says against it. */
function check(call: string, result: number): number {
  if (result >= 0) return result;
  const errno = read.i32(library().__errno_location()!, 0);
  const code = Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `E${errno}`;
  throw Object.assign(new Error(`${code}: ${call}`), { code, errno: -errno, syscall: call });
}
