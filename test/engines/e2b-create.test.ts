/** The control plane of one sandbox, for programs that create sandboxes themselves. */
import { outputOf, shell, stream } from '../harness/e2b-wire.ts';
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
  'E2B-CREATE restrictions that are not offered are refused, and kill forgets the variables of the program',
  async ({ sandbox }) => {
    const api = `${urlOf(sandbox, 'api')}/sandboxes`;
    const create = async (body: object) => {
      const answer = await fetch(api, { method: 'POST', body: JSON.stringify(body), keepalive: false });
      return [answer.status, ((await answer.json()) as JsonObject)['message']];
    };
    const network = [400, expect.stringMatching(/^the network of this sandbox is not restricted here/)];
    expect(await create({ allow_internet_access: false })).toEqual(network);
    expect(await create({ network: { denyOut: ['0.0.0.0/0'] } })).toEqual(network);
    expect(await create({ volumeMounts: [{ name: 'v', path: '/v' }] })).toEqual([
      400,
      expect.stringMatching(/^volumes/),
    ]);
    const allowed = { allow_internet_access: true, network: { allowPublicTraffic: true }, volumeMounts: [] };
    expect((await create({ ...allowed, envVars: { SECRET: 'one' } }))[0]).toBe(201);
    const shown = async () => outputOf(await stream(sandbox, 'Start', shell('echo "${SECRET-none}"')));
    expect(await shown()).toBe('one\n');
    const [{ sandboxID }] = (await (await fetch(api, { keepalive: false })).json()) as [JsonObject];
    await fetch(`${api}/${String(sandboxID)}`, { method: 'DELETE', keepalive: false });
    expect(await shown()).toBe('none\n');
  },
  withE2b(),
);

test(
  'E2B-CREATE without a key the ports are for this machine alone, whatever SVC_HOST says',
  async ({ sandbox }) => {
    // A socket on all addresses accepts this one; a socket on 127.0.0.1 does not.
    const other = '127.0.0.2';
    const at = (of: string) => of.replace(/127\.0\.0\.1|0\.0\.0\.0/, other);
    expect((await fetch(`${at(sandbox.url)}/health`, { keepalive: false })).status).toBe(200);
    expect(await fetch(`${at(urlOf(sandbox))}/health`, { keepalive: false }).catch(() => 'closed')).toBe('closed');
    expect((await fetch(`${urlOf(sandbox)}/health`, { keepalive: false })).status).toBe(204);
  },
  withE2b({
    env: { SVC_HOST: '0.0.0.0' },
    expectedWarnings: ['no key is set, and anyone who can connect runs commands. Set SVC_API_KEY.'],
  }),
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
