/** Single functions of the program, compiled with every check of the compiler. */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const sources = join(import.meta.dirname, '..');
const units = ['frame.c', 'io.c', 'journal.c', 'log.c', 'order.c', 'stdin.c'].map((name) => join(sources, name));

test('indexes stay within their limits, headers within their bytes, fields within their frames', () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-units-'));
  try {
    const binary = join(directory, 'units');
    const flags = [
      '-std=gnu11',
      '-D_GNU_SOURCE',
      '-g',
      '-O1',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-fsanitize=address,undefined',
      '-fno-sanitize-recover=all',
    ];
    const compiled = spawnSync(
      'gcc',
      [...flags, '-o', binary, join(sources, 'test', 'fixtures', 'units.c'), ...units],
      { encoding: 'utf8' },
    );
    expect(compiled.stderr).toBe('');
    const place = join(directory, 'place');
    mkdirSync(place);
    const { status, stdout, stderr } = spawnSync(binary, [place], {
      encoding: 'utf8',
      env: { ASAN_OPTIONS: 'detect_leaks=0' },
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout.replaceAll(/\d{16,}/g, '1'))).toMatchObject({ v: 1, head: [1, 1], seq: 1, seq2: 1 });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
