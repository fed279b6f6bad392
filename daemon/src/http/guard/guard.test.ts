/** The host names that a request may address. */
import { expect, test } from 'bun:test';
import { frameAncestors, guardRequest, hostName, isListed, isSentByPage, type GuardSettings } from './guard.ts';

const keyless: GuardSettings = { allowedHosts: [], corsOrigins: [], hasKey: false, ownName: 'Machine-7' };

const get = (headers: Record<string, string>) => ({ method: 'GET', headers: new Headers(headers) });

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
    const guard = () => guardRequest(settings, get({ host, origin, ...forwarded }), new URL('http://x/'));
    if (allowed) expect([host, origin, guard().mayChange]).toEqual([host, origin, true]);
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
      guardRequest({ ...keyless, ...settings }, get({ host }), new URL('http://x/'));
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

/** What the guard says of a GET without Origin: who may be behind it, or that it is refused. */
function senderOf(settings: GuardSettings, headers: Record<string, string>, path = '/v2/fs/download', method = 'GET') {
  try {
    const request = { method, headers: new Headers({ host: 'localhost:18091', ...headers }) };
    const { page, mayChange } = guardRequest(settings, request, new URL(`http://localhost:18091${path}`));
    return `${page}${mayChange ? '' : ', reads'}`;
  } catch {
    return 'refused'; // The messages have a test of their own.
  }
}

const opened = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

test('Fetch Metadata of another site is refused, except where a link opens the console or a page of the gateway', () => {
  for (const site of ['cross-site', 'same-site', 'same-origin, cross-site', 'SAME-ORIGIN', ''])
    for (const more of [opened, { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, {}])
      for (const path of ['/v2/fs/download', '/v2/fs/tree', '/v1/shell/terminal-url', '/health', '//', '/x/../v1/ping'])
        expect([site, path, senderOf(keyless, { 'sec-fetch-site': site, ...more }, path)]).toEqual([
          site,
          path,
          'refused',
        ]);
  for (const path of ['/', '/internal/auth'])
    for (const site of ['cross-site', 'same-site']) {
      const from = (more: Record<string, string>, method = 'GET') =>
        senderOf(keyless, { 'sec-fetch-site': site, ...opened, ...more }, path, method);
      expect([from({}), from({}, 'HEAD'), from({}, 'POST')]).toEqual(['own, reads', 'own, reads', 'refused']);
      for (const dest of ['iframe', 'frame', 'embed', 'object', 'empty', 'image'])
        expect([dest, from({ 'sec-fetch-dest': dest })]).toEqual([dest, 'refused']);
      for (const mode of ['no-cors', 'cors', 'websocket', 'same-origin'])
        expect([mode, from({ 'sec-fetch-mode': mode })]).toEqual([mode, 'refused']);
      expect(from({ 'sec-purpose': 'prefetch;prerender' })).toBe('refused');
    }
});

test('requests of own pages, of a person and of programs are served, and a page that the browser guesses is not', () => {
  for (const site of ['same-origin', 'none'])
    expect([site, senderOf(keyless, { 'sec-fetch-site': site, referer: 'https://x.example/' })]).toEqual([site, 'own']);
  expect(senderOf(keyless, {})).toBe('own');
  expect(senderOf(keyless, { 'sec-fetch-mode': 'cors' })).toBe('own'); // Programs on Node send this field alone.
  expect(senderOf(keyless, { 'sec-fetch-site': 'same-origin', 'sec-purpose': 'prefetch' })).toBe('own');
  for (const field of ['sec-purpose', 'purpose'])
    expect(senderOf(keyless, { 'sec-fetch-site': 'none', [field]: 'prefetch;prerender' })).toBe('refused');
});

test('without Fetch Metadata the Referer decides, and the console can be linked to', () => {
  const cases: [string, string][] = [
    ['http://localhost:18091/#/terminal/x', 'own'],
    ['https://localhost:18091/', 'own'],
    ['http://localhost:3000/', 'refused'],
    ['http://127.0.0.1:18091/', 'refused'],
    ['https://evil.example/', 'refused'],
    ['android-app://mail/', 'refused'],
    ['not an address', 'refused'],
    ['', 'refused'],
  ];
  for (const [referer, sender] of cases) {
    expect([referer, senderOf(keyless, { referer })]).toEqual([referer, sender]);
    const linked = sender === 'own' ? 'own' : 'own, reads';
    expect([referer, senderOf(keyless, { referer }, '/')]).toEqual([referer, linked]);
  }
});

test('pages of listed origins embed and link to answers, without an effect', () => {
  const settings = { ...keyless, corsOrigins: ['https://app.example'], allowedHosts: ['dev.example'] };
  for (const referer of ['https://app.example/', 'https://app.example/chat?x', 'http://dev.example:3000/'])
    for (const metadata of [{}, { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' }])
      expect([referer, senderOf(settings, { referer, ...metadata })]).toEqual([referer, 'listed, reads']);
  for (const referer of ['https://app.example.evil/', 'http://app.example/', 'http://xdev.example/'])
    expect([referer, senderOf(settings, { referer, 'sec-fetch-site': 'cross-site' })]).toEqual([referer, 'refused']);
  // A page of this address may show a text of a stranger, whose server redirects to the daemon.
  const redirected = { referer: 'http://localhost:18091/', 'sec-fetch-site': 'cross-site' };
  expect(senderOf(settings, redirected)).toBe('refused');
});

test('a refusal of a page names its origin, or says that the browser did not', () => {
  const message = (headers: Record<string, string>) => () =>
    guardRequest(keyless, get({ host: 'localhost', ...headers }), new URL('http://x/metrics'));
  expect(message({ referer: 'https://evil.example/a?b=secret' })).toThrow(
    'a page of https://evil.example sent the request',
  );
  expect(message({ 'sec-fetch-site': 'cross-site' })).toThrow('a page of another origin sent the request');
});

test('a page sent what has Origin, Fetch Metadata of a page, or only a Referer', () => {
  const cases: [Record<string, string>, boolean][] = [
    [{}, false],
    [{ 'sec-fetch-mode': 'cors' }, false],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': 'none', referer: 'http://localhost/' }, false],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ 'sec-fetch-site': 'cross-site' }, true],
    [{ referer: 'http://localhost/' }, true],
    [{ origin: 'null' }, true],
  ];
  for (const [headers, isSent] of cases)
    expect([headers, isSentByPage(new Headers(headers))]).toEqual([headers, isSent]);
});
