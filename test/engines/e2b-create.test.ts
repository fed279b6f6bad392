/** The control plane of one sandbox, for programs that create sandboxes themselves. */
import { runClient, urlOf, withE2b } from '../harness/e2b.ts';
import { expect, test } from '../harness/sandbox.ts';

test(
  'E2B-CREATE the SDK for Python creates, finds and kills the sandbox with the key of the daemon',
  async ({ sandbox }) => {
    expect(await runClient('e2b-create.py', urlOf(sandbox, 'api'), urlOf(sandbox), 'secret')).toEqual({
      'wrong key': 'AuthenticationException',
      run: '1\n',
      code: '1',
      file: ['e2b-created', 'x'],
      signed: true,
      again: 'again\n',
      another: 'SandboxNotFoundException',
      info: [true, 'running', true],
      list: [1, 1, 0, 0],
      metadata: { 'a b': 'c&d' },
      kill: true,
      ended: 'CommandExitException',
      'goes on': 'on\n',
    });
  },
  withE2b({ env: { SVC_API_KEY: 'secret' }, timeoutMs: 60_000 }),
);

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
