/** Planes are loaded once, by the first request below their prefix, and answer as if they had always been there. */
import { expect, test } from 'bun:test';
import { CoreError } from '../kit/errors.ts';
import type { BoundRoute, RequestContext } from './route.ts';
import { createRouter, type Match } from './router.ts';

const route = (method: BoundRoute['method'], path: string): BoundRoute => ({
  method,
  path,
  respond: async (_request, params) => Response.json({ path, params }),
});

/** A router with a root and two planes, what it has loaded so far, and one request to it. */
function serve() {
  const loaded: string[] = [];
  const plane = (name: string, routes: readonly BoundRoute[]) => ({
    prefixes: [`/${name}/`],
    async load() {
      loaded.push(name);
      return routes;
    },
  });
  const router = createRouter({
    routes: [route('GET', '/health')],
    planes: [
      plane('a/special', [route('GET', '/a/special/{id}')]),
      plane('a', [route('GET', '/a/{id}'), route('DELETE', '/a/{id}'), route('GET', '/a/all')]),
    ],
    removedHint: async (_method, path) => (path === '/a/1/gone' ? 'It is gone.' : null),
  });
  const match: Match = { route: 'unmatched', upgrade: null };
  const ask = (method: string, path: string) =>
    router(new Request(`http://localhost${path}`, { method }), {
      context: {} as RequestContext,
      match,
      onFault: (error) => expect(error).toBeNull(),
    });
  const refusal = async (method: string, path: string) => {
    const error: unknown = await ask(method, path).then(
      () => null,
      (reason: unknown) => reason,
    );
    return error instanceof CoreError ? { code: error.code, hint: error.hint, facts: error.facts } : error;
  };
  return { loaded, match, ask, refusal };
}

test('nothing is loaded for what lies elsewhere', async () => {
  const { ask, refusal, loaded } = serve();
  expect(await (await ask('GET', '/health')).json()).toEqual({ path: '/health', params: {} });
  expect(await refusal('GET', '/a')).toMatchObject({ code: 'route_not_found' });
  expect(loaded).toEqual([]);
});

test('two first requests at once load a plane once', async () => {
  const { ask, loaded, match } = serve();
  const answers = await Promise.all([ask('GET', '/a/1'), ask('GET', '/a/all'), ask('HEAD', '/a/1')]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(loaded).toEqual(['a']);
  await ask('DELETE', '/a/7');
  expect([match.route, loaded]).toEqual(['/a/{id}', ['a']]);
});

test('the first plane with a prefix of the path has it, whatever way the path is written', async () => {
  const { ask, loaded } = serve();
  const answer = await ask('GET', '/%61/special/7');
  expect(await answer.json()).toEqual({ path: '/a/special/{id}', params: { id: '7' } });
  expect(loaded).toEqual(['a/special']);
});

test('a plane knows its paths, its methods and what was once there', async () => {
  const { refusal } = serve();
  expect(await refusal('POST', '/a/1')).toMatchObject({
    code: 'method_not_allowed',
    facts: { allow: ['GET', 'HEAD', 'DELETE'] },
  });
  expect(await refusal('GET', '/a/1/2')).toMatchObject({ code: 'route_not_found' });
  expect(await refusal('GET', '/a/1/gone')).toMatchObject({ code: 'route_not_found', hint: 'It is gone.' });
});
