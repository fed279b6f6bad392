/** Stops, restarts, and containers with less than the usual rights. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { Container, podman } from '../harness/container.ts';
import { repositoryRoot } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);
const slowMs = 120_000;

const hardened = ['--user', '1000', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'];
/** Podman adds file systems in memory, which Docker does not. */
const dockersReadOnly = ['--read-only', '--read-only-tmpfs=false'];

for (const [title, args, identity, report] of [
  ['as the preset account without capabilities', hardened, 'agent 1000', 'does not run as root'],
  ['as an account that the image does not know', ['--user', '4711'], '4711 4711', 'cannot be written'],
  ['with a read-only root', ['--read-only'], 'agent 1000', 'is read-only'],
  ['with a read-only root as docker makes it', dockersReadOnly, 'agent 1000', 'is read-only'],
] as const) {
  test(`IMG-DEGRADED a container ${title} runs commands and the browser, and reports what is missing`, async () => {
    await using container = await Container.start({ args });
    expect(await container.output('echo $(id -un 2>/dev/null) $(id -u)')).toBe(identity);
    await container.untilServed('/cdp/json/version');
    expect(container.logs()).toContain(report);
  });
}

test('IMG-DEGRADED the browser keeps its own sandbox without capabilities, with the profile of deploy/', async () => {
  const profile = ['--security-opt', `seccomp=${join(repositoryRoot, 'deploy/seccomp/chromium.json')}`];
  for (const [args, isSandboxed] of [
    [[...hardened, ...profile], true],
    [hardened, false],
  ] as const) {
    await using container = await Container.start({ args });
    await container.untilServed('/cdp/json/version');
    const flags = container.exec('sh', '-c', 'tr "\\0" "\\n" </proc/$(pgrep -o -x chromium)/cmdline').split('\n');
    expect(flags.includes('--no-sandbox')).toBe(!isSandboxed);
  }
});

test('IMG-DEGRADED a container with little shared memory runs the browser, and reports it', async () => {
  await using container = await Container.start({ args: ['--shm-size', '64m'] });
  await container.untilServed('/cdp/json/version');
  await until(
    'the log names the memory',
    () => container.exec('cat', '/run/image/log/browser.log').includes('--shm-size 4g'),
    slowMs,
  );
});

test.each(['daemon', 'computer'] as const)(
  'IMG-1 the %s image stops within 10 s, with a browser and a command that ignores TERM',
  async (image) => {
    await using container = await Container.start({ image, env: { BROWSER_START_MODE: 'auto' } });
    await container.untilServed('/cdp/json/version');
    await container.ok('POST /v2/commands', { command: "trap '' TERM; while :; do sleep 1; done", mode: 'async' });
    // Podman kills what does not stop in time, which is another exit code.
    container.stop(10);
    expect(container.exitCode).toBe(0);
  },
);

test('IMG-1 a container that was killed starts again, and its browser comes back with its profile', async () => {
  await using container = await Container.start({ network: 'bridge' });
  await container.untilServed('/cdp/json/version');
  const lock = '/home/agent/.config/browser/SingletonLock';
  await until(
    'the browser holds its lock',
    async () => (await container.output(`readlink ${lock}; true`)) !== '',
    slowMs,
  );
  container.kill();
  await until('the container has ended', () => !container.isRunning, slowMs);
  container.startAgain();
  await container.untilHealthy();
  await container.untilServed('/cdp/json/version');
  expect(await container.output('echo works')).toBe('works');
});

test('IMG-1 a new container uses the profile that a killed container on another host name has locked', async () => {
  const volume = `boxkeep-test-${process.pid}`;
  const args = ['--volume', `${volume}:/home/agent`];
  try {
    const lock = '/home/agent/.config/browser/SingletonLock';
    let stale = '';
    {
      await using first = await Container.start({ args: [...args, '--hostname', 'first'] });
      await first.untilServed('/cdp/json/version');
      await until(
        'the browser holds its lock',
        async () => (stale = await first.output(`readlink ${lock}; true`)) !== '',
        slowMs,
      );
      first.kill();
    }
    expect(stale).toStartWith('first-');
    await using second = await Container.start({ args: [...args, '--hostname', 'second'] });
    await second.untilServed('/cdp/json/version');
    expect(await second.output(`readlink ${lock}`)).toStartWith('second-');
  } finally {
    podman('volume', 'rm', '--force', volume);
  }
});
