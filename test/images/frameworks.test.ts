/** The suites of frameworks for agents, on the daemon image through its gateway. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, setDefaultTimeout, test } from 'bun:test';
import { key, needFramework, passSuite, suites } from '../frameworks/environment.ts';
import { Container } from '../harness/container.ts';

setDefaultTimeout(900_000);

const directory = mkdtempSync(join(tmpdir(), 'boxkeep-frameworks-'));
const names = Object.keys(suites) as (keyof typeof suites)[];
let container: Container;

beforeAll(async () => {
  mkdirSync(join(directory, 'tmp'));
  for (const name of names) needFramework(name);
  container = await Container.start({ key });
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await container[Symbol.asyncDispose]();
});

for (const name of names) {
  test(`FRAME-IMAGE ${name} passes its own suite on the daemon image, through the gateway`, () =>
    passSuite(name, { url: container.url, directory }));
}
