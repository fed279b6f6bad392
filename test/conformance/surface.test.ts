/** `SVC_API_SURFACE`: a daemon loads a v1 plane on its first request, and nothing of v1 when v1 is disabled. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordsInMemory } from '../harness/process-memory.ts';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';

const remaining = ['operations.ping_v1', 'operations.capabilities_v1', 'operations.openapi_v1'];

/** Both surfaces mount these, so their code is no code of v1. */
const sharedNames = /^(?:browser\.|desktop\.(?:action|config)_)/;

/** The names of the v1 operations, which a loaded module leaves as strings in memory. */
const names = Array.from(
  readFileSync(join(repositoryRoot, 'spec/v1.json'), 'utf8').matchAll(/"operationId": "(\w+\.\w+_v1)"/g),
  ([, name = '']) => name,
).filter((name) => !sharedNames.test(name));

/** A path of each plane; whether a route with which method exists does not matter. */
const paths = ['bash', 'code', 'display', 'file', 'file/watch', 'jupyter', 'nodejs', 'shell'].map(
  (plane) => `/v1/${plane}/x`,
);

test('RUN-SURFACE a v1 plane is loaded on its first request', async ({ sandbox }) => {
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
  'RUN-SURFACE a daemon that serves only v2 never loads the v1 code',
  async ({ sandbox }) => {
    // Paths that answer although v1 is disabled, and paths that would load v1 code.
    for (const path of ['/v1/ping', '/v1/sandbox', '/v1/skills/x', '/v1/openapi.json', '/v2/openapi.json']) {
      await (await sandbox.fetch(`GET ${path}`)).text();
    }
    expect([...wordsInMemory(sandbox.daemonPid, names)].toSorted()).toEqual(remaining.toSorted());
  },
  { env: { SVC_API_SURFACE: 'v2' } },
);
