/** The guide for those who move here names calls that the clients have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'bun:test';
import { Sandbox as Client } from '../../clients/typescript/src/index.ts';
import { needPython } from '../harness/interpreters.ts';
import { repositoryRoot } from '../harness/sandbox.ts';

const guide = readFileSync(join(repositoryRoot, 'docs/guide/moving.md'), 'utf8');
/** An address on which nothing is asked. */
const address = 'http://127.0.0.1:9';
const python = () => join(needPython('clients/python/client', '3.13'), 'bin/python');

beforeAll(() => void python());

/** The calls of one section, such as `commands.run`. */
function callsOf(section: string): string[] {
  const [, text = ''] = guide.split(`\n## ${section}\n`);
  const calls = (text.split('\n## ')[0] ?? '').matchAll(/\bbox\.(\w+\.\w+)\(/g);
  return [...new Set([...calls].map(([, call = '']) => call))].toSorted();
}

test('the guide for those who move here names methods of the client for TypeScript', () => {
  const box: unknown = new Client(address).orThrow;
  const calls = callsOf('Cloudflare Sandbox SDK');
  expect(calls.length).toBeGreaterThan(15);
  const isThere = (call: string) =>
    typeof call.split('.').reduce<unknown>((object, name) => Reflect.get(Object(object), name), box) === 'function';
  expect(isThere('files.none')).toBe(false);
  expect(calls.filter((call) => !isThere(call))).toEqual([]);
});

test('the guide for those who move here names methods of the client for Python', async () => {
  const calls = [...callsOf('E2B'), ...callsOf('Daytona')];
  expect(calls.length).toBeGreaterThan(30);
  const script = `import sys, operator, boxkeep
box = boxkeep.Sandbox(sys.argv[1])
for call in sys.argv[2:]: assert callable(operator.attrgetter(call)(box)), call`;
  const run = (...names: string[]) =>
    Bun.spawn([python(), '-B', '-c', script, address, ...names], {
      env: { PYTHONPATH: join(repositoryRoot, 'clients/python/src') },
      stderr: 'ignore',
    }).exited;
  expect([await run(...calls), await run('files.none')]).toEqual([0, 1]);
});
