/** What happens to a call of `POST /mcp` whose client cancels it or goes, and to calls that run when the daemon stops. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTool, followTool, post, rpc, toolReply, type RpcReply } from '../harness/mcp-client.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const tool = 'sandbox_execute_bash';
/** The exit code of a program that Ctrl-C has ended. */
const interrupted = 130;

/** A command that marks its begin and runs until its gate opens. */
function gated(sandbox: Sandbox, name: string) {
  const [begun, gate] = [join(sandbox.directory, `${name}-begun`), join(sandbox.directory, `${name}-gate`)];
  const cmd = `touch ${begun}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo done-${name}`;
  return {
    cmd,
    hasBegun: () => until('the command has begun', () => existsSync(begun)),
    open: () => writeFileSync(gate, ''),
  };
}

function call(sandbox: Sandbox, id: number | string, input: object, headers = {}): Promise<RpcReply> {
  const params = { name: tool, arguments: input };
  return post(sandbox, { jsonrpc: '2.0', id, method: 'tools/call', params }, headers);
}

function cancel(sandbox: Sandbox, requestId: number | string, headers = {}): Promise<RpcReply> {
  return post(sandbox, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, headers);
}

test('MCP-CANCEL a cancelled call answers at once how to continue, and the command goes on', async ({ sandbox }) => {
  const command = gated(sandbox, 'a');
  const running = call(sandbox, 'call-1', { cmd: command.cmd, timeout: 600 });
  await command.hasBegun();
  expect((await cancel(sandbox, 'call-1')).status).toBe(202);

  const { text, data } = toolReply((await running).body.result);
  expect(data.status).toBe('running');
  expect(text).toContain('The call was cancelled.');
  expect(text).toContain('Call again with an empty cmd');
  const line = () => sandbox.logLines().find((one) => one['tool'] === tool);
  await until('the call is logged', () => line() !== undefined);
  expect(line()?.['tool_outcome']).toBe('cancelled');
  command.open();
  expect((await callTool(sandbox, tool, { cmd: '' })).data).toMatchObject({ status: 'completed', output: 'done-a\n' });
});

test('MCP-CANCEL kill_on_cancel ends the command', async ({ sandbox }) => {
  const command = gated(sandbox, 'a');
  const running = call(sandbox, 1, { cmd: command.cmd, timeout: 600, kill_on_cancel: true });
  await command.hasBegun();
  await cancel(sandbox, 1);

  const { data } = toolReply((await running).body.result);
  expect(data.exit_code === interrupted || data.status === 'terminated').toBe(true);
  expect((await callTool(sandbox, tool, { cmd: 'echo free' })).data.output).toBe('free\n');
});

test('MCP-CANCEL a cancellation without a running call, or that could mean two calls, changes nothing', async ({
  sandbox,
}) => {
  expect((await cancel(sandbox, 99)).status).toBe(202);
  const [a, b] = [gated(sandbox, 'a'), gated(sandbox, 'b')];
  const calls = [
    call(sandbox, 1, { cmd: a.cmd, timeout: 600 }),
    call(sandbox, 1, { cmd: b.cmd, timeout: 600, new_session: true }),
  ];
  await Promise.all([a.hasBegun(), b.hasBegun()]);
  await cancel(sandbox, 1);
  await cancel(sandbox, '1');
  a.open();
  b.open();

  const outputs = (await Promise.all(calls)).map(({ body }) => toolReply(body.result).data.output);
  expect(outputs).toEqual(['done-a\n', 'done-b\n']);
});

test('MCP-CANCEL the User-Agent tells clients apart that count from the same number', async ({ sandbox }) => {
  const [a, b] = [gated(sandbox, 'a'), gated(sandbox, 'b')];
  const one = call(sandbox, 1, { cmd: a.cmd, timeout: 600 }, { 'user-agent': 'one' });
  const two = call(sandbox, 1, { cmd: b.cmd, timeout: 600, new_session: true }, { 'user-agent': 'two' });
  await Promise.all([a.hasBegun(), b.hasBegun()]);
  await cancel(sandbox, 1, { 'user-agent': 'one' });

  expect(toolReply((await one).body.result).data.status).toBe('running');
  b.open();
  expect(toolReply((await two).body.result).data.output).toBe('done-b\n');
  a.open();
});

