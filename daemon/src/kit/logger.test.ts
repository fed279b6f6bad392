/** Secrets can be distinguished in a log, but are never shown. */
import { expect, test } from 'bun:test';
import { redact } from './logger.ts';

test('fields that look like secrets become a length and a short hash', () => {
  const fields = redact({
    apiKey: 'hunter2',
    Authorization: 'Bearer x',
    set_cookie: 'a',
    status: 200,
    key: true,
    route: '/v2',
  });

  expect(fields).toEqual({
    apiKey: '<7 characters, f52fbd32>',
    Authorization: expect.stringMatching(/^<8 characters, [0-9a-f]{8}>$/),
    set_cookie: expect.stringMatching(/^<1 characters/),
    status: 200,
    key: true,
    route: '/v2',
  });
});
