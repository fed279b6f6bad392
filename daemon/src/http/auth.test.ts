/** The key: compared by digest, so that neither its length nor its beginning is told by time. */
import { expect, test } from 'bun:test';
import { ApiKey } from './auth.ts';

const url = new URL('http://localhost/v2/commands');

test('AUTH-CONSTANT keys are compared whole, whatever their length and beginning', () => {
  const key = new ApiKey('secret-key');
  const tryKey = (candidate: string) => key.authorizes(new Headers({ 'x-api-key': candidate }), url);

  expect(tryKey('secret-key')).toBe(true);
  for (const candidate of ['', 's', 'secret-ke', 'secret-keys', 'SECRET-KEY', 'x'.repeat(100_000)]) {
    expect([candidate.length, tryKey(candidate)]).toEqual([candidate.length, false]);
  }
});

test('without a key everything is authorized, whatever it carries', () => {
  expect(new ApiKey(null).authorizes(new Headers({ 'x-api-key': 'anything' }), url)).toBe(true);
});

test('the gateway’s header counts on its own sub-request alone', () => {
  const key = new ApiKey('k');
  const headers = new Headers({ 'x-svc-api-key': 'k' });

  expect(key.authorizes(headers, new URL('http://localhost/internal/auth'))).toBe(true);
  expect(key.authorizes(headers, url)).toBe(false);
});
