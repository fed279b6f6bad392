/** Resolution of the paths in requests. */
import { expect, test } from 'bun:test';
import { Accounts } from '../identity/accounts.ts';
import { PathResolver } from './directory.ts';

const entries = [
  { name: 'root', uid: 0, gid: 0, home: '/root', shell: '/bin/bash' },
  { name: 'ada', uid: 1000, gid: 1000, home: '/home/ada', shell: '/bin/zsh' },
];
const places = new PathResolver(
  new Accounts({
    database: {
      byName: (name) => entries.find((entry) => entry.name === name) ?? null,
      byUid: (uid) => entries.find((entry) => entry.uid === uid) ?? null,
      groupsOf: (_, gid) => [gid],
      groupName: () => null,
    },
    own: { uid: 0, gid: 0 },
    defaultUser: 'ada',
    platform: 'linux',
  }),
);

test('a path is absolute, in the home directory, or in the workspace', () => {
  expect(places.resolve('/a//b/./c/', null)).toBe('/a/b/c');
  expect(places.resolve('/a/../b', null)).toBe('/a/../b');
  expect(places.resolve('/', null)).toBe('/');
  expect(places.resolve('~', null)).toBe('/home/ada');
  expect(places.resolve('~/x', 'root')).toBe('/root/x');
  expect(places.resolve('x/y', 'root')).toBe('/home/ada/x/y');
  expect(places.resolve('~x', 'root')).toBe('/home/ada/~x');
  expect(places.resolve('file:///tmp/%FF', null)).toBe('/tmp/\udcff');
});

test('an impossible file name is refused', () => {
  for (const path of ['', 'a\0b', 'a\ud800', 'file:///a%00']) {
    expect(() => places.resolve(path, null)).toThrow('no file can be called');
  }
});
