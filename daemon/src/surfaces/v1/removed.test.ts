/** Removed 1.x routes get a hint, and unknown routes get none. */
import { expect, test } from 'bun:test';
import { removedHint } from './removed.ts';

test('removed folders, single routes and single methods are recognized', () => {
  for (const [method, path] of [
    ['GET', '/v1/skills'],
    ['DELETE', '/v1/skills/a/b'],
    ['POST', '/v1/browser/page/click'],
    ['GET', '/v1/browser/proxy.pac'],
    ['PATCH', '/v1/nodejs/sessions/s1'],
    ['POST', '/tickets'],
    ['POST', '/tickets/'],
  ] as const) {
    expect([method, path, removedHint(method, path)]).toEqual([
      method,
      path,
      expect.stringMatching(/^This route of the 1\.x server is gone\. .+\.$/),
    ]);
  }
  for (const [method, path] of [
    ['GET', '/v1/skillset'],
    ['GET', '/v1/browser/proxyXpac'],
    ['GET', '/v1/nodejs/sessions/s1'],
    ['PATCH', '/v1/nodejs/sessions/s1/more'],
    ['GET', '/tickets'],
    ['GET', '/v1/browser/network/requests'],
    ['GET', '/v1/sandbox'],
  ] as const) {
    expect([method, path, removedHint(method, path)]).toEqual([method, path, null]);
  }
});
