/** The sandbox's report about itself: identity, directories, capabilities, packages, metrics. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clockFile, jump, withClock } from '../harness/clock.ts';
import { hasProgram } from '../harness/root.ts';
import { expect, Sandbox, test, type JsonObject } from '../harness/sandbox.ts';
import { testAccount, withTestAccount } from '../harness/test-account.ts';
import { until } from '../harness/until.ts';

const key = 'canary-key-7d31f0c2aa';
const statuses = ['ready', 'degraded', 'absent'];
const domains = ['files', 'exec', 'code_interpreter', 'browser', 'computer', 'mcp'];

/** The report after every probe has answered; the Python of a version manager takes long. */
async function capabilities(sandbox: Sandbox, query = ''): Promise<JsonObject> {
  let report: JsonObject = {};
  await until('every probe has answered', async () => {
    report = await sandbox.ok(`GET /v1/capabilities${query}`);
    return Object.values(report).every((domain) => (domain as { warnings: string[] }).warnings.length === 0);
  });
  return report;
}

test('OPS-1 the sandbox reports its identity, its directories and its capabilities', async ({ sandbox }) => {
  const report = await capabilities(sandbox);
  const info = await sandbox.ok('GET /v2/sandbox');
  const port = Number(new URL(sandbox.url).port);

  expect(Object.keys(info)).toEqual([
    ...[
      'sandbox_id',
      'version',
      'commit',
      'pid',
      'hostname',
      'os',
      'kernel',
      'arch',
      'user',
      'uid',
      'default_user',
      'home_dir',
    ],
    ...['workspace_dir', 'runtime_dir', 'started_at', 'ports', 'limits', 'capabilities'],
  ]);
  expect(info).toMatchObject({
    version: (await sandbox.ok('GET /health'))['version'],
    pid: sandbox.loggedPid,
    hostname: readFileSync('/proc/sys/kernel/hostname', 'utf8').trim(),
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
    uid: process.getuid?.(),
    default_user: null,
    runtime_dir: sandbox.runtimeDirectory,
    limits: { running_commands: 512, command_sessions: 256, streams: 1024, json_body_bytes: 32 * 1024 * 1024 },
  });
  expect(info['commit'] ?? '0'.repeat(40)).toMatch(/^[\da-f]{40}$/);
  expect(info['ports']).toContain(port);
  expect(info['workspace_dir']).toBe((await sandbox.run({ command: 'pwd' }))['cwd']);
  expect(Math.abs(Date.now() - Date.parse(info['started_at'] as string))).toBeLessThan(60_000);
  expect(info['capabilities']).toEqual(report);
});

test(
  'OPS-ID sandbox_id outlives the daemon and its upgrade, and differs between sandboxes',
  async ({ sandbox }) => {
    const idOf = async (one: Sandbox) => (await one.ok('GET /v2/sandbox'))['sandbox_id'] as string;
    const id = await idOf(sandbox);
    expect(id).toMatch(/^sbx_[0-9a-f]{32}$/);

    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await idOf(sandbox)).toBe(id);
    expect((await sandbox.upgrade()).code).toBe(0);
    await sandbox.served();
    expect(await idOf(sandbox)).toBe(id);
    await sandbox.stop();
    await sandbox.launch();
    expect(await idOf(sandbox)).toBe(id);

    const other = await Sandbox.start();
    expect(await idOf(other)).not.toBe(id);
    await other.close();
  },
  { expectedWarnings: ['started again by init'] },
);

test(
  'OPS-1 home and workspace are those of the default account',
  async ({ sandbox }) => {
    expect(await sandbox.ok('GET /v2/sandbox')).toMatchObject({
      uid: 0,
      default_user: testAccount.name,
      home_dir: sandbox.directory,
      workspace_dir: sandbox.directory,
    });
    expect((await sandbox.request('GET /v1/sandbox')).body).toMatchObject({
      home_dir: sandbox.directory,
      detail: { system: { user: testAccount.name } },
    });
  },
  withTestAccount({ args: ['--default-user', testAccount.name] }),
);

