/** The accounts that commands may run as, on each platform, for root and other daemons. */
import { expect, test } from 'bun:test';
import type { AccountDatabase } from '../../platform/host/accounts.ts';
import { Accounts, type AccountsDeps } from './accounts.ts';

const entries = [
  { name: 'root', uid: 0, gid: 0, home: '/root', shell: '/bin/bash' },
  { name: 'ada', uid: 1000, gid: 1000, home: '/home/ada', shell: '/bin/zsh' },
];
const database: AccountDatabase = {
  byName: (name) => entries.find((entry) => entry.name === name) ?? null,
  byUid: (uid) => entries.find((entry) => entry.uid === uid) ?? null,
  groupsOf: (name, gid) => (name === 'ada' ? [gid, 29] : [gid]),
  groupName: () => null,
};

function accounts(deps: Partial<AccountsDeps> = {}): Accounts {
  return new Accounts({ database, own: { uid: 0, gid: 0 }, defaultUser: null, platform: 'linux', ...deps });
}

test('an account is a name, a uid or uid:gid', () => {
  expect(accounts().resolve('ada')).toMatchObject({ name: 'ada', uid: 1000, groups: [1000, 29], home: '/home/ada' });
  expect(accounts().resolve('1000')).toMatchObject({ name: 'ada', gid: 1000, groups: [1000, 29] });
  expect(accounts().resolve('1000:7')).toMatchObject({ name: 'ada', gid: 7 });
  expect(accounts().resolve('4711')).toEqual({
    name: '4711',
    uid: 4711,
    gid: 4711,
    groups: [4711],
    home: '/',
    shell: '/bin/sh',
  });
});

test('an unknown account is refused', () => {
  for (const user of ['bob', '', '-1', '4294967295', '1:4294967295', '1000:', '99999999999']) {
    expect(() => accounts().resolve(user)).toThrow('no account is named');
  }
});

test('the default account applies when no account is requested', () => {
  expect(accounts().resolve(null).name).toBe('root');
  expect(accounts({ defaultUser: 'ada' }).resolve(null).name).toBe('ada');
  expect(() => accounts({ defaultUser: 'bob' }).resolve(null)).toThrow('the default account "bob" does not exist');
});

test('a daemon that is not root keeps its account', () => {
  const ada = accounts({ own: { uid: 1000, gid: 1000 } });

  expect(ada.resolve('ada').uid).toBe(1000);
  expect(ada.unlessOwn(ada.resolve(null))).toBeNull();
  expect(() => ada.resolve('root')).toThrow('cannot become root');
});

test('IDENT-5 on Windows an explicit user is a bad argument, and the default account is unavailable', () => {
  const windows = accounts({ platform: 'win32', defaultUser: 'ada' });

  expect(() => windows.resolve('ada')).toThrow(expect.objectContaining({ code: 'bad_argument' }));
  expect(() => windows.resolve(null)).toThrow(expect.objectContaining({ code: 'unavailable' }));
});
