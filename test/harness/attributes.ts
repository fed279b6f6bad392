/** Reads and writes extended attributes of files, for which the runtime has no function. */
import { dlopen, ptr } from 'bun:ffi';

const { symbols: libc } = dlopen('libc.so.6', {
  setxattr: { args: ['cstring', 'cstring', 'ptr', 'u64', 'i32'], returns: 'i32' },
  getxattr: { args: ['cstring', 'cstring', 'ptr', 'u64'], returns: 'i64' },
});

const text = (value: string): Buffer => Buffer.from(`${value}\0`);

export function setAttribute(path: string, name: string, value: Buffer): void {
  if (libc.setxattr(ptr(text(path)), ptr(text(name)), ptr(value), value.length, 0) !== 0) {
    throw new Error(`${path} cannot be given ${name}`);
  }
}

/** Null where the attribute does not exist. */
export function attributeOf(path: string, name: string): Buffer | null {
  const value = Buffer.alloc(1024);
  const length = Number(libc.getxattr(ptr(text(path)), ptr(text(name)), ptr(value), value.length));
  return length < 0 ? null : value.subarray(0, length);
}

/** The attribute that holds an access list (acl(5)). The list gives permissions to one more account. */
export const accessList = 'system.posix_acl_access';

export function accessListFor(uid: number, mode: number, permissions: number): Buffer {
  const undefinedId = 0xffff_ffff;
  const entries = [
    [0x01, mode >> 6, undefinedId],
    [0x02, permissions, uid],
    [0x04, (mode >> 3) & 7, undefinedId],
    [0x10, permissions | ((mode >> 3) & 7), undefinedId],
    [0x20, mode & 7, undefinedId],
  ] as const;
  const value = Buffer.alloc(4 + entries.length * 8);
  value.writeUInt32LE(2, 0); // The version of the format.
  for (const [n, [tag, allowed, id]] of entries.entries()) {
    value.writeUInt16LE(tag, 4 + n * 8);
    value.writeUInt16LE(allowed & 7, 6 + n * 8);
    value.writeUInt32LE(id >>> 0, 8 + n * 8);
  }
  return value;
}
