/** Which names a request may be made for. */
import { expect, test } from 'bun:test';
import { hostName, isAllowedHost } from './guard.ts';

test('a host is compared without its port, case, brackets and final dot', () => {
  const cases = {
    'A.Example:80': 'a.example',
    'a.example.': 'a.example',
    '[::1]:8': '::1',
    '[fe80::1]': 'fe80::1',
    localhost: 'localhost',
  };
  for (const [host, name] of Object.entries(cases)) expect([host, hostName(host)]).toEqual([host, name]);
});

test('patterns: a name, everything below a suffix, any name without a dot', () => {
  const cases: [string, string, boolean][] = [
    ['box', '*', true],
    ['box.example', '*', false],
    ['', '*', false],
    ['a.svc', '*.svc', true],
    ['a.b.svc', '*.SVC', true],
    ['svc', '*.svc', false],
    ['.svc', '*.svc', false],
    ['a.svc.evil', '*.svc', false],
    ['box.example', 'box.example', true],
    ['xbox.example', 'box.example', false],
  ];
  for (const [name, pattern, allowed] of cases)
    expect([name, pattern, isAllowedHost(name, [pattern])]).toEqual([name, pattern, allowed]);
});
