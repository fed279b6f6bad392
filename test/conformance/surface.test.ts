/** `SVC_API_SURFACE`: a daemon has of v1 in memory what it has been asked for, and nothing where it does not serve it. */
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

/** A path of each plane; whether it is a route, and of which method, does not matter. */
const paths = ['bash', 'browser', 'code', 'file', 'file/watch', 'jupyter', 'nodejs', 'shell'].map(
  (plane) => `/v1/${plane}/x`,
);

test('RUN-SURFACE a plane of v1 is in memory once somebody has asked for it', async ({ sandbox }) => {
  const inMemory = () => [...wordsInMemory(sandbox.daemonPid, names)].toSorted();
  await sandbox.ok('GET /health');
  expect(inMemory()).toEqual([]);
  await (await sandbox.fetch('GET /v1/bash/x')).text();
  expect(inMemory()).toEqual(names.filter((name) => name.startsWith('bash.')).toSorted());
  for (const path of [...paths, '/v1/x']) await (await sandbox.fetch(`GET ${path}`)).text();
  expect(names.length).toBeGreaterThan(25);
  expect(inMemory()).toEqual(names.toSorted());
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
