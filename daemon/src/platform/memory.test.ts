/** The limits of control groups, read from files as the system has them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'bun:test';
import { groupUses } from './memory.ts';

const root = mkdtempSync(join(tmpdir(), 'sandboxd-memory-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function group(path: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(root, path), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, path, name), text);
}

test('of the one tree of groups the own one counts, and those around it that have a limit', () => {
  group('system/daemon', {
    'memory.max': '1000\n',
    'memory.current': '900\n',
    'memory.stat': 'anon 700\nfile 200\ninactive_file 150\n',
  });
  group('system', { 'memory.max': '5000\n', 'memory.current': '4900\n', 'memory.stat': 'inactive_file 0\n' });
  group('', { 'memory.max': 'max\n', 'memory.current': '4900\n', 'memory.stat': '' });
  expect(groupUses('0::/system/daemon\n', root)).toEqual([
    { limitBytes: 1000, leftBytes: 250 },
    { limitBytes: 5000, leftBytes: 100 },
  ]);
});

test('of many trees it is that of memory, and a limit beyond the machine is none', () => {
  const membership = '5:cpu,cpuacct:/elsewhere\n4:pids,memory:/a/b\n0::/\n';
  group('memory/a/b', {
    'memory.limit_in_bytes': '2000\n',
    'memory.usage_in_bytes': '1950\n',
    'memory.stat': 'inactive_file 1\ntotal_inactive_file 30\n',
  });
  group('memory/a', { 'memory.limit_in_bytes': '9223372036854771712\n', 'memory.usage_in_bytes': '1950\n' });
  expect(groupUses(membership, root)).toEqual([{ limitBytes: 2000, leftBytes: 80 }]);
});

test('in a container the root of what is mounted is the own group, whatever its path is outside', () => {
  group('', { 'memory.max': '1000\n', 'memory.current': '400\n', 'memory.stat': '' });
  expect(groupUses('0::/docker/0123\n', root)).toEqual([{ limitBytes: 1000, leftBytes: 600 }]);
});

test('where nothing can be read there is no group', () => {
  expect([groupUses('', root), groupUses('0::/a\n', root)]).toEqual([[], []]);
});
