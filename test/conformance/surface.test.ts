/** `SVC_API_SURFACE`: a daemon that does not serve v1 has none of it in memory either. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordsInMemory } from '../harness/process-memory.ts';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';

const remaining = ['operations.ping_v1', 'operations.capabilities_v1', 'operations.openapi_v1'];

/** The names of the v1 operations: a module that was loaded has made them strings of the program. */
const names = Array.from(
  readFileSync(join(repositoryRoot, 'spec/v1.json'), 'utf8').matchAll(/"operationId": "(\w+\.\w+_v1)"/g),
  ([, name = '']) => name,
);

test('RUN-SURFACE a daemon that serves v1 has its routes in memory', async ({ sandbox }) => {
  await sandbox.ok('GET /health');
  expect(names.length).toBeGreaterThan(25);
  const found = wordsInMemory(sandbox.daemonPid, names);
  expect(names.filter((name) => !found.has(name))).toEqual([]);
});

test(
  'RUN-SURFACE a daemon that serves v2 alone never loads the code of v1',
  async ({ sandbox }) => {
    // What answers although v1 is taken away, and what would load it if anything did.
    for (const path of ['/v1/ping', '/v1/sandbox', '/v1/skills/x', '/v1/openapi.json', '/v2/openapi.json']) {
      await (await sandbox.fetch(`GET ${path}`)).text();
    }
    expect([...wordsInMemory(sandbox.daemonPid, names)].toSorted()).toEqual(remaining.toSorted());
  },
  { env: { SVC_API_SURFACE: 'v2' } },
);
