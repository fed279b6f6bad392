/** deploy/compose.yaml, started by podman-compose in an empty folder, as the guide shows it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerEnvironment, imageNames } from '../../tools/containers.mjs';
import { freePort } from '../harness/free-port.ts';
import { podman } from '../harness/container.ts';
import { repositoryRoot, type Json } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);

const startMs = 120_000;
const key = crypto.randomUUID();
const folder = mkdtempSync(join(tmpdir(), 'boxkeep-compose-'));
const name = `${folder.split('/').at(-1)?.toLowerCase()}_sandbox_1`;
let program = '';
let port = 0;

beforeAll(() => {
  const made = Bun.spawnSync(['node', 'tools/python.mjs', 'deploy'], { cwd: repositoryRoot, stderr: 'inherit' });
  if (made.exitCode !== 0) throw new Error(made.stdout.toString());
  program = join(repositoryRoot, 'node_modules/.cache/python-deploy/bin/podman-compose');
  port = freePort();
  for (const part of ['compose.yaml', 'seccomp'])
    cpSync(join(repositoryRoot, 'deploy', part), join(folder, part), { recursive: true });
});
afterAll(() => {
  compose('down', '--volumes');
  rmSync(folder, { recursive: true, force: true });
});

function compose(...args: string[]): void {
  composeWith({}, ...args);
}

function composeWith(more: Record<string, string>, ...args: string[]): void {
  const env = { ...containerEnvironment, BOXKEEP_IMAGE: imageNames.daemon, BOXKEEP_PORT: String(port), ...more };
  const { exitCode, stderr } = Bun.spawnSync([program, ...args], { cwd: folder, env });
  if (exitCode !== 0) throw new Error(`podman-compose ${args.join(' ')}: ${stderr.toString()}`);
}

async function status(headers: Record<string, string> = {}): Promise<number> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v2/sandbox`, { headers, keepalive: false });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0; // The gateway does not listen yet, or never will.
  }
}

/** The health check has three seconds, which a busy machine may need for its program alone. */
function isHealthy(): boolean {
  return Bun.spawnSync(['podman', 'healthcheck', 'run', name], { env: containerEnvironment }).exitCode === 0;
}

async function output(command: string): Promise<string> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify({ command }), keepalive: false };
  const answer = (await (await fetch(`http://127.0.0.1:${port}/v2/commands`, init)).json()) as Json;
  return String(answer.data.output).trim();
}

/** The error number of a connection from a command; 0 when it was accepted. */
async function connectionError(host: string, to: number): Promise<number> {
  const script = `import socket; print(socket.socket().connect_ex((${JSON.stringify(host)}, ${to})))`;
  return Number(await output(`timeout 20 python3 -c ${JSON.stringify(script)}`));
}

test('DEPLOY-COMPOSE without a key in the secret no daemon starts', async () => {
  writeFileSync(join(folder, 'key'), '', { mode: 0o600 });
  compose('up', '--detach');
  const restarts = () => Number(podman('inspect', '--format', '{{.RestartCount}}', name).stdout);
  await until('the container has ended and was started again', () => restarts() > 0, startMs);
  expect(await status()).toBe(0);
  const { stdout, stderr } = podman('logs', name);
  expect(stdout).not.toContain('serving');
  expect(`${stdout}${stderr}`).toContain('write a key to it');
  compose('down', '--volumes');
});

test('DEPLOY-COMPOSE the file starts a sandbox with its key, limits, shared memory and volumes', async () => {
  writeFileSync(join(folder, 'key'), `${key}\n`, { mode: 0o600 });
  compose('up', '--detach');
  await until('the sandbox answers', async () => (await status({ 'x-api-key': key })) === 200, startMs);
  expect(await status()).toBe(401);
  expect(podman('inspect', name).stdout).not.toContain(key);
  await until('the health check succeeds', isHealthy, startMs);

  const limits = podman(
    'inspect',
    '--format',
    '{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} {{.HostConfig.NanoCpus}}',
    name,
  );
  expect(limits.stdout.trim()).toBe(`${4 * 1024 ** 3} 4096 2000000000`);
  expect(await output('id -un')).toBe('agent');
  expect(await output('df --output=size -k /dev/shm | tail -1')).toBe(String(4 * 1024 ** 2));
  expect(await output('cat /run/secrets/boxkeep_key')).toContain('Permission denied');
  expect(await output('unshare --user --map-root-user --pid --net --fork chroot / echo namespaces')).toBe('namespaces');
  expect(await output('unshare --user --map-root-user keyctl show 2>&1; echo kept > ~/kept')).not.toContain('keyring');
  const asRoot = (command: string) => podman('exec', name, 'sh', '-c', `${command}; true`).stdout;
  const [, bits = ''] = /^CapBnd:\s*(\w+)$/m.exec(asRoot('cat /proc/1/status')) ?? [];
  const has = (capability: bigint) => (BigInt(`0x${bits}`) >> capability) & 1n;
  expect([6n, 12n, 13n, 27n].map(has)).toEqual([1n, 0n, 0n, 0n]); // SETGID; NET_ADMIN, NET_RAW, MKNOD
  expect(await output('grep NoNewPrivs /proc/self/status')).toEndWith('1');

  const bridge = await output("ip route show default | cut -d' ' -f3");
  for (const host of ['169.254.169.254', '10.1.2.3', '192.168.1.1', bridge])
    expect([host, await connectionError(host, 9)]).toEqual([host, constants.errno.EACCES]);
  expect(await connectionError(bridge, 53)).not.toBe(constants.errno.EACCES); // names

  compose('down');
  composeWith({ BOXKEEP_OPEN_NETWORKS: `10.1.0.0/16 ${bridge}` }, 'up', '--detach');
  await until('the sandbox answers again', async () => (await status({ 'x-api-key': key })) === 200, startMs);
  expect(await output('cat ~/kept')).toBe('kept');
  expect(await connectionError(bridge, 9)).not.toBe(constants.errno.EACCES);
  expect(await connectionError('10.2.0.1', 9)).toBe(constants.errno.EACCES);
  expect(await output('env')).not.toContain('BOXKEEP_OPEN_NETWORKS');
});
