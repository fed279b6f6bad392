/** Planes are loaded once, by the first request below their prefix, without a visible difference. */
import { expect, test } from 'bun:test';
import { CoreError } from '../../kit/errors.ts';
import type { BoundRoute } from './route.ts';
import type { RequestContext } from './context.ts';
import { createRouter, type Match } from './router.ts';

const route = (method: BoundRoute['method'], path: string): BoundRoute => ({
  operation: path,
  method,
  path,
  hasEffect: path.endsWith('/make'),
  respond: async (_request, params) => Response.json({ path, params }),
});

/** A router with a root and two planes, the list of loaded planes, and a function to send one request. */
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
    routes: [route('GET', '/health'), route('GET', '/make')],
    planes: [
      plane('a/special', [route('GET', '/a/special/{id}')]),
      plane('a', [route('GET', '/a/{id}'), route('DELETE', '/a/{id}'), route('GET', '/a/all')]),
    ],
    nearestHint: async (method, path, isServed) => (isServed ? null : `${method} ${path} is near`),
    removedHint: async (_method, path) => (path === '/a/1/gone' ? 'It is gone.' : null),
  });
  const match: Match = { route: 'unmatched', operation: null, upgrade: null };
  const ask = (method: string, path: string) =>
    router(new Request(`http://localhost${path}`, { method }), {
      context: { mayChange: true } as RequestContext,
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

test('a request outside of a plane does not load the plane', async () => {
  const { ask, refusal, loaded } = serve();
  expect(await (await ask('GET', '/health')).json()).toEqual({ path: '/health', params: {} });
  expect(await refusal('GET', '/a')).toMatchObject({ code: 'route_not_found' });
  expect(loaded).toEqual([]);
});

test('two concurrent first requests load a plane once', async () => {
  const { ask, loaded, match } = serve();
  const answers = await Promise.all([ask('GET', '/a/1'), ask('GET', '/a/all'), ask('HEAD', '/a/1')]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(loaded).toEqual(['a']);
  await ask('DELETE', '/a/7');
  expect([match.route, loaded]).toEqual(['/a/{id}', ['a']]);
});

test('the first plane with a prefix of the path serves the path, however it is written', async () => {
  const { ask, loaded } = serve();
  const answer = await ask('GET', '/%61/special/7');
  expect(await answer.json()).toEqual({ path: '/a/special/{id}', params: { id: '7' } });
  expect(loaded).toEqual(['a/special']);
});

test('a GET that creates something refuses a HEAD, and an extra slash is named', async () => {
  const { ask, refusal } = serve();
  expect((await ask('GET', '/make')).status).toBe(200);
  expect(await refusal('HEAD', '/make')).toMatchObject({ code: 'method_not_allowed', facts: { allow: ['GET'] } });
  for (const path of ['/a/1/', '//a/1', '/a//1', '/a//1//']) {
    expect([path, await refusal('GET', path)]).toMatchObject([
      path,
      { code: 'route_not_found', hint: 'Did you mean /a/1, without the extra slash?' },
    ]);
  }
  for (const path of ['/nothing/', '/a//b//c'])
    expect([path, await refusal('GET', path)]).toMatchObject([path, { hint: `GET ${path} is near` }]);
});

test('a plane knows its paths, its methods and its removed paths', async () => {
  const { refusal } = serve();
  expect(await refusal('POST', '/a/1')).toMatchObject({
    code: 'method_not_allowed',
    facts: { allow: ['GET', 'HEAD', 'DELETE'] },
  });
  expect(await refusal('GET', '/a/1/2')).toMatchObject({ code: 'route_not_found' });
  expect(await refusal('GET', '/a/1/gone')).toMatchObject({ code: 'route_not_found', hint: 'It is gone.' });
});
