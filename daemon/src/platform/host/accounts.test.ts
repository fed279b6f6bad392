/** Accounts are read from the files of the machine, in their version at the time of the call. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemAccounts } from './accounts.ts';

test('accounts have their names, ids and groups, and a change of the files is seen', () => {
  const etc = mkdtempSync(join(tmpdir(), 'accounts-'));
  try {
    writeFileSync(
      join(etc, 'passwd'),
      'root:x:0:0:root:/root:/bin/bash\nbroken\nada:x:1000:1001:Ada:/home/ada:\n:x:5:5::/:\n',
    );
    writeFileSync(join(etc, 'group'), 'ada:x:1001:\naudio:x:29:ada,bob\nvideo:x:44:bob\ndup:x:1001:ada\n');
    const accounts = new SystemAccounts(etc);

    expect(accounts.byName('ada')).toEqual({ name: 'ada', uid: 1000, gid: 1001, home: '/home/ada', shell: '/bin/sh' });
    expect(accounts.byUid(0)?.name).toBe('root');
    expect(accounts.byName('bob')).toBeNull();
    expect(accounts.groupsOf('ada', 1001)).toEqual([1001, 29]);
    expect(accounts.groupsOf(null, 7)).toEqual([7]);

    writeFileSync(join(etc, 'passwd'), 'bob:x:1002:1002::/home/bob:/bin/zsh\n');
    expect(accounts.byName('bob')?.uid).toBe(1002);
    expect(accounts.byName('ada')).toBeNull();
  } finally {
    rmSync(etc, { recursive: true });
  }
});

test('a machine without the account files has no names', () => {
  const accounts = new SystemAccounts('/no/such/directory');

  expect(accounts.byName('root')).toBeNull();
  expect(accounts.groupsOf('root', 0)).toEqual([0]);
});
