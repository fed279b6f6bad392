/** A segment of System V shared memory, which an X server of this machine can write to. */
import { dlopen, toArrayBuffer, type Pointer } from 'bun:ffi';
import { once } from '../../kit/once.ts';

export interface SharedSegment {
  readonly id: number;
  readonly bytes: Buffer;
  /** Afterwards, only processes that are attached already can use the segment. */
  forget(): void;
  close(): void;
}

const newSegment = 0; // IPC_PRIVATE
const createPrivate = 0o1600; // IPC_CREAT, and only this account may attach
const removeId = 0; // IPC_RMID
const attachFailed = 0xffff_ffff_ffff_ffffn;

const library = once(() => {
  const { symbols } = dlopen('libc.so.6', {
    shmget: { args: ['i32', 'u64', 'i32'], returns: 'i32' },
    shmat: { args: ['i32', 'u64', 'i32'], returns: 'u64' },
    shmdt: { args: ['u64'], returns: 'i32' },
    shmctl: { args: ['i32', 'i32', 'u64'], returns: 'i32' },
  });
  return symbols;
});

/** Null where the system has no shared memory left, or another C library. */
export function createSegment(length: number): SharedSegment | null {
  const libc = libraryOrNull();
  const id = libc?.shmget(newSegment, length, createPrivate) ?? -1;
  if (!libc || id < 0) return null;
  const address = libc.shmat(id, 0, 0);
  const forget = () => void libc.shmctl(id, removeId, 0);
  if (address === attachFailed) {
    forget();
    return null;
  }
  const bytes = Buffer.from(toArrayBuffer(Number(address) as Pointer, 0, length));
  return { id, bytes, forget, close: () => void libc.shmdt(address) };
}

function libraryOrNull() {
  try {
    return library();
  } catch {
    return null; // A root with another C library: pictures come through the socket.
  }
}