const noAccountMessage = 'commands without a user cannot run';

test(
  'RUN-STARTS an unknown default account is reported, and everything else works',
  async ({ sandbox }) => {
    expect(sandbox.logLines().filter(({ level }) => level === 'warn')).toMatchObject([
      { message: noAccountMessage, error: expect.stringContaining('the default account "nobody-here" does not exist') },
    ]);
    expect(await sandbox.ok('GET /v2/sandbox')).toMatchObject({ default_user: 'nobody-here' });
    expect((await sandbox.request('GET /v1/sandbox')).status).toBe(200);
    expect(await sandbox.request('GET /v2/sandbox/packages?lang=python')).toMatchObject({
      status: 503,
      body: { message: 'the default account "nobody-here" does not exist' },
    });
  },
  { args: ['--default-user', 'nobody-here'], expectedWarnings: [noAccountMessage] },
);

test('OPS-2 every domain reports its status, and what is missing where it does not work', async ({ sandbox }) => {
  const report = await capabilities(sandbox);

  expect(Object.keys(report)).toEqual(domains);
  for (const domain of domains) {
    const { status, missing } = report[domain] as JsonObject;
    expect([domain, statuses.includes(status as string)]).toEqual([domain, true]);
    expect([domain, status === 'ready' || (missing as string[]).length > 0]).toEqual([domain, true]);
  }
  expect(report['exec']).toMatchObject({ status: 'ready', pty: true, shells: expect.arrayContaining(['sh']) });
});

test(
  'OPS-2 FACT-3 tools are searched on PATH on request, and an answer is cached briefly',
  async ({ sandbox }) => {
    const programs = { node: 'code_interpreter.node', python3: 'code_interpreter.python' };
    const look = async (query = '') => sandbox.ok(`GET /v1/capabilities${query}`);
    const before = await capabilities(sandbox);
    for (const name of Object.keys(programs)) plantProgram(sandbox, name, 'exit 0');

    expect(await look()).toEqual(before);
    const fresh = await look('?refresh=true');
    for (const [name, place] of Object.entries(programs)) {
      const [domain = '', field = ''] = place.split('.');
      expect([name, (fresh[domain] as JsonObject)[field]]).toEqual([name, join(sandbox.directory, 'bin', name)]);
    }
    rmSync(join(sandbox.directory, 'bin'), { recursive: true });
    expect(await capabilities(sandbox, '?refresh=true')).toEqual(before);
  },
  { env: withOwnPrograms },
);

test(
  'OPS-2 a slow Python is reported as present within seconds, and its backend once it has answered',
  async ({ sandbox }) => {
    const gate = join(sandbox.directory, 'gate');
    plantProgram(sandbox, 'python3', `until [ -e ${gate} ]; do sleep 0.02; done`);
    const path = join(sandbox.directory, 'bin', 'python3');

    const early = (await sandbox.ok('GET /v1/capabilities'))['code_interpreter'] as JsonObject;
    // Both languages are on PATH and can run: slowness alone is no degradation.
    expect(early).toMatchObject({ status: 'ready', backend: null, python: path });
    expect(early['languages']).toContain('python');
    expect(early['warnings']).toEqual(['the probe gave no answer within 3 s']);

    writeFileSync(gate, '');
    const late = (await capabilities(sandbox))['code_interpreter'] as JsonObject;
    expect(late).toMatchObject({ backend: 'native', python: path });
  },
  { env: withOwnPrograms },
);

