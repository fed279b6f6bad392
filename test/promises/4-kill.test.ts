/** Promise 4: kill means that the tree is gone, or that the survivors are named. */
import { expect, fixture, test, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

function sleepers(sandbox: Sandbox): number[] {
  return sandbox
    .processes()
    .filter(({ command }) => command.includes('sleep 1000'))
    .map(({ pid }) => pid);
}

test('PROMISE-4 SIGKILL ends double forks, new sessions and stopped processes', async ({ sandbox }) => {
  const id = await sandbox.start({ command: fixture('forks-everywhere') });
  await until('all five run', () => sleepers(sandbox).length === 5);

  expect(await sandbox.ok(`POST /v2/commands/${id}/kill`, { signal: 'SIGKILL' })).toMatchObject({ survivors: [] });
  expect(sleepers(sandbox)).toEqual([]);
});

test('PROMISE-4 a tree that respawns faster than it dies ends too', async ({ sandbox }) => {
  const id = await sandbox.start({ command: fixture('respawns') });
  await until('it breeds', () => sleepers(sandbox).length >= 10);

  const killed = await sandbox.ok(`POST /v2/commands/${id}/kill`, { signal: 'SIGKILL' });
  await until('the survivors are gone as well', () => sleepers(sandbox).length === 0);
  for (const pid of killed['survivors'] as number[]) expect(pid).toBeGreaterThan(1);
  expect(await sandbox.ended(id)).toMatchObject({ status: 'killed' });
});

test('PROMISE-4 a signal reaches every generation of a tree, and survivors are named', async ({ sandbox }) => {
  // Child processes inherit ignored signals.
  const nested = `trap "" TERM; sh -c 'sh -c "sleep 1000; :"; :'; :`;
  const id = await sandbox.start({ command: nested, shell: 'bash' });
  await until('the last generation runs', () => sandbox.processes().some(({ command }) => command === 'sleep 1000'));

  const killed = await sandbox.ok(`POST /v2/commands/${id}/kill`, { signal: 'SIGTERM' });
  expect(killed).toEqual({ signalled: 4, survivors: expect.any(Array) });
  expect(killed['survivors']).toHaveLength(4);
  expect(killed['survivors']).toEqual(expect.arrayContaining(sleepers(sandbox)));
  await sandbox.ok(`POST /v2/commands/${id}/kill`, { signal: 'SIGKILL' });
  expect(await sandbox.ended(id)).toMatchObject({ status: 'killed' });
});

test('PROMISE-4 background processes of an ended command are reached too', async ({ sandbox }) => {
  // The command ends once the sleeper has closed its streams and has its own name.
  const isAsleep = "tr '\\0' ' ' </proc/$!/cmdline | grep -q '^sleep 1000'";
  const command = `setsid sleep 1000 >/dev/null 2>&1 < /dev/null & until ${isAsleep}; do :; done; exit 3`;
  const result = await sandbox.run({ command });
  expect(result).toMatchObject({ exit_code: 3, streams_open: false });
  expect(sleepers(sandbox)).toHaveLength(1);

  const killed = await sandbox.ok(`POST /v2/commands/${result['command_id']}/kill`, { signal: 'SIGTERM' });
  expect(killed).toEqual({ signalled: 1, survivors: [] });
  expect(sleepers(sandbox)).toEqual([]);
  expect((await sandbox.ok(`GET /v2/commands/${result['command_id']}`))['command']).toMatchObject({
    status: 'completed',
    exit_code: 3,
  });
});

test('PROMISE-4 a bystander with the same name is never hit', async ({ sandbox }) => {
  const bystander = Bun.spawn(['sleep', '1000']);
  const ids = await Promise.all(Array.from({ length: 20 }, () => sandbox.start({ command: 'sleep 1000 & wait' })));
  await Promise.all(ids.map((id) => sandbox.ok(`POST /v2/commands/${id}/kill`, { signal: 'SIGKILL' })));

  expect(sleepers(sandbox)).toEqual([]);
  expect(bystander.exitCode).toBeNull();
  bystander.kill();
  await bystander.exited;
});

test('PROMISE-4 processes that ignore SIGTERM are named, and end at the hard timeout', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'trap "" TERM; echo ready; sleep 1000; sleep 1000', hard_timeout: 1 });
  await until('it is ready', async () => (await sandbox.ok(`GET /v2/commands/${id}`))['stdout'] === 'ready\n');
  const { survivors } = await sandbox.ok(`POST /v2/commands/${id}/kill`, {});

  expect(survivors).toContain((await sandbox.ok(`GET /v2/commands/${id}`))['command']['pid']);
  await sandbox.ok(`DELETE /v2/commands/${id}`);
  expect(sleepers(sandbox)).toEqual([]);
});
