/** Releases the memory pages of the program's file that are resident. */
import { dlopen } from 'bun:ffi';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { elfSection, type ElfSection } from './elf-section.ts';

const dontNeed = 4; // MADV_DONTNEED
const mappingPattern = /^([0-9a-f]+)-([0-9a-f]+) r([w-])[x-]p ([0-9a-f]+) \S+ \d+ +(\/.*)$/m;
/** A built program carries its JavaScript as bytecode and text in this section, which the runtime only reads. */
const scriptSection = '.bun';
/** The size of an entry of `/proc/self/pagemap`, and its flags for a resident page that is a copy of the file. */
const entryBytes = 8;
const pageOfFile = 0b1010_0000;

/**
 * Half of the resident memory of an idle daemon would be code that ran once, at the start or under a load, and data
 * beside it. The released pages stay in the page cache, and a page that is used again comes back with a minor fault. A
 * machine without madvise(2) or `/proc/self/smaps` keeps the pages; nothing else depends on the release.
 */
export function releaseProgramPages(): void {
  try {
    const { symbols } = dlopen('libc.so.6', { madvise: { args: ['u64', 'u64', 'i32'], returns: 'i32' } });
    const mappings = parseMappings(readFileSync('/proc/self/smaps', 'latin1'));
    // The search for pages runs code of the program, so nothing is released before the search is over.
    const found = [...mappings.flatMap(scriptPages), ...cleanPages(mappings)];
    for (const { start, bytes } of found) symbols.madvise(start, bytes, dontNeed);
  } catch {
    return; // Only the memory saving is lost.
  }
}

interface Pages {
  readonly start: bigint;
  readonly bytes: bigint;
}

/** A private mapping of a file. */
export interface Mapping extends Pages {
  readonly path: string;
  /** Position of the mapping in the file. */
  readonly offset: bigint;
  readonly pageBytes: bigint;
  readonly isWritable: boolean;
  /** True when a page differs from the file. */
  readonly isChanged: boolean;
}

export function parseMappings(smaps: string): Mapping[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap((text) => {
    const match = mappingPattern.exec(text);
    if (!match) return [];
    const [, start = '', end = '', write = '', offset = '', path = ''] = match;
    return {
      path,
      start: BigInt(`0x${start}`),
      bytes: BigInt(`0x${end}`) - BigInt(`0x${start}`),
      offset: BigInt(`0x${offset}`),
      pageBytes: 1024n * BigInt(/^KernelPageSize: +(\d+) kB$/m.exec(text)?.[1] ?? 4),
      isWritable: write === 'w',
      isChanged: !/^Anonymous: +0 kB$/m.test(text),
    };
  });
}

/** Read-only mappings of files. A mapping with a modified page stays, because that page differs from the file. */
export function cleanPages(mappings: readonly Mapping[]): Pages[] {
  return mappings.filter(({ isWritable, isChanged }) => !isWritable && !isChanged);
}

/** The whole pages of a section that lie in a writable mapping. */
export function pagesOf(section: ElfSection, { start, bytes, offset, pageBytes }: Mapping): Pages[] {
  const first = BigInt(section.offset) > offset ? BigInt(section.offset) - offset : 0n;
  const last = BigInt(section.offset + section.bytes) - offset;
  const from = ((first + pageBytes - 1n) / pageBytes) * pageBytes;
  const to = ((last < bytes ? last : bytes) / pageBytes) * pageBytes;
  return to > from ? [{ start: start + from, bytes: to - from }] : [];
}

/** The pages of the scripts, unless one of them differs from the file: the release would lose the difference. */
function scriptPages(mapping: Mapping): Pages[] {
  const section = mapping.isWritable ? elfSection(mapping.path, scriptSection) : null;
  return section ? pagesOf(section, mapping).filter((pages) => areUnchanged(pages, mapping.pageBytes)) : [];
}

/** By proc_pid_pagemap(5): no page of the range was written. */
function areUnchanged({ start, bytes }: Pages, pageBytes: bigint): boolean {
  const entries = Buffer.alloc(Number(bytes / pageBytes) * entryBytes);
  const descriptor = openSync('/proc/self/pagemap', 'r');
  try {
    const count = readSync(descriptor, entries, 0, entries.length, Number(start / pageBytes) * entryBytes);
    return count === entries.length && everyFlags(entries, (flags) => flags === 0 || flags === pageOfFile);
  } finally {
    closeSync(descriptor);
  }
}

/** The flags of an entry are in its highest byte. */
function everyFlags(entries: Uint8Array, isFine: (flags: number) => boolean): boolean {
  for (let at = entryBytes - 1; at < entries.length; at += entryBytes) {
    if (!isFine(entries[at]! & 0b1110_0000)) return false;
  }
  return true;
}
