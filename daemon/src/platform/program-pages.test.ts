/** The pages of the program: only clean ones are given back, and the program goes on without them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'bun:test';
import { cleanPages, releaseStartPages } from './program-pages.ts';

const residentKb = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);

test('a program that gives its pages back is smaller, and goes on', () => {
  const before = residentKb();
  releaseStartPages();
  expect(residentKb()).toBeLessThan(before - 4096);
  expect([3, 1, 2].toSorted()).toEqual([1, 2, 3]);
});

test('only pages of files that nobody has written to or may write to are given back', () => {
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
  expect(cleanPages(smaps)).toEqual([
    { start: 0x400000n, bytes: 0x2000n },
    { start: 0x404000n, bytes: 0x2000n },
  ]);
});
