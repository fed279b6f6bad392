/** The parts of `npm run proof`, in their order: what each proves, and what it runs. */
import { longerTests } from './longer-tests.mjs';
import { filesOf, tiers } from './test-tiers.mjs';

const onBinary = { BOXKEEP_TARGET: 'binary' };
const binary = { env: onBinary, before: [['tools/test-programs.mjs'], ['tools/build.mjs']] };

/** A test that loads the machine runs alone, for the time of the proof unless its variable says otherwise. */
function longer(name, proves) {
  const { path, variable, proof } = longerTests[name];
  const env = { ...onBinary, [variable]: process.env[variable] ?? proof };
  return { ...binary, name, proves, files: [path], env, filesAtOnce: 1 };
}

const fuzz = (name, proves, files) => ({ ...binary, name: `fuzz ${name}`, proves, files });

/** A tier whose tests are too long for every change. */
function tier(name, proves, more = {}) {
  const found = tiers.find((one) => one.name === `proof: ${name}`);
  return { ...found, ...filesOf(found), name, proves, ...more };
}

const { variable: roundsVariable, proof: usualRounds } = longerTests.frameworks;
const rounds = process.env[roundsVariable] ?? usualRounds;

/**
 * `proves` is a sentence of the report. A part runs `files` as a tier does, or one `command`.
 * @type {{name: string, proves: string, files?: string[], waitingFiles?: string[], filesAtOnce?: number,
 * env?: Record<string, string>, before?: string[][], command?: string[]}[]}
 */
export const parts = [
  fuzz('C', 'Random frames and requests neither stop nor grow init and a keeper.', [
    ...['native/test/fuzz.test.ts', 'native/test/hostile.test.ts'],
  ]),
  fuzz('requests', 'Damaged requests, uploads, archives and JSON-RPC messages are refused, and are never a fault.', [
    ...['test/conformance/parser-fuzz.test.ts', 'daemon/src/http/body/json-body.test.ts'],
  ]),
  fuzz('frames', 'Damaged frames of WebSockets, of Connect and of a Jupyter server stop nothing.', [
    'test/conformance/frames-fuzz.test.ts',
  ]),
  fuzz('files', 'Random files, trees and archives end as plain system calls do, or are refused whole.', [
    ...['tree', 'files-model'].map((name) => `test/conformance/${name}.test.ts`),
    ...['test/promises/5-whole-files.test.ts', 'daemon/src/core/files/archive/tar-header.test.ts'],
  ]),
  fuzz('streams', 'Random output is complete from every offset, after every cut.', [
    ...['test/promises/1-any-offset.test.ts', 'daemon/src/kit/byte-log.test.ts'],
  ]),
  fuzz('terminals', 'Random steps in terminals, beside kills of the daemon, lose nothing and leak nothing.', [
    ...['test/conformance/terminal-fuzz.test.ts', 'daemon/src/platform/terminal/emulator.test.ts'],
  ]),
  fuzz('descriptions', 'v1 and v2 answer as their OpenAPI documents say, whatever the request.', [
    'test/openapi/openapi.test.ts',
  ]),
  longer('chaos', 'Beside one fault after another, in 256 MiB, clients lose nothing and do nothing twice.'),
  longer('kills', 'Beside kills of the daemon, clients in every runtime lose nothing and do nothing twice.'),
  longer('mixed', 'A load on every plane, in 256 MiB, ends no daemon, gets no 500 and loses no byte.'),
  longer('console', 'Beside kills of the daemon, no view of the console is stuck, lacks a byte or grows.'),
  {
    ...binary,
    name: 'E2B',
    proves: 'Each call of the SDK of E2B has its result on a daemon that was killed before the call.',
    files: ['test/soak/e2b-kills.test.ts', 'test/engines/e2b-survives.test.ts'],
  },
  tier('frameworks', 'Three frameworks for agents pass their own suites while the daemon is killed.', {
    env: { ...onBinary, [roundsVariable]: rounds },
  }),
  tier('clients', 'Older SDKs of E2B get the same results as the newest one.'),
  tier('clients in Go', 'Published clients in Go work.'),
  tier('clones', 'Two releases of one commit are the same, byte for byte.'),
  tier('claim', 'A claim of agent-sandbox on Kubernetes works.'),
  tier('names', 'The names of 34 component libraries are those of Chromium.'),
  { name: 'images', proves: 'Both images work through their gateway.', command: ['tools/images.mjs', 'test'] },
];