test(
  'OPS-2 a Python that is slow at every probe is described by its previous probe, however old',
  async ({ sandbox }) => {
    const gate = join(sandbox.directory, 'gate');
    plantProgram(sandbox, 'python3', `until [ -e ${gate} ]; do sleep 0.02; done; exit 1`);
    const path = join(sandbox.directory, 'bin', 'python3');
    expect(await sandbox.ok('GET /v1/capabilities')).toMatchObject({ code_interpreter: { backend: null } });
    writeFileSync(gate, '');
    await capabilities(sandbox);

    rmSync(gate);
    jump(sandbox, 3600);
    expect(await sandbox.ok('GET /v1/capabilities')).toMatchObject({
      code_interpreter: { status: 'ready', backend: 'native', python: path, warnings: [] },
    });
    writeFileSync(gate, '');
  },
  { ...withClock(), env: (sandbox) => ({ ...withOwnPrograms(sandbox), BOXKEEP_TEST_CLOCK: clockFile(sandbox) }) },
);

test('OPS-3 V1OPS-2 Python packages are listed as text, as JSON and in the 1.x form', async ({ sandbox }) => {
  await expectPackages(sandbox, { lang: 'python', v1: 'python', names: pipNames() });
});

test('OPS-4 V1OPS-3 Node.js packages are listed as text, as JSON and in the 1.x form', async ({ sandbox }) => {
  await expectPackages(sandbox, { lang: 'nodejs', v1: 'nodejs', names: hasProgram('npm') ? ['npm'] : null });
  const alias = await sandbox.request('GET /v2/sandbox/packages?lang=node');
  expect(alias.body).toEqual((await sandbox.request('GET /v2/sandbox/packages?lang=nodejs')).body);
});

interface ExpectedPackages {
  readonly lang: string;
  readonly v1: string;
  /** Some names that the list must contain; null where the machine lacks the language. */
  readonly names: readonly string[] | null;
}

