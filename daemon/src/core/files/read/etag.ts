/** Computes an entity tag from the stat of a file, without reading the file. */
import type { BigIntStats } from 'node:fs';

/** A strong entity tag. Every change of the content changes the inode, the size or the change time. */
export function etagOf({
  ino,
  size,
  mtimeNs,
  ctimeNs,
}: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return `"${[ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')}"`;
}
