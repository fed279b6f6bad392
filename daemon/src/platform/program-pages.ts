/** Gives back the pages of the program that only its start has needed. */
import { dlopen } from 'bun:ffi';
import { readFileSync } from 'node:fs';

const dontNeed = 4; // MADV_DONTNEED
const mappingPattern = /^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ \d+ +\//;

/**
 * Half of what an idle daemon would hold resident is code that ran once. The pages stay in the page cache, and
 * what is used again comes back with a minor fault: about 0.5 ms here, and some 1 ms for the first request.
 * A machine without the call, or without `/proc/self/smaps`, keeps them; nothing else depends on it.
 */
export function releaseStartPages(): void {
  try {
    const { symbols } = dlopen('libc.so.6', { madvise: { args: ['u64', 'u64', 'i32'], returns: 'i32' } });
    for (const { start, bytes } of cleanCode(readFileSync('/proc/self/smaps', 'latin1'))) {
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

/** The code of files; a page that was written to is anonymous, no copy of the file any more, and its mapping is left alone. */
export function cleanCode(smaps: string): Mapping[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap((text) => {
    const match = mappingPattern.exec(text);
    if (!match || !/^Anonymous: +0 kB$/m.test(text)) return [];
    const [start, end] = [BigInt(`0x${match[1]}`), BigInt(`0x${match[2]}`)];
    return [{ start, bytes: end - start }];
  });
}
