/** Copies the content and the properties of a file from one descriptor to another. */
import { promises as fs, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { copyAttributes, nextExtent, setTimes } from '../host/system-calls.ts';

const blockBytes = 512n; // The unit of st_blocks, stat(2)
const pieceBytes = 256 * 1024;

/** Replaces the content of the target with the content of a regular file of this size. Holes stay holes. */
export async function copyContent(
  source: FileHandle,
  target: FileHandle,
  { size, blocks }: Pick<BigIntStats, 'size' | 'blocks'>,
): Promise<void> {
  if (blocks * blockBytes < size) {
    await copyExtents(source, target, Number(size));
    return;
  }
  // Shares the blocks where the file system supports that, otherwise copies inside the kernel.
  await fs.copyFile(inode(source), inode(target), fs.constants.COPYFILE_FICLONE);
}

/** Copies the extended attributes, and sets the times in `times`. */
export function copyProperties(source: FileHandle, target: FileHandle, times: BigIntStats): void {
  copyAttributes(source.fd, target.fd);
  setTimes(target.fd, times);
}

async function copyExtents(source: FileHandle, target: FileHandle, size: number): Promise<void> {
  await target.truncate(0);
  await target.truncate(size);
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let end = 0; ;) {
    const extent = nextExtent(source.fd, end);
    if (!extent) return;
    for (let at = extent.from; at < extent.to;) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(pieceBytes, extent.to - at), at);
      if (bytesRead === 0) return; // The source has become shorter.
      await writeAt(target, buffer.subarray(0, bytesRead), at);
      at += bytesRead;
    }
    end = extent.to;
  }
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}

/** A path to the open file itself, independent of its name (proc(5)). */
function inode(file: FileHandle): string {
  return `/proc/self/fd/${file.fd}`;
}
