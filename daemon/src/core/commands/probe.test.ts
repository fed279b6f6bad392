/** Tests what the probe reports about shells and terminals for every set of installed tools. */
import { expect, test } from 'bun:test';
import { execProbe } from './probe.ts';

const look = async (tools: readonly string[], asked: 'auto' | 'native' | 'tmux') =>
  await execProbe((name) => (tools.includes(name) ? `/bin/${name}` : null), asked).look(new AbortController().signal);

test('a shell is enough for commands and terminals, and tmux is used on request', async () => {
  expect(await look(['sh'], 'auto')).toEqual({
    status: 'ready',
    missing: [],
    warnings: [],
    shells: ['sh'],
    pty: true,
    tmux: false,
    backend: 'native',
  });
  expect(await look(['bash', 'env', 'tmux'], 'auto')).toMatchObject({ status: 'ready', backend: 'native', tmux: true });
  expect(await look(['bash', 'env', 'sh', 'tmux'], 'tmux')).toMatchObject({
    status: 'ready',
    backend: 'tmux',
    tmux: true,
  });
  expect(await look(['sh', 'tmux'], 'native')).toMatchObject({ status: 'ready', backend: 'native', tmux: true });
});

test('the reason why terminals are unavailable is named', async () => {
  expect(await look(['sh'], 'tmux')).toMatchObject({ status: 'degraded', pty: false, backend: null });
  expect((await look(['sh'], 'tmux')).missing).toEqual(['tmux is not on PATH, and SVC_SHELL_BACKEND asks for tmux']);
  expect((await look(['sh', 'tmux'], 'tmux')).missing).toEqual([
    'env is not on PATH, and SVC_SHELL_BACKEND asks for tmux',
  ]);
  expect(await look([], 'native')).toMatchObject({ status: 'degraded', pty: false, shells: [] });
});
