/** The key is compared by digest, so that timing reveals neither its length nor its beginning. */
import { expect, test } from 'bun:test';
import { ApiKey } from './auth.ts';

const url = new URL('http://localhost/v2/commands');

test('AUTH-CONSTANT keys are compared in constant time, whatever their length and beginning', () => {
  const key = new ApiKey('secret-key');
  const tryKey = (candidate: string) => key.authorizes(new Headers({ 'x-api-key': candidate }), url);

  expect(tryKey('secret-key')).toBe(true);
  for (const candidate of ['', 's', 'secret-ke', 'secret-keys', 'SECRET-KEY', 'x'.repeat(100_000)]) {
    expect([candidate.length, tryKey(candidate)]).toEqual([candidate.length, false]);
  }
});

test('without a key every request is authorized, whatever it carries', () => {
  expect(new ApiKey(null).authorizes(new Headers({ 'x-api-key': 'anything' }), url)).toBe(true);
});

test('the gateway’s header counts only on its own sub-request', () => {
  const key = new ApiKey('k');
  const headers = new Headers({ 'x-svc-api-key': 'k' });

  expect(key.authorizes(headers, new URL('http://localhost/internal/auth'))).toBe(true);
  expect(key.authorizes(headers, url)).toBe(false);
});
