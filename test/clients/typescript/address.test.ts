/** Addresses of a daemon as a person may type them, and the URLs they become. */
import { expect, test } from 'bun:test';
import { readAddress } from '../../../clients/typescript/src/address.ts';

test('an address is a URL, a host with a port, or a host alone with the default port', () => {
  const made = {
    'http://box:8080': 'http://box:8080',
    'http://box/': 'http://box',
    'https://gate.example/sandbox/7/': 'https://gate.example/sandbox/7',
    'box:80': 'http://box',
    box: 'http://box:18091',
    '10.0.0.7': 'http://10.0.0.7:18091',
    '10.0.0.7:9/prefix': 'http://10.0.0.7:9/prefix',
    'localhost/prefix:1': 'http://localhost:18091/prefix:1',
    '[::1]': 'http://[::1]:18091',
    '[::1]:9': 'http://[::1]:9',
  };
  for (const [given, address] of Object.entries(made)) expect([given, readAddress(given)]).toEqual([given, address]);
});

test('an address with a key, a query or another scheme is refused, and the error does not repeat it', () => {
  const secret = 'hunter2';
  for (const given of [`http://me:${secret}@box`, `${secret}@box:1`, `box?api_key=${secret}`, `box?x=${secret}`]) {
    expect(() => readAddress(given)).toThrow(/carries no key|has no \?/);
    expect(() => readAddress(given)).not.toThrow(secret);
  }
  expect(() => readAddress('unix:///run/sock')).toThrow('http:// or https://');
  expect(() => readAddress('http://')).toThrow('is not a URL');
});
