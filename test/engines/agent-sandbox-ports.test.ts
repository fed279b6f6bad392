/** The ports of agent-sandbox: who may use them, what they cost, and that none opens unasked. */
import { portsOf, rootOf, runGrpc, startGrpc, urlOf, withAgentSandbox } from '../harness/agent-sandbox.ts';
import { freeFixedPort } from '../harness/free-port.ts';
import { healthDuring } from '../harness/health-watch.ts';
import { memoryOf } from '../harness/process-memory.ts';
import { exchange } from '../harness/raw-http.ts';
import { expect, Sandbox, test } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const key = 'a key of this test';

test(
  'AGS-KEY a request needs no key, must not carry another one, and comes from no foreign page or host',
  async ({ sandbox }) => {
    const statusOf = async (headers: Record<string, string>) => {
      const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      const answer = await exchange(
        urlOf(sandbox),
        `GET /v1/health HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n`,
      );
      return Number(answer.split(' ')[1]);
    };
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ Authorization: `Bearer ${key}` })).toBe(200);
    expect(await statusOf({ Authorization: 'Bearer other' })).toBe(401);
    expect(await statusOf({ 'X-Api-Key': 'other' })).toBe(401);
    // The key of the daemon does not make a foreign name safe here, where a page needs no key.
    expect(await statusOf({ Host: 'evil.example' })).toBe(403);
    expect(await statusOf({ Origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf({ Host: 'box.default.svc.cluster.local' })).toBe(403);
    expect(await runGrpc('agent-sandbox-key.py', sandbox, key)).toEqual({
      none: 'OK',
      right: 'OK',
      wrong: 'UNAUTHENTICATED',
      'foreign host': 'PERMISSION_DENIED',
      'request id': 'mine-1',
    });
    const lines = sandbox.logLines().filter(({ request_id: id }) => id === 'mine-1');
    expect(lines.map(({ route }) => route)).toEqual(['/process.v1.ProcessService/Execute']);
    const metrics = await (
      await fetch(`${sandbox.url}/metrics`, { headers: { 'x-api-key': key }, keepalive: false })
    ).text();
    expect(metrics).toContain('/process.v1.ProcessService/Execute');
  },
  withAgentSandbox({ env: { SVC_API_KEY: key } }),
);

test(
  'AGS-KEY the ports are on loopback, whatever the daemon listens on, until their host is named, and that is warned of',
  async ({ sandbox }) => {
    const warnings = sandbox.logLines().filter(({ level }) => level === 'warn');
    expect(warnings.map(({ host }) => host)).toEqual(['0.0.0.0']);
  },
  withAgentSandbox({
    env: { SVC_AGENT_SANDBOX_HOST: '0.0.0.0' },
    expectedWarnings: [
      'the ports of agent-sandbox ask for no key, and anyone who can connect runs commands. Limit who can connect.',
    ],
  }),
);

test(
  'AGS-OFF without the setting no port opens, and commands have no addresses of it',
  async ({ sandbox }) => {
    const { rest, grpc, legacy } = portsOf(sandbox);
    for (const port of [rest, grpc, legacy])
      expect(await exchange(`http://127.0.0.1:${port}`, 'x').catch((error: NodeJS.ErrnoException) => error.code)).toBe(
        'ECONNREFUSED',
      );
    expect((await sandbox.run({ command: 'env | grep -c _REST_ADDR' }))['stdout']).toBe('0\n');
  },
  withAgentSandbox({ env: { SVC_AGENT_SANDBOX: 'off' } }),
);

test('AGS-OFF a port that is taken is named by its setting, and then no port opens', async ({ sandbox }) => {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const start = Sandbox.start({
    env: {
      SVC_AGENT_SANDBOX: 'on',
      SVC_AGENT_SANDBOX_REST_PORT: String(freeFixedPort()),
      SVC_AGENT_SANDBOX_GRPC_PORT: String(taken.port),
      SVC_AGENT_SANDBOX_ROOT: rootOf(sandbox),
    },
  });
  const failure = await start.then(String, String);
  taken.stop();
  expect(failure).toContain(`(SVC_AGENT_SANDBOX_GRPC_PORT): EADDRINUSE`);
});

const maxMoreMib = 10;

test(
  'AGS-OFF the ports cost at most 10 MiB while they are unused',
  async ({ sandbox }) => {
    const without = await Sandbox.start({});
    const more = () => memoryOf(sandbox.daemonPid).anonymousMib - memoryOf(without.daemonPid).anonymousMib;
    try {
      await until('the daemons have settled', () => more() <= maxMoreMib);
    } finally {
      await without.close();
    }
    expect(await (await fetch(`${urlOf(sandbox)}/v1/health`, { keepalive: false })).text()).toContain('ok');
  },
  withAgentSandbox(),
);

const maxHealthMs = 100;

test(
  'AGS-FAIR eight streams of 64 MiB at once are complete, and delay no other request',
  async ({ sandbox }) => {
    const client = startGrpc('agent-sandbox-streams.py', sandbox);
    await client.next(); // The code of the calls is loaded.
    const healthMs = await healthDuring(sandbox, async () => {
      await client.tell('go on');
      expect(await client.end()).toEqual([['whole', Array.from({ length: 8 }, () => true)]]);
    });
    expect(healthMs).toBeLessThan(maxHealthMs);
  },
  withAgentSandbox({ timeoutMs: 180_000 }),
);
