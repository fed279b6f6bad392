/** The limits of control groups, read from files in the layout of the kernel. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'bun:test';
import { groupUses } from './memory.ts';

const root = mkdtempSync(join(tmpdir(), 'boxkeep-memory-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function group(path: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(root, path), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, path, name), text);
}

test('in the one tree of groups, the daemon’s own group and its limited ancestors count', () => {
  group('system/daemon', {
    'memory.max': '1000\n',
    'memory.current': '900\n',
    'memory.stat': 'anon 700\nfile 200\ninactive_file 150\nactive_file 20\n',
  });
  group('system', { 'memory.max': '5000\n', 'memory.current': '4900\n', 'memory.stat': 'inactive_file 0\n' });
  group('', { 'memory.max': 'max\n', 'memory.current': '4900\n', 'memory.stat': '' });
  expect(groupUses('0::/system/daemon\n', root)).toEqual([
    { limitBytes: 1000, leftBytes: 260 },
    { limitBytes: 5000, leftBytes: 100 },
  ]);
});

test('of several trees, the memory tree counts, and a limit above the machine’s memory is no limit', () => {
  const membership = '5:cpu,cpuacct:/elsewhere\n4:pids,memory:/a/b\n0::/\n';
  group('memory/a/b', {
    'memory.limit_in_bytes': '2000\n',
    'memory.usage_in_bytes': '1950\n',
    'memory.stat': 'inactive_file 1\ntotal_inactive_file 30\n',
  });
  group('memory/a', { 'memory.limit_in_bytes': '9223372036854771712\n', 'memory.usage_in_bytes': '1950\n' });
  expect(groupUses(membership, root)).toEqual([{ limitBytes: 2000, leftBytes: 80 }]);
});

test('in a container the root of the mount is the own group, whatever its path is outside', () => {
  group('', { 'memory.max': '1000\n', 'memory.current': '400\n', 'memory.stat': '' });
  expect(groupUses('0::/docker/0123\n', root)).toEqual([{ limitBytes: 1000, leftBytes: 600 }]);
});

test('without readable group files there is no group', () => {
  expect([groupUses('', root), groupUses('0::/a\n', root)]).toEqual([[], []]);
});