async function expectPackages(sandbox: Sandbox, { lang, v1, names }: ExpectedPackages): Promise<void> {
  const v1Reply = await sandbox.request(`GET /v1/sandbox/packages/${v1}`);
  expect(v1Reply.status).toBe(names === null ? 503 : 200);
  if (names === null) return;
  const list = v1Reply.body.data as unknown as { name: string; version: string }[];

  expect(list.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
  for (const { name, version } of list) expect([name, typeof version]).toEqual([name, 'string']);
  expect(await sandbox.ok(`GET /v2/sandbox/packages?lang=${lang}&format=json`)).toEqual(list as never);
  expect((await sandbox.ok(`GET /v2/sandbox/packages?lang=${lang}`)) as unknown).toBe(
    list.map(({ name, version }) => `${name}==${version}`).join('\n'),
  );
  const part = (list[0]?.name ?? 'pip').slice(0, 2).toUpperCase();
  expect(await sandbox.ok(`GET /v2/sandbox/packages?lang=${lang}&format=json&name=${part}`)).toEqual(
    list.filter(({ name }) => name.toUpperCase().includes(part)) as never,
  );
  expect((await sandbox.ok('GET /v2/commands'))['commands']).toEqual([]);
}

/** The list of pip itself; empty for a Python without pip, null without Python. */
function pipNames(): string[] | null {
  if (!hasProgram('python3')) return null;
  const list = ['python3', '-I', '-m', 'pip', 'list', '--format=json', '--disable-pip-version-check'];
  const pip = Bun.spawnSync(list, { env: { PATH: process.env['PATH'] } });
  return pip.success ? (JSON.parse(pip.stdout.toString()) as { name: string }[]).map(({ name }) => name) : [];
}

test(
  'OPS-TOOLS packages planted by the default account are listed, and none of their code runs as root',
  async ({ sandbox }) => {
    for (const [lang, program, planted] of [
      ['python', 'python3', { name: 'planted', version: '1.2.3' }],
      ['node', 'npm', { name: 'planted-too', version: '4.5.6' }],
    ] as const) {
      const { status, body } = await sandbox.request(`GET /v2/sandbox/packages?lang=${lang}&format=json`);
      const isInstalled = hasSystemProgram(program);
      if (isInstalled) expect(body.data).toContainEqual(planted);
      expect([lang, isInstalled || status === 503]).toEqual([lang, true]);
    }
    const ranAs = readFileSync(join(sandbox.directory, 'ran-as'), 'utf8').split('\n').filter(Boolean);
    expect(ranAs.filter((uid) => uid !== String(testAccount.uid))).toEqual([]);
  },
  withTestAccount({ args: ['--default-user', testAccount.name], env: plantedVariables, prepare: plantPackages }),
);

test(
  'OPS-TOOLS a tool runs as the default account with its groups, at the root, without the key and loader variables',
  async ({ sandbox }) => {
    const headers = { 'x-api-key': key };
    await sandbox.request('GET /v2/sandbox/packages?lang=python', undefined, headers);
    const recorded = readFileSync(join(sandbox.directory, 'told'), 'utf8').split('\n');

    expect(recorded.slice(0, 3)).toEqual([String(testAccount.uid), testAccount.groups.join(' '), '/']);
    expect(recorded).toContain(`HOME=${sandbox.directory}`);
    const names = recorded.slice(3).map((line) => line.split('=')[0] ?? '');
    expect(names.filter((name) => /^(SVC_API_KEY|LD_.*|NODE_OPTIONS|OTEL_.*HEADERS)$/.test(name))).toEqual([]);
    expect(recorded.join('\n')).not.toContain(key);
  },
  withTestAccount({
    args: ['--default-user', testAccount.name],
    env: (sandbox) => ({
      ...withOwnPrograms(sandbox),
      SVC_API_KEY: key,
      LD_LIBRARY_PATH: '/no/such/folder',
      NODE_OPTIONS: '--no-warnings',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${key}`,
    }),
    prepare: (sandbox) => {
      const record = join(sandbox.directory, 'told');
      plantProgram(sandbox, 'python3', `{ id -u; id -G; pwd; env; } > ${record}; echo '[]'`);
      writeFileSync(record, '');
      chmodSync(record, 0o666);
      chmodSync(sandbox.directory, 0o755);
    },
  }),
);

test(
  'OPS-TOOLS a root daemon lists packages without running code planted in Python’s directories',
  async ({ sandbox }) => {
    const { status } = await sandbox.request('GET /v2/sandbox/packages?lang=python');

    expect(status).toBe(hasSystemProgram('python3') ? 200 : 503);
    expect(readFileSync(join(sandbox.directory, 'ran-as'), 'utf8')).toBe('');
  },
  { env: plantedVariables, prepare: plantPackages },
);

test(
  'V1OPS-2 V1OPS-3 ERR-503 an interpreter that cannot run is 503 with the way to install one',
  async ({ sandbox }) => {
    for (const [route, program] of [
      ['/v1/sandbox/packages/python', 'python3'],
      ['/v2/sandbox/packages?lang=nodejs', 'npm'],
    ] as const) {
      expect(await sandbox.request(`GET ${route}`)).toMatchObject({
        status: 503,
        body: {
          success: false,
          message: expect.stringMatching(new RegExp(`^(no ${program} on PATH|${program} cannot be run: .*)$`)),
          hint: expect.stringMatching(/^Install .* in the image/),
        },
      });
    }
  },
  {
    // No file on PATH is executable: a file is mounted over each program of the system.
    launcher: ['unshare', '--mount', 'sh', '-c', hidePrograms(['python3', 'npm']), 'sh'],
    env: { PATH: '/usr/bin:/bin' },
  },
);

test(
  'OPS-TOOLS a tool run is not a command, and ends with a daemon that dies',
  async ({ sandbox }) => {
    const list = sandbox.fetch('GET /v2/sandbox/packages?lang=python').catch(() => null); // The test kills the daemon.
    const sleeping = () => sandbox.processes().filter(({ command }) => command.startsWith('sleep 987'));
    await until('the tool runs', () => sleeping().length === 1);

    expect((await sandbox.ok('GET /v2/commands'))['commands']).toEqual([]);
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await list;
    await sandbox.served();
    await until('the tool was ended', () => sleeping().length === 0);
    await until('and forgotten', () => readdirSync(join(sandbox.runtimeDirectory, 'commands')).length === 0);
    expect((await sandbox.ok('GET /v2/commands'))['commands']).toEqual([]);
  },
  {
    env: withOwnPrograms,
    prepare: (sandbox) => plantProgram(sandbox, 'python3', 'sleep 987'),
    expectedWarnings: ['started again by init'],
  },
);

test('V1OPS-1 the 1.x layout is a text with the fields beside it', async ({ sandbox }) => {
  const { body } = await sandbox.request('GET /v1/sandbox');
  const fields = body as unknown as JsonObject;
  const { system, runtime, utils } = fields['detail'] as JsonObject;

  expect(Object.keys(fields).toSorted()).toEqual(
    ['data', 'detail', 'hint', 'home_dir', 'message', 'success', 'version', 'workspace'].toSorted(),
  );
  expect(system).toEqual({
    os: 'Linux',
    os_version: expect.any(String),
    arch: expect.any(String),
    user: expect.any(String),
    home_dir: fields['home_dir'],
    workspace: fields['workspace'],
    timezone: expect.any(String),
    occupied_ports: expect.arrayContaining([new URL(sandbox.url).port]),
  });
  expect(Object.keys(runtime as JsonObject)).toEqual(['python', 'nodejs']);
  for (const runtimes of Object.values(runtime as JsonObject)) expect(runtimes).toBeArray();
  expect(utils).toContainEqual({
    category: 'shells',
    tools: expect.arrayContaining([{ name: 'sh', description: expect.stringMatching(/^\/.*\/sh$/) }]),
  });
  const lines = (fields['data'] as string).split('\n');
  expect(lines[0]).toBe(`System Environment (v${fields['version'] as string}):`);
  expect(lines).toContain(`- Home: ${fields['home_dir'] as string}`);
  expect(lines).toContain('Development Environment:');
  expect(lines).toContain('Available Tools:');
});

test(
  'V1OPS-1 interpreter versions are queried once, and a slow interpreter delays no request',
  async ({ sandbox }) => {
    const python = async () => {
      const { body } = await sandbox.request('GET /v1/sandbox');
      const { runtime } = (body as unknown as JsonObject)['detail'] as JsonObject;
      const found = (runtime as JsonObject)['python'] as JsonObject[];
      return found.find(({ bin }) => bin === join(sandbox.directory, 'bin/python3'));
    };

    expect(await python()).toEqual({ ver: null, bin: join(sandbox.directory, 'bin/python3'), alias: ['python3'] });
    writeFileSync(join(sandbox.directory, 'go'), '');
    await until('the version is known', async () => (await python())?.['ver'] === '3.99.1');
    await python();
    expect(readFileSync(join(sandbox.directory, 'asked'), 'utf8')).toBe('asked\n');
  },
  {
    env: withOwnPrograms,
    prepare: (sandbox) => {
      const waits = `until [ -e ${sandbox.directory}/go ]; do sleep 0.05; done`;
      plantProgram(sandbox, 'python3', `echo asked >> ${sandbox.directory}/asked; ${waits}; echo Python 3.99.1`);
    },
  },
);

test('V1OPS-4 ping is answered with pong', async ({ sandbox }) => {
  expect((await sandbox.request('GET /v1/ping')).body).toEqual({
    success: true,
    message: 'pong',
    data: 'pong' as never,
    hint: null,
  });
});

test('OPS-METRICS requests, commands and gauges are exported for Prometheus', async ({ sandbox }) => {
  await sandbox.run({ command: 'head -c 100000 /dev/zero' });
  await sandbox.run({ command: '/no/such/program', shell: 'none' });
  const running = await sandbox.start({ command: 'exec cat' });
  await sandbox.request('GET /v2/nothing');
  await sandbox.request('GET /v9/else');
  const closing = new AbortController();
  const stream = sandbox.lines(`/v2/commands/${running}?stream=true`, closing.signal);
  await stream.next();

  const response = await sandbox.fetch('GET /metrics');
  const metrics = readMetrics(await response.text());

  expect(response.headers.get('content-type')).toStartWith('text/plain');
  expect(metrics).toMatchObject({
    'http_requests_total{method="POST",route="/v2/commands",status="200"}': 3,
    'http_requests_total{method="GET",route="unmatched",status="404"}': 2,
    'http_request_duration_seconds_count{method="POST",route="/v2/commands"}': 3,
    'command_exec_total{status="completed"}': 1,
    'command_exec_total{status="failed"}': 1,
    command_exec_duration_seconds_count: 2,
    boxkeep_commands_running: 1,
    boxkeep_commands_kept: 3,
    boxkeep_command_sessions: 0,
    boxkeep_open_streams: 1,
    boxkeep_zombie_processes: 0,
  });
  expect(metrics['boxkeep_retained_log_bytes']).toBeGreaterThanOrEqual(100_000);
  for (const name of [
    'boxkeep_event_loop_lag_seconds',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'process_open_fds',
    'process_start_time_seconds',
  ]) {
    expect([name, (metrics[name] ?? 0) > 0]).toEqual([name, true]);
  }
  closing.abort();
  await stream.next().catch(() => null); // The abort that the test requested.
});

test('OPS-METRICS the time of the start is the same in every scrape', async ({ sandbox }) => {
  const started = async () =>
    /^process_start_time_seconds .*$/m.exec(await (await sandbox.fetch('GET /metrics')).text());
  const [first] = (await started()) ?? [];
  for (let scrape = 0; scrape < 5; scrape++) expect((await started())?.[0]).toBe(first as string);
  expect(first).toBeString();
});

test(
  'OPS-METRICS AUTH-5 the metrics need the key, and do not contain it',
  async ({ sandbox }) => {
    expect((await sandbox.request(`GET /metrics`)).status).toBe(401);
    await sandbox.request(`GET /v2/nothing?api_key=${key}`);
    const text = await (await sandbox.fetch('GET /metrics', undefined, { headers: { 'x-api-key': key } })).text();
    expect(text).toContain('route="unmatched"');
    expect(text).not.toContain(key);
  },
  { env: { SVC_API_KEY: key } },
);

test('ERR-422 ERR-404 ERR-405 bad input is answered with the problem and the next step', async ({ sandbox }) => {
  const languages = 'must be one of python, nodejs, node';
  const seeErrors = 'See errors for each field that has to change.';
  const cases: [string, number, string, string][] = [
    ['GET /v2/sandbox/packages', 422, 'query.lang: is required', seeErrors],
    ['GET /v2/sandbox/packages?lang=', 422, `query.lang: ${languages}`, seeErrors],
    ['GET /v2/sandbox/packages?lang=ruby', 422, `query.lang: ${languages}`, seeErrors],
    ['GET /v2/sandbox/packages?lang=python%00', 422, `query.lang: ${languages}`, seeErrors],
    ['GET /v2/sandbox/packages?lang=../python', 422, `query.lang: ${languages}`, seeErrors],
    ['GET /v2/sandbox/packages?lang=node&format=xml', 422, 'query.format: must be one of text, json', seeErrors],
    ['GET /v1/capabilities?refresh=maybe', 422, 'query.refresh: must be true or false', seeErrors],
    [
      'GET /v1/sandbox/packages/ruby',
      404,
      'no route GET /v1/sandbox/packages/ruby',
      expect.stringContaining('\nGET /v1/sandbox/packages/python: '),
    ],
    ['GET /v2/sandbox/', 404, 'no route GET /v2/sandbox/', 'Did you mean /v2/sandbox, without the extra slash?'],
    ['POST /v2/sandbox', 405, 'POST is not served on /v2/sandbox', 'This path takes GET, HEAD.'],
    ['DELETE /v1/sandbox', 405, 'DELETE is not served on /v1/sandbox', 'This path takes GET, HEAD.'],
    [
      'GET /v2/commands/sessions/a',
      405,
      'GET is not served on /v2/commands/sessions/{session_id}',
      'This path takes DELETE. GET /v2 lists every route. The nearest:\nGET /v2/commands/sessions: List command sessions',
    ],
    ['PUT /v2/fs/write', 405, 'PUT is not served on /v2/fs/write', 'This path takes POST.'],
    ['POST /metrics', 405, 'POST is not served on /metrics', 'This path takes GET, HEAD.'],
  ];
  for (const [route, status, message, hint] of cases) {
    const reply = await sandbox.request(route, route.startsWith('GET') ? undefined : {});
    expect([route, reply.status, reply.body.message, reply.body.hint]).toEqual([route, status, message, hint]);
    expect(reply.body.success).toBe(false);
  }
});

/** A PATH in which the test's programs come first. */
function withOwnPrograms({ directory }: Sandbox): Record<string, string> {
  return { PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}` };
}

/** In the only directory that every account can surely reach. */
function hasSystemProgram(name: string): boolean {
  return hasProgram(name) && existsSync(join('/usr/bin', name));
}

function plantProgram({ directory }: Sandbox, name: string, script: string): void {
  mkdirSync(join(directory, 'bin'), { recursive: true });
  writeFileSync(join(directory, 'bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, 'bin', name), 0o755);
}

/** Mounts a file over every such program in the standard directories. */
function hidePrograms(names: readonly string[]): string {
  const directories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
  const found = directories.flatMap((directory) => names.map((name) => join(directory, name))).filter(existsSync);
  const hide = found.map((path) => `mount --bind ./tmp ${path} 2>/dev/null || mount --bind /dev/null ${path}`);
  return [...hide, 'exec "$@"'].join('\n');
}

/** Variables of an image that would make Python run the account's code at each start. */
function plantedVariables({ directory }: Sandbox): Record<string, string> {
  // Other accounts may not be able to reach the first interpreter on the tests' PATH; the system's is reachable.
  return { PATH: '/usr/bin:/bin', PYTHONPATH: join(directory, 'modules'), PYTHONSTARTUP: join(directory, 'start.py') };
}

/** Packages in the account's home, and code in every place from which an interpreter would load it. */
function plantPackages({ directory }: Sandbox): void {
  const mark = join(directory, 'ran-as');
  const script = `import os\nopen(${JSON.stringify(mark)}, "a").write(str(os.getuid()) + "\\n")\n`;
  const files: Record<string, string> = {
    'ran-as': '',
    'start.py': script,
    'modules/sitecustomize.py': script,
    'modules/json.py': script,
    'prefix/lib/node_modules/planted-too/package.json': '{"name": "planted-too", "version": "4.5.6"}',
    '.npmrc': `prefix=${join(directory, 'prefix')}\nnode-options=--require=${join(directory, 'mark.cjs')}\n`,
    'mark.cjs': `require('node:fs').appendFileSync(${JSON.stringify(mark)}, process.getuid() + '\\n');`,
  };
  for (const minor of Array.from({ length: 8 }, (_, index) => index + 8)) {
    const packages = `.local/lib/python3.${minor}/site-packages`;
    files[`${packages}/planted-1.2.3.dist-info/METADATA`] = 'Metadata-Version: 2.1\nName: planted\nVersion: 1.2.3\n';
    files[`${packages}/usercustomize.py`] = script;
    files[`${packages}/planted.pth`] =
      `import os; open(${JSON.stringify(mark)}, "a").write(str(os.getuid()) + "\\n")\n`;
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  chmodSync(directory, 0o755);
  chmodSync(mark, 0o666);
}

function readMetrics(text: string): Record<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(samples.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]));
}
