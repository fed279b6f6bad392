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
      list: [true],
      kill: true,
      ended: 'CommandExitException',
      'goes on': 'on\n',
    });
  },
  withE2b({ env: { SVC_API_KEY: 'secret' }, timeoutMs: 60_000 }),
);
