/** What tells one state of a file from another without reading it. */
import type { BigIntStats } from 'node:fs';

/** A strong entity tag: a change of the content changes the inode, or its size or change time. */
export function etagOf({
  ino,
  size,
  mtimeNs,
  ctimeNs,
}: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return `"${[ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')}"`;
}
