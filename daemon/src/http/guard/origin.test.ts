/** The origin that a client knows; no header can inject anything else. */
import { expect, test } from 'bun:test';
import { publicOrigin } from './origin.ts';

test('the origin is found through proxies and without one', () => {
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{}, 'http://box:80'],
    [{ 'x-forwarded-proto': 'https' }, 'https://box:80'],
    [{ 'x-forwarded-proto': 'HTTPS, http', 'x-forwarded-host': 'a.example, b' }, 'https://a.example'],
    [{ 'x-forwarded-host': '[::1]:8080', 'x-forwarded-prefix': '/s/7/' }, 'http://[::1]:8080/s/7'],
    [{ 'x-forwarded-prefix': '/' }, 'http://box:80'],
    [{ 'x-forwarded-proto': 'javascript', 'x-forwarded-host': 'a b', 'x-forwarded-prefix': 's?x' }, 'http://box:80'],
    [{ 'x-forwarded-host': 'user@evil', 'x-forwarded-prefix': '//evil' }, 'http://box:80'],
  ];
  for (const [headers, origin] of cases) {
    expect([headers, publicOrigin(new Headers({ host: 'box:80', ...headers }))]).toEqual([headers, origin]);
  }
});
