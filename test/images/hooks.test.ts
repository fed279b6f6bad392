/** Hooks, programs of users, and what happens when a program of an image ends. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Container } from '../harness/container.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);
const slowMs = 120_000;

test('IMG-25 IMG-26 IMG-27 the hooks run in order: before everything, before the services, and with a healthy daemon', async () => {
  const note = (name: string) =>
    `echo "${name} $(pgrep -c supervisord) $(curl -s localhost:8080/v1/ping)" >>/srv/order`;
  await using container = await Container.start({
    env: { RUN_HOOK_INIT: note('init'), RUN_HOOK_PRE_SERVICES: note('pre'), RUN_HOOK_POST_READY: note('post') },
  });
  await until('the last hook has run', async () => (await container.output('cat /srv/order')).includes('post'), slowMs);
  const [init, pre, post] = (await container.output('cat /srv/order')).split('\n');
  expect([init, pre]).toEqual(['init 0 ', 'pre 0 ']);
  expect(post).toMatch(/^post 1 .*pong/);
});

test('IMG-28 a failing hook is reported, and ends the container only with RUN_HOOKS_STRICT=true', async () => {
  for (const hook of ['RUN_HOOK_INIT', 'RUN_HOOK_PRE_SERVICES', 'RUN_HOOK_POST_READY']) {
    await using lenient = await Container.start({ env: { [hook]: 'echo why; exit 3' } });
    await until('the failure is logged', () => lenient.logs().includes('failed with exit code 3'), slowMs);
    expect(lenient.logs()).toContain('"text":"why"');
    expect(lenient.isRunning).toBe(true);
    await using strict = Container.run({ env: { [hook]: 'exit 3', RUN_HOOKS_STRICT: 'true' } });
    await until('the container has ended', () => !strict.isRunning, slowMs);
    expect(strict.exitCode).toBe(1);
  }
});

test('IMG-5 a .conf file in the include directory adds a program', async () => {
  const program = '[program:extra]\\ncommand=python3 -m http.server 3111 --bind 127.0.0.1\\n';
  await using container = await Container.start({
    env: { RUN_HOOK_INIT: `printf '${program}' >/etc/supervisor/conf.d/extra.conf` },
  });
  await container.untilServed('/proxy/3111/');
});

/** A pattern for each program, which the oldest of its processes matches. */
const programs = {
  browser: 'chromium/chromium .*--remote-debugging-port',
  gateway: 'nginx: master',
  worker: 'boxkeep.* computer-use',
  'MCP server': 'mcp-server-browser/dist',
  viewer: 'websockify',
  display: 'Xtigervnc',
  daemon: 'boxkeep-daemon --inhibit-cache',
};

test('IMG-5 each program that is killed comes back, while commands continue, and the log stays JSON', async () => {
  await using container = await Container.start();
  const isComplete = async () =>
    (await container.status('/cdp/json/version')) === 200 &&
    (await container.status('/v2/computer/info')) === 200 &&
    (await container.tools()).includes('browser_navigate');
  await until('everything runs', isComplete, slowMs);
  const { command_id: id } = await container.ok('POST /v2/commands', {
    command: 'read line; echo "$line"',
    mode: 'async',
  });
  for (const [name, pattern] of Object.entries(programs)) {
    const oldest = () => container.exec('sh', '-c', `pgrep -o -f '[${pattern[0]}]${pattern.slice(1)}' || true`).trim();
    const before = oldest();
    expect([name, before]).toEqual([name, expect.stringMatching(/^\d+$/)]);
    container.exec('kill', '-KILL', before);
    await until(`the ${name} is back`, () => !['', before].includes(oldest()), slowMs);
    await container.untilServed('/health');
    await until(`everything runs after the ${name}`, isComplete, slowMs);
  }
  await container.ok(`POST /v2/commands/${id as string}/stdin`, { input: 'still here\n' });
  const read = async () => JSON.stringify(await container.ok(`GET /v2/commands/${id as string}`));
  await until('the command has printed', async () => (await read()).includes('still here'), slowMs);
  for (const line of container.logs().trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
});
