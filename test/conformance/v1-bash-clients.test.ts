/** The 1.x client libraries: their requests on the wire, none of which runs a command twice. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFewDescriptors } from '../harness/descriptors.ts';
import { expect, test, type Json, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';
import { call, go, javascript, python, v1Clients } from '../harness/v1-client.ts';

function exec(sandbox: Sandbox, body: Record<string, unknown>): Promise<JsonObject> {
  return sandbox.ok('POST /v1/bash/exec', body);
}

test('V1BASH-1 V1BASH-5 VER-3 the requests of every client library are understood', async ({ sandbox }) => {
  for (const client of v1Clients) {
    const request = async (route: string, body: Record<string, unknown> | null) => {
      const reply = await call(sandbox, client, route, body);
      expect([client.name, route, reply.status, reply.body.success]).toEqual([client.name, route, 200, true]);
      return reply.body.data;
    };
    const { session_id: id } = await request('POST /v1/bash/sessions/create', {});
    const body = { session_id: id, command: 'cat', async_mode: true, of_a_later_version: true };
    const { command_id: command } = await request('POST /v1/bash/exec', body);
    await request('POST /v1/bash/write', { session_id: id, command_id: command, input: 'x' });
    expect(await request('POST /v1/bash/output', { session_id: id, wait: true })).toMatchObject({ stdout: 'x' });
    await request('POST /v1/bash/kill', { session_id: id, signal: 'SIGKILL' });
    expect(((await request('GET /v1/bash/sessions', null)) as unknown as Json[]).length).toBeGreaterThan(0);
    await request(`POST /v1/bash/sessions/${id}/close`, null);
  }
});

test(
  'V1BASH-1 VER-3 a client that retries runs its command once, or never',
  async ({ sandbox }) => {
    const log = join(sandbox.directory, 'log');
    const body = { session_id: 's', command: `echo ran >> ${log}` };
    const { session_id: blocking } = await exec(sandbox, { command: 'sleep 1000', async_mode: true });
    for (const client of [go, python]) {
      const refused = await call(sandbox, client, 'POST /v1/bash/exec', body);
      expect([refused.status, refused.requests]).toEqual([429, client.attempts]);
    }
    expect(existsSync(log)).toBe(false);

    const patient = call(sandbox, javascript, 'POST /v1/bash/exec', body);
    await sandbox.ok('POST /v1/bash/kill', { session_id: blocking, signal: 'SIGKILL' });
    expect(await patient).toMatchObject({ status: 200, body: { data: { status: 'completed' } } });
    expect(readFileSync(log, 'utf8')).toBe('ran\n');
  },
  { args: ['--max-commands', '1'] },
);

/** A command that reports its start, and ends when the test releases it. */
function waiting(sandbox: Sandbox): { command: string; begun: () => Promise<void>; letGo: () => void } {
  const [log, gate] = [join(sandbox.directory, 'log'), join(sandbox.directory, 'gate')];
  return {
    command: `echo ran >> ${log}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo over`,
    begun: () =>
      until('the command runs', async () => {
        const listed = (await sandbox.ok('GET /v1/bash/sessions')) as unknown as Json[];
        return existsSync(log) && listed.some(({ session_id: id, current_command: current }) => id === 's' && current);
      }),
    letGo: () => writeFileSync(gate, ''),
  };
}

test('V1BASH-1 VER-3 a command that has run is answered with 200, also when its output cannot be read now', async ({
  sandbox,
}) => {
  const { command, begun, letGo } = waiting(sandbox);
  const running = call(sandbox, javascript, 'POST /v1/bash/exec', { session_id: 's', command });
  await begun();
  const { status, requests, body } = await (async () => {
    using _few = withFewDescriptors(sandbox, 0);
    letGo();
    return await running;
  })();

  expect([status, requests]).toEqual([200, 1]);
  expect(body.data).toMatchObject({ status: 'completed', exit_code: 0, stdout: '', offset: 0 });
  expect(body.hint).toContain('POST /v1/bash/output');
  expect(await sandbox.ok('POST /v1/bash/output', { session_id: 's' })).toMatchObject({ stdout: 'over\n' });
  expect(readFileSync(join(sandbox.directory, 'log'), 'utf8')).toBe('ran\n');
});

test('V1BASH-1 V1BASH-3 RUN-UPGRADE an upgrade is invisible: waiting calls are answered, nothing runs or is written twice', async ({
  sandbox,
}) => {
  const { command, begun, letGo } = waiting(sandbox);
  const running = call(sandbox, javascript, 'POST /v1/bash/exec', { session_id: 's', command });
  const copy = join(sandbox.directory, 'copy');
  await exec(sandbox, { session_id: 'input', command: `sleep 2; cat > ${copy}`, async_mode: true });
  await begun();
  const input = Array.from({ length: 100_000 }, (_, line) => `line ${line}\n`).join('');
  const written = sandbox.request('POST /v1/bash/write', { session_id: 'input', input });
  const served = sandbox.served();
  expect(await sandbox.upgrade()).toMatchObject({ code: 0, stderr: '' });
  await served;
  letGo();

  expect(await running).toMatchObject({ status: 200, body: { data: { status: 'completed', stdout: 'over\n' } } });
  expect(readFileSync(join(sandbox.directory, 'log'), 'utf8')).toBe('ran\n');
  expect((await written).body).toMatchObject({ success: true });
  await until('all of it is written', () => readFileSync(copy, 'utf8').length >= input.length);
  expect(readFileSync(copy, 'utf8') === input).toBe(true);
  await sandbox.ok('POST /v1/bash/kill', { session_id: 'input' });
});
