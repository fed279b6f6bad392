/** Gives back the pages of the program that only its start has needed. */
import { dlopen } from 'bun:ffi';
import { readFileSync } from 'node:fs';

const dontNeed = 4; // MADV_DONTNEED
const mappingPattern = /^([0-9a-f]+)-([0-9a-f]+) r-[x-]p \S+ \S+ \d+ +\//;

/**
 * Half of what an idle daemon would hold resident is code that ran once, and data beside it. The pages stay in the
 * page cache, and what is used again comes back with a minor fault. A machine without the call, or without
 * `/proc/self/smaps`, keeps them; nothing else depends on it.
 */
export function releaseStartPages(): void {
  try {
    const { symbols } = dlopen('libc.so.6', { madvise: { args: ['u64', 'u64', 'i32'], returns: 'i32' } });
    for (const { start, bytes } of cleanPages(readFileSync('/proc/self/smaps', 'latin1'))) {
      symbols.madvise(start, bytes, dontNeed);
    }
  } catch {
    return; // Nothing is lost but the memory.
  }
}

interface Mapping {
  readonly start: bigint;
  readonly bytes: bigint;
}

/** Of files, and never to be written; a page that was written to before is no copy of the file, and its mapping stays. */
export function cleanPages(smaps: string): Mapping[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap((text) => {
    const match = mappingPattern.exec(text);
    if (!match || !/^Anonymous: +0 kB$/m.test(text)) return [];
    const [start, end] = [BigInt(`0x${match[1]}`), BigInt(`0x${match[2]}`)];
    return [{ start, bytes: end - start }];
  });
}
