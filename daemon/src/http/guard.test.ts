/** The host names that a request may address. */
import { expect, test } from 'bun:test';
import { frameAncestors, guardRequest, hostName, isListed, type GuardSettings } from './guard.ts';

const keyless: GuardSettings = { allowedHosts: [], corsOrigins: [], hasKey: false, ownName: 'Machine-7' };

test('hosts are compared without port, case, brackets and final dot', () => {
  const cases = {
    'A.Example:80': 'a.example',
    'a.example.': 'a.example',
    '[::1]:8': '::1',
    '[fe80::1]': 'fe80::1',
    localhost: 'localhost',
  };
  for (const [host, name] of Object.entries(cases)) expect([host, hostName(host)]).toEqual([host, name]);
});

test('a pattern is a name, a suffix for everything below it, or any name without a dot', () => {
  const cases: [string, string, boolean][] = [
    ['box', '*', true],
    ['box.example', '*', false],
    ['', '*', false],
    ['localhost', '*', false],
    ['::1', '*', false],
    ['::1', '::1', true],
    ['localhost', 'LocalHost', true],
    ['a.svc', '*.svc', true],
    ['a.b.svc', '*.SVC', true],
    ['svc', '*.svc', false],
    ['.svc', '*.svc', false],
    ['a.svc.evil', '*.svc', false],
    ['box.example', 'box.example', true],
    ['xbox.example', 'box.example', false],
  ];
  for (const [name, pattern, allowed] of cases)
    expect([name, pattern, isListed(name, [pattern])]).toEqual([name, pattern, allowed]);
});

test('an origin is allowed when it equals the origin of the request or is listed', () => {
  const settings = { ...keyless, allowedHosts: ['*', '*.svc', '10.0.0.9'], corsOrigins: ['https://app.example'] };
  const cases: [string, string, boolean][] = [
    ['localhost:18091', 'http://localhost:18091', true],
    ['localhost:18091', 'http://LOCALHOST:18091', true],
    ['localhost:18091', 'http://localhost:3000', false],
    ['localhost:18091', 'http://localhost', false],
    ['localhost:18091', 'http://127.0.0.1:18091', false],
    ['10.0.0.1', 'http://10.0.0.1', true],
    ['10.0.0.1:80', 'http://10.0.0.1', true],
    ['10.0.0.1:443', 'https://10.0.0.1', true],
    ['10.0.0.1', 'https://10.0.0.1', true],
    ['10.0.0.1', 'https://10.0.0.1:80', false],
    ['10.0.0.1', 'http://10.0.0.2', false],
    ['10.0.0.1', 'http://10.0.0.9:3000', true],
    ['[::1]:5', 'http://[::1]:5', true],
    ['[::1]:5', 'http://[::1]:6', false],
    ['10.0.0.1', 'http://[2001:db8::1]', false],
    ['10.0.0.1', 'http://box:3000', true],
    ['10.0.0.1', 'https://a.svc', true],
    ['10.0.0.1', 'https://app.example', true],
    ['10.0.0.1', 'https://app.example:8443', false],
    ['10.0.0.1', 'ftp://10.0.0.1', false],
    ['10.0.0.1', 'file://', false],
    ['10.0.0.1', '', false],
  ];
  for (const [host, origin, allowed] of cases) {
    const forwarded = { 'x-forwarded-host': URL.parse(origin)?.host ?? 'x' };
    const guard = () => guardRequest(settings, new Headers({ host, origin, ...forwarded }), new URL('http://x/'));
    if (allowed) expect([host, origin, guard()]).toEqual([host, origin, undefined]);
    else expect(guard).toThrow(`the origin ${origin} is not allowed`);
  }
});

test('pages that may show the console in a frame are those whose requests are allowed', () => {
  const settings = {
    ...keyless,
    allowedHosts: ['*', '*.svc', 'box.example'],
    corsOrigins: ['https://app.example', 'null'],
  };
  expect(frameAncestors(keyless)).toBe("'self'");
  expect(frameAncestors(settings)).toBe(
    "'self' http://*.svc:* https://*.svc:* http://box.example:* https://box.example:* https://app.example",
  );
});

test('any Host is served with a key and without a list; otherwise only the own name, addresses and listed names', () => {
  const list = { allowedHosts: ['named.example'] };
  const serves = (settings: Partial<GuardSettings>, host: string) => {
    try {
      guardRequest({ ...keyless, ...settings }, new Headers({ host }), new URL('http://x/'));
      return true;
    } catch {
      return false; // The test only checks whether the request is refused.
    }
  };
  for (const host of ['machine-7:18091', 'MACHINE-7.', '10.0.0.1', 'localhost'])
    for (const settings of [{}, list, { hasKey: true }, { hasKey: true, ...list }])
      expect([host, settings, serves(settings, host)]).toEqual([host, settings, true]);
  const served = (host: string) =>
    [{}, list, { hasKey: true }, { hasKey: true, ...list }].map((settings) => serves(settings, host));
  expect(served('box')).toEqual([false, false, true, false]);
  expect(served('named.example')).toEqual([false, true, true, true]);
});