for (const form of ['a JSON answer', 'a stream'] as const) {
  test(`MCP-CANCEL a client that goes while it waits for ${form} leaves the command running`, async ({ sandbox }) => {
    const command = gated(sandbox, 'a');
    const leaving = new AbortController();
    const input = { cmd: `echo begun; ${command.cmd}`, timeout: 600 };
    const gone =
      form === 'a stream'
        ? Array.fromAsync(followTool(sandbox, { name: tool, input, signal: leaving.signal }))
        : sandbox.fetch(
            'POST /mcp',
            { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: tool, arguments: input } },
            { signal: leaving.signal },
          );
    await command.hasBegun();
    leaving.abort();
    expect(
      await gone.then(
        () => 'answered',
        () => 'gone',
      ),
    ).toBe('gone');
    const line = () => sandbox.logLines().find((one) => one['tool'] === tool);
    await until('the call has ended', () => line() !== undefined);
    expect(line()?.['tool_outcome']).toBe('cancelled');
    command.open();

    const looked = await callTool(sandbox, tool, { cmd: '' });
    expect(looked.data.output).toEndWith('done-a\n');
  });
}

test('MCP-CANCEL kill_on_cancel ends the command of a client that closes its stream', async ({ sandbox }) => {
  const command = gated(sandbox, 'a');
  const input = { cmd: `echo begun; ${command.cmd}`, timeout: 600, kill_on_cancel: true };
  for await (const message of followTool(sandbox, { name: tool, input })) {
    expect(message['method']).toBe('notifications/progress');
    break;
  }

  const looked = await callTool(sandbox, tool, { cmd: '' });
  expect(looked.data.exit_code === interrupted || looked.data.status === 'terminated').toBe(true);
});

test('MCP-CANCEL a cancelled run of code says how long the code goes on; kill_on_cancel interrupts it', async ({
  sandbox,
}) => {
  const begun = join(sandbox.directory, 'begun');
  const program = `import time\nopen(${JSON.stringify(begun)}, "w").close()\nwhile True: time.sleep(0.05)`;
  const run = (id: number, input: object) =>
    post(sandbox, {
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'sandbox_execute_code', arguments: { code: program, timeout: 600, session_id: 's', ...input } },
    });
  const killed = run(1, { kill_on_cancel: true });
  await until('the code has begun', () => existsSync(begun));
  await cancel(sandbox, 1);
  expect(toolReply((await killed).body.result).text).toContain('KeyboardInterrupt');

  const left = run(2, {});
  await until('the code runs', async () => (await sandbox.ok('GET /v2/code/sessions/s'))['state'] === 'busy');
  await cancel(sandbox, 2);
  const { text, data } = toolReply((await left).body.result);
  expect(data.status).toBe('running');
  expect(text).toContain('The code goes on and is interrupted after 600 s');
  await sandbox.ok('DELETE /v2/code/sessions/s');
});

test('MCP-CANCEL a daemon that stops answers the calls that run', async ({ sandbox }) => {
  const command = gated(sandbox, 'a');
  const plain = call(sandbox, 1, { cmd: command.cmd, timeout: 600 });
  await command.hasBegun();
  const messages: JsonObject[] = [];
  const input = { cmd: 'echo begun; sleep 1000', timeout: 600, new_session: true };
  const stream = (async () => {
    for await (const message of followTool(sandbox, { name: tool, input })) messages.push(message);
  })();
  await until('the stream has begun', () => messages.length > 0);
  expect(await sandbox.stop()).toBe(0);

  const answers = [(await plain).body.result];
  await stream;
  answers.push(messages.at(-1)?.['result']);
  for (const answer of answers) {
    expect(toolReply(answer).data.status).toBe('running');
    expect(toolReply(answer).text).toContain('The daemon is closing.');
  }
});

test(
  'RUN-RESTART the shared session, and what runs in it, survive the death of the daemon',
  async ({ sandbox }) => {
    const command = gated(sandbox, 'a');
    await callTool(sandbox, tool, { cmd: 'export COLOR=blue' });
    const lost = call(sandbox, 1, { cmd: command.cmd, timeout: 600 }).catch(() => null);
    await command.hasBegun();
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await lost;
    await sandbox.served();
    command.open();

    expect((await callTool(sandbox, tool, { cmd: '' })).data.output).toBe('done-a\n');
    expect((await callTool(sandbox, tool, { cmd: 'echo $COLOR' })).data.output).toBe('blue\n');
  },
  { expectedWarnings: ['started again by init'] },
);

test('RUN-UPGRADE calls go on across an upgrade', async ({ sandbox }) => {
  const command = gated(sandbox, 'a');
  const before = call(sandbox, 1, { cmd: command.cmd, timeout: 600 });
  await command.hasBegun();
  // Waits for its turn, so the new daemon begins it.
  const queued = call(sandbox, 2, { cmd: 'echo queued', timeout: 600 });
  expect((await sandbox.upgrade()).code).toBe(0);
  command.open();

  const first = toolReply((await before).body.result);
  const second = toolReply((await queued).body.result);
  expect(second.data.output).toBe('queued\n');
  expect(first.data.status === 'running' ? first.text : first.data.output).toMatch(/done-a|The daemon is closing/);
  expect((await rpc(sandbox, 'ping')).body.result).toEqual({});
});
