/** Each surface suggests calls that its OpenAPI document has, for every operation that an error of core can name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { wordsOf, type Naming } from '../http/route/refusal.ts';
import { CoreError, type NextStep } from '../kit/errors.ts';
import { naming as mcp } from './mcp/refusal.ts';
import { naming as v1, refusalOfV1 } from './v1/refusal.ts';
import { naming as v2, refusalOfV2 } from './v2/refusal.ts';

const spec = join(import.meta.dir, '..', '..', '..', 'spec');
const someId = 'some-id';

for (const [surface, naming] of Object.entries({ v1, v2 } satisfies Record<string, Naming>)) {
  const document = readFileSync(join(spec, `${surface}.json`), 'utf8');
  const { paths } = JSON.parse(document) as {
    paths: Readonly<Record<string, object>>;
  };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const isServed = (route: string) =>
    served.includes(route) || served.some((one) => one.replace(/\{\w+\}/, someId) === route);

  for (const operation of Object.keys(naming.calls)) {
    test(`${surface} names a route that it serves for ${operation}`, () => {
      const next = { operation, id: someId } as NextStep;
      const hint = wordsOf(new CoreError('bad_argument', 'refused', { next }), naming).hint ?? '';
      const routes = hint.match(/\b[A-Z]{3,6} \/[\w/{}.-]*[\w}]/g) ?? [];

      expect(hint).toEndWith('.');
      expect(routes).not.toEqual([]);
      expect(routes.filter((route) => !isServed(route))).toEqual([]);
    });
  }

  test(`${surface} has the arguments that its advice names`, () => {
    const lacking = Object.values(naming.arguments).filter((name) => name !== null && !document.includes(`"${name}"`));
    expect(lacking).toEqual([]);
  });
}

test('the tools have the arguments that their advice names', () => {
  const tools = readFileSync(join(spec, 'mcp-tools.json'), 'utf8');
  const names = Object.values(mcp.arguments).filter((name) => name !== null);
  expect(names.filter((name) => !tools.includes(`"${name}":`))).toEqual([]);
});

test('a refusal uses the names of its surface: routes, arguments, keys of facts and session ids', () => {
  const id = `v1.${Buffer.from('my session').toString('base64url')}`;
  const ended = new CoreError('terminal_ended', `session ${id} has ended after "session v1.2"`, {
    hint: 'Its output can still be read.',
    next: { operation: 'terminals.start' },
    facts: { currentCommand: 'x' },
  });
  const { message, hint, facts } = refusalOfV1(ended, { path: '/v1/shell/exec' });
  expect({ message, hint, facts }).toEqual({
    message: 'session my session has ended after "session v1.2"',
    hint: 'Its output can still be read. POST /v1/shell/sessions/create starts a session.',
    facts: { current_command: 'x' },
  });
  expect(refusalOfV2(ended)).toMatchObject({
    message: ended.message,
    hint: 'Its output can still be read. POST /v2/pty/sessions starts a session.',
  });

  const cwd = new CoreError('bad_argument', '/nowhere: No such file or directory', { argument: 'cwd' });
  expect(refusalOfV1(cwd, { path: '/v1/bash/exec' }).message).toBe('exec_dir /nowhere: No such file or directory');
  expect(refusalOfV1(cwd, { path: '/v1/nodejs/execute' }).message).toBe('cwd /nowhere: No such file or directory');
  expect(refusalOfV2(cwd)).toMatchObject({
    message: 'cwd /nowhere: No such file or directory',
    hint: null,
    facts: null,
  });
});
