/** Reads entries of /proc that only the owner of a process may read, in containers where root may not either. */
import { readFileSync } from 'node:fs';
import { dlopen } from 'bun:ffi';
import { errnoOf } from '../../kit/errno.ts';
import { once } from '../../kit/once.ts';
import type { Owner } from '../../kit/types/owner.ts';

const library = once(() => {
  const setter = { args: ['u32'], returns: 'i32' } as const;
  return dlopen('libc.so.6', { setfsuid: setter, setfsgid: setter }).symbols;
});

/**
 * Containers have no CAP_SYS_PTRACE, so that root may not look into processes of other accounts. The kernel asks for the
 * file system ids of the calling thread alone. `read` must be synchronous, because these ids are other ones meanwhile.
 */
export function readAsOwner<T>(pid: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const errnoName = errnoOf(error);
    if ((errnoName !== 'EACCES' && errnoName !== 'EPERM') || process.geteuid?.() !== 0) throw error;
  }
  const { uid, gid } = ownerOf(pid);
  const { setfsuid, setfsgid } = library();
  try {
    setfsgid(gid);
    setfsuid(uid);
    return read();
  } finally {
    setfsuid(0);
    setfsgid(process.getegid?.() ?? 0);
  }
}

/** The effective ids, proc(5). */
function ownerOf(pid: number): Owner {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const id = (name: string) => Number(new RegExp(`^${name}:\\t\\d+\\t(\\d+)`, 'm').exec(status)?.[1]);
  return { uid: id('Uid'), gid: id('Gid') };
}
