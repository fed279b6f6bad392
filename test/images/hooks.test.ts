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

/** The programs of the supervisor, by what their process shows as its arguments. */
const supervised = {
  gateway: 'nginx: master',
  display: 'Xtigervnc',
  desktop: 'openbox',
  browser: '--remote-debugging-port=9222',
  viewer: 'websockify',
  worker: 'boxkeep.* computer-use',
  jupyter: 'jupyter-lab',
  'code-server': 'code-server',
};
/** The daemon and its init, which the first process of the container runs. */
const held = { 'boxkeep-daemon': 'boxkeep-daemon --inhibit-cache', 'boxkeep-init': 'boxkeep: init' };

test('IMG-5 each program that is killed comes back once, while commands continue, and the log stays JSON', async () => {
  await using container = await Container.start({ env: { DISABLE_JUPYTER: 'false', DISABLE_CODE_SERVER: 'false' } });
  const isComplete = async () =>
    (await container.status('/cdp/json/version')) === 200 &&
    (await container.status('/v2/computer/info')) === 200 &&
    (await container.status('/jupyter/api')) === 200 &&
    [200, 302].includes(await container.status('/code-server/')) &&
    (await container.tools()).includes('browser_navigate');
  await until('everything runs', isComplete, slowMs);
  const { command_id: id } = await container.ok('POST /v2/commands', {
    command: 'read line; echo "$line"',
    mode: 'async',
  });
  const shell = (script: string) => container.exec('sh', '-c', script).trim();
  const pidOf = (name: string) => {
    if (name in held) return shell(`pgrep -o -x ${name} || true`);
    return shell(`LOG_DIRECTORY=/run/image/log supervisorctl pid image:${name} || true`);
  };
  for (const [name, pattern] of Object.entries({ ...supervised, ...held })) {
    const before = pidOf(name);
    expect([name, shell(`ps -o args= -p ${before}`)]).toEqual([name, expect.stringMatching(new RegExp(pattern))]);
    container.exec('kill', '-KILL', before);
    await until(`the ${name} is back`, () => !['', '0', before].includes(pidOf(name)), slowMs);
    await container.untilServed('/health');
    await until(`everything runs after the ${name}`, isComplete, slowMs);
    // What a killed program has started is gone too, and leaves one program and its own processes.
    if (name in held) continue;
    const groups = shell(
      `ps -eo pgid=,args= | grep -E -e '${pattern}' | grep -v grep | awk '{print $1}' | sort -u | wc -l`,
    );
    expect([name, groups]).toEqual([name, '1']);
  }
  await container.ok(`POST /v2/commands/${id as string}/stdin`, { input: 'still here\n' });
  const read = async () => JSON.stringify(await container.ok(`GET /v2/commands/${id as string}`));
  await until('the command has printed', async () => (await read()).includes('still here'), slowMs);
  for (const line of container.logs().trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
});

test('IMG-11 the browser comes back when any of its processes is killed, and capabilities say when it is gone', async () => {
  await using container = await Container.start({ env: { BROWSER_START_MODE: 'auto' } });
  for (const which of ['-o', '-n']) {
    container.exec('sh', '-c', `pkill -KILL ${which} -x chromium`);
    await container.untilServed('/cdp/json/version');
    expect(await container.output('pgrep -fc "[r]emote-debugging-port.*user-data-dir" | head -1')).not.toBe('0');
  }
  container.exec('sh', '-c', 'mv /usr/bin/chromium /usr/bin/none; pkill -KILL -x chromium');
  const browserOf = async () => JSON.stringify((await container.capabilities())['browser']);
  await until('capabilities say so', async () => !(await browserOf()).includes('"ready"'), slowMs);
  expect((await container.fetch('/v2/browser/info')).status).toBe(503);
  container.exec('mv', '/usr/bin/none', '/usr/bin/chromium');
  await container.untilServed('/cdp/json/version');
});
