/** Files and watchers through the protocol of E2B. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runClient, urlOf, withE2b } from '../harness/e2b.ts';
import { expect, test } from '../harness/sandbox.ts';

test(
  'E2B-FILES the SDK for Python looks at, makes, moves and removes files, and watches them',
  async ({ sandbox }) => {
    const place = join(sandbox.directory, 'place');
    mkdirSync(place, { mode: 0o755 });
    writeFileSync(join(place, 'one.txt'), 'one', { mode: 0o640 });
    symlinkSync('one.txt', join(place, 'link'));
    symlinkSync('nowhere', join(place, 'broken')); // The SDK leaves out what has no type.
    const seen = await runClient('e2b-files.py', urlOf(sandbox), place);
    expect(seen).toEqual({
      make: [true, false],
      'make over a file': 'InvalidArgumentException',
      exists: [true, false],
      info: ['one.txt', 'file', '-rw-r-----', 3],
      'info of a link': ['link', 'symlink', 'Lrwxrwxrwx', 7],
      'link target': join(place, 'one.txt'),
      'info of nothing': 'FileNotFoundException',
      list: [
        ['a', 'dir'],
        ['link', 'symlink'],
        ['one.txt', 'file'],
      ],
      'list deep': ['/a', '/a/b', '/link', '/one.txt'],
      'list of a file': 'InvalidArgumentException',
      'list of nothing': 'FileNotFoundException',
      rename: '/c/two.txt',
      'rename of nothing': 'FileNotFoundException',
      removed: false,
      events: [
        ['new.txt', 'create'],
        ['new.txt', 'write'],
        ['new.txt', 'rename'],
        ['b/moved.txt', 'create'],
        ['b/moved.txt', 'chmod'],
        ['b/moved.txt', 'remove'],
      ],
      stopped: 'SandboxException',
      'watch of nothing': 'FileNotFoundException',
      followed: ['last', 'create'],
    });
  },
  withE2b({ timeoutMs: 60_000 }),
);
