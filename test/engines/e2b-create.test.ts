/** The control plane of one sandbox, for programs that create sandboxes themselves. */
import { urlOf, withE2b } from '../harness/e2b.ts';
import { expect, test, type JsonObject } from '../harness/sandbox.ts';

test(
  'E2B-CREATE a time that no date holds is refused, and nothing fails later',
  async ({ sandbox }) => {
    const body = JSON.stringify({ timeout: 1e300 });
    const api = `${urlOf(sandbox, 'api')}/sandboxes`;
    expect((await fetch(api, { method: 'POST', body, keepalive: false })).status).toBe(400);
    expect((await fetch(api, { keepalive: false })).status).toBe(200);
  },
  withE2b(),
);

test(
  'E2B-CREATE a list holds the sandbox if its state and all of the metadata are as asked for',
  async ({ sandbox }) => {
    const api = `${urlOf(sandbox, 'api')}/v2/sandboxes`;
    const body = JSON.stringify({ metadata: { 'a b': 'c&d' } });
    expect((await fetch(api, { method: 'POST', body, keepalive: false })).status).toBe(201);
    const listed = async (query: Record<string, string>) => {
      const answer = await fetch(`${api}?${new URLSearchParams(query).toString()}`, { keepalive: false });
      return ((await answer.json()) as JsonObject[]).map(({ metadata }) => metadata);
    };
    // The clients encode names and values twice.
    const metadata = new URLSearchParams({ 'a%20b': 'c%26d' }).toString();
    for (const query of [{}, { state: 'running,paused', metadata }])
      expect(await listed(query)).toEqual([{ 'a b': 'c&d' }]);
    for (const query of [{ state: 'paused' }, { metadata: 'a%20b=c' }, { metadata: 'none=c' }])
      expect(await listed(query)).toEqual([]);
  },
  withE2b(),
);
