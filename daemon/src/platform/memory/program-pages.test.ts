/** The pages of the program: only clean pages are released, and the program continues without them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'bun:test';
import { elfSection } from './elf-section.ts';
import { cleanPages, pagesOf, parseMappings, releaseProgramPages } from './program-pages.ts';

const residentKb = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);

test('a program that releases its pages is smaller, and keeps running', () => {
  const before = residentKb();
  releaseProgramPages();
  expect(residentKb()).toBeLessThan(before - 4096);
  expect([3, 1, 2].toSorted()).toEqual([1, 2, 3]);
});

test('only pages of files that cannot be written and were never written are released', () => {
  const mapping = (line: string, dirtyKb: number) =>
    `${line}\nSize: 8 kB\nPrivate_Dirty: 4 kB\nAnonymous: ${String(dirtyKb).padStart(8)} kB\nVmFlags: rd ex mr\n`;
  const smaps = [
    mapping('00400000-00402000 r-xp 00000000 fe:00 12 /opt/program', 0),
    mapping('00402000-00404000 r-xp 00002000 fe:00 12 /opt/program', 4),
    mapping('00404000-00406000 r--p 00004000 fe:00 12 /opt/program', 0),
    mapping('00406000-00408000 rw-p 00006000 fe:00 12 /opt/program', 0),
    mapping('00408000-0040a000 rwxp 00000000 00:00 0 ', 0),
    mapping('7ff000000000-7ff000001000 r-xp 00000000 00:00 0 [vdso]', 0),
  ].join('');
  expect(cleanPages(parseMappings(smaps))).toMatchObject([
    { start: 0x400000n, bytes: 0x2000n },
    { start: 0x404000n, bytes: 0x2000n },
  ]);
});

test('of a section in a writable mapping, whole pages are released', () => {
  const smaps =
    '10000-20000 rw-p 00008000 fe:00 12 /opt/program\nKernelPageSize:        4 kB\nAnonymous:        8 kB\n';
  const [mapping] = parseMappings(smaps);
  const pages = (offset: number, bytes: number) => pagesOf({ offset, bytes }, mapping!);
  expect(mapping).toMatchObject({ path: '/opt/program', offset: 0x8000n, isWritable: true, isChanged: true });
  expect(pages(0x9000, 0x2000)).toEqual([{ start: 0x11000n, bytes: 0x2000n }]);
  expect(pages(0x9001, 0x2ffe)).toEqual([{ start: 0x12000n, bytes: 0x1000n }]);
  expect(pages(0x7800, 0x100000)).toEqual([{ start: 0x10000n, bytes: 0x10000n }]);
  expect(pages(0x9001, 0x1ffe)).toEqual([]);
  expect(pages(0x1000, 0x2000)).toEqual([]);
  expect(pages(0x18000, 0x2000)).toEqual([]);
});

test('a section of a program is found by its whole name', () => {
  const section = elfSection(process.execPath, '.rodata');
  expect(section?.offset).toBeGreaterThan(0);
  expect(section?.bytes).toBeGreaterThan(4096);
  expect(elfSection(process.execPath, '.rodat')).toBeNull();
  expect(elfSection('/proc/self/status', '.rodata')).toBeNull();
});
