/** The code interpreter of E2B, for requests that no client sends. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { urlOf, withE2b } from '../harness/e2b.ts';
import { withKernels } from '../harness/kernels.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const post = (
  sandbox: Sandbox,
  path: string,
  body: object,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
) => {
  const init = { method: 'POST', body: JSON.stringify(body), keepalive: false, headers, signal };
  return fetch(`${urlOf(sandbox, 'code')}${path}`, init);
};

async function cell(sandbox: Sandbox, body: object): Promise<JsonObject[]> {
  const text = await (await post(sandbox, '/execute', body)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
}

test(
  'E2B-CODE port 0 leaves the code interpreter and the control plane closed; the port of processes serves code all the same',
  async ({ sandbox }) => {
    const init = { keepalive: false };
    expect(await (await fetch(`${urlOf(sandbox)}/contexts`, init)).json()).toMatchObject([{ language: 'python' }, {}]);
    const closed = (['code', 'api'] as const).map((port) => fetch(`${urlOf(sandbox, port)}/health`, init));
    expect((await Promise.allSettled(closed)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  },
  withE2b({ env: { SVC_E2B_CODE_PORT: '0', SVC_E2B_API_PORT: '0' } }),
);

test(
  'E2B-CODE a kernel of another language keeps the variables that it has started with',
  async ({ sandbox }) => {
    const kernel = join(sandbox.directory, 'jupyter/kernels/bash');
    mkdirSync(kernel, { recursive: true });
    const argv = ['python3', '-m', 'bash_kernel', '-f', '{connection_file}'];
    const spec = { argv, language: 'bash', env: { HOME: sandbox.directory } };
    writeFileSync(join(kernel, 'kernel.json'), JSON.stringify(spec));
    const init = async (envVars: object) => {
      const body = JSON.stringify({ envVars });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${urlOf(sandbox)}/init`, { method: 'POST', body, headers, keepalive: false });
    };
    const shown = async () => (await cell(sandbox, { code: 'echo $COLOUR', language: 'bash' }))[1];
    await init({ COLOUR: 'red' });
    expect(await shown()).toMatchObject({ type: 'stdout', text: 'red\n' });
    await init({ COLOUR: 'blue' });
    for (let turn = 0; turn < 2; turn++) expect(await shown()).toMatchObject({ type: 'stdout', text: 'red\n' });
  },
  withE2b(withKernels()),
);

test(
  'E2B-CODE a call that is wrong is refused in plain text; a silent cell shows that it lives',
  async ({ sandbox }) => {
    const refused = async (path: string, body: object) => {
      const answer = await post(sandbox, path, body);
      return [answer.status, await answer.text()];
    };
    expect(await refused('/execute', { code: '1', context_id: 'a', language: 'python' })).toEqual([
      400,
      'Only one of context_id or language can be provided',
    ]);
    expect(await refused('/execute', { code: '1', context_id: 'none' })).toEqual([404, 'Context none not found']);
    expect(await refused('/execute', { code: '1', language: 'cobol' })).toEqual([400, expect.stringMatching(/cobol/)]);
    expect(await refused('/contexts', { cwd: '/none' })).toEqual([400, expect.stringMatching(/none/)]);
    expect(await refused('/execute', {})).toEqual([422, expect.stringContaining('body.code')]);
    expect(await refused('/contexts/none/restart', {})).toEqual([404, 'Context none not found']);
    expect(await (await fetch(`${urlOf(sandbox, 'code')}/health`, { keepalive: false })).json()).toBe('OK');
    const contexts = await fetch(`${urlOf(sandbox, 'code')}/contexts`, { keepalive: false });
    expect(await contexts.json()).toMatchObject([{ language: 'python' }, { language: 'javascript' }]);
    expect(await refused('/execute', { code: '1', language: 'constructor' })).toEqual([
      400,
      expect.stringMatching(/constructor/),
    ]);
    expect(await refused('/contexts', { cwd: '/a\0b' })).toEqual([422, expect.stringMatching(/cwd/)]);
    const lines = await cell(sandbox, { code: 'import time; time.sleep(5.5); 1', unknown: true });
    expect(lines).toEqual([
      { type: 'keepalive' },
      { type: 'keepalive' },
      { type: 'result', is_main_result: true, text: '1' },
      { type: 'number_of_executions', execution_count: 1 },
      { type: 'end_of_execution' },
    ]);
  },
  withE2b(),
);

test(
  'E2B-CODE a client that goes ends its cell, whether it runs or waits, and no other one',
  async ({ sandbox }) => {
    const [runs, waits] = [new AbortController(), new AbortController()];
    const start = (code: string, signal?: AbortSignal) => post(sandbox, '/execute', { code }, {}, signal);
    await cell(sandbox, { code: 'ran = []' });
    const running = await start("import time; ran.append('long'); print('begun'); time.sleep(60)", runs.signal);
    const [reader, decoder] = [running.body!.getReader(), new TextDecoder()];
    while (!decoder.decode((await reader.read()).value).includes('begun'));
    await start("ran.append('waiting')", waits.signal);
    const last = start("ran.append('last'); ran");
    const answered = () => sandbox.logLines().filter(({ route }) => route === '/execute').length;
    const before = answered();
    waits.abort();
    await until('the client that waits has gone', () => answered() > before);
    runs.abort();
    expect(await (await last).text()).toContain("['long', 'last']");
  },
  withE2b(),
);

test(
  'E2B-CODE contexts and their state outlive the daemon',
  async ({ sandbox }) => {
    await cell(sandbox, { code: 'kept = 41' });
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    expect(await cell(sandbox, { code: 'kept + 1' })).toContainEqual({
      type: 'result',
      is_main_result: true,
      text: '42',
    });
  },
  withE2b({ expectedWarnings: ['started again by init'] }),
);

test(
  'E2B-CODE with a key each header that the clients send carries it',
  async ({ sandbox }) => {
    const status = async (headers: Record<string, string>) => (await post(sandbox, '/contexts', {}, headers)).status;
    expect(await status({})).toBe(401);
    expect(await status({ 'e2b-traffic-access-token': 'wrong' })).toBe(401);
    expect(await status({ 'e2b-traffic-access-token': 'secret' })).toBe(200);
    expect(await status({ 'x-access-token': 'secret' })).toBe(200);
    expect((await fetch(`${urlOf(sandbox, 'code')}/health`, { keepalive: false })).status).toBe(200);
  },
  withE2b({ env: { SVC_API_KEY: 'secret' } }),
);

test(
  'E2B-CODE variables of a cell are put back, and a text loses only the quotes of a string',
  async ({ sandbox }) => {
    const text = async (code: string, env_vars: object | null = null) =>
      (await cell(sandbox, { code, env_vars })).find(({ type }) => type === 'result')?.['text'];
    await text("import os; os.environ['MINE'] = 'code'; 0");
    const seen = "','.join(str(os.environ.get(name)) for name in ('V', 'MINE', 'PATH'))";
    const usual = await text(seen);
    expect(usual).toMatch(/^None,code,\//);
    expect(await text(seen, { V: '1', MINE: '' })).toBe(String(usual).replace('None,code', '1,'));
    expect(await text(seen, { PATH: '2' })).toBe('None,code,2');
    const running = await post(sandbox, '/execute', {
      code: 'import time; print(1); time.sleep(60)',
      env_vars: { V: '3' },
    });
    await running.body!.getReader().cancel();
    expect(await text(seen)).toBe(usual);
    // A variable of /init is in every context, and code may change it.
    const init = JSON.stringify({ envVars: { V: 'init' } });
    await fetch(`${urlOf(sandbox)}/init`, { method: 'POST', body: init, keepalive: false });
    expect(await text(seen)).toMatch(/^init,/);
    expect(await text(`os.environ['V'] = 'code'; ${seen}`)).toMatch(/^code,/);
    expect(await text(seen)).toMatch(/^code,/);
    await text("class Both:\n  def __repr__(self): return \"'a' + 'b'\"\n0");
    expect(await text('Both()')).toBe("'a' + 'b'");
  },
  withE2b(),
);

test(
  'E2B-CODE behind a cell that ignores the interrupt of its client, others are refused until the context is restarted',
  async ({ sandbox }) => {
    const code = `import time
while True:
  try:
    print('begun')
    time.sleep(60)
  except KeyboardInterrupt:
    pass`;
    const running = await post(sandbox, '/execute', { code });
    const lines = running.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let seen = ''; !seen.includes('begun');) seen += (await lines.read()).value;
    await lines.cancel();
    expect(await cell(sandbox, { code: '1' })).toContainEqual({
      ...{ type: 'error', name: 'ExecutionError', traceback: expect.anything() },
      value: expect.stringMatching(
        /ignores the interrupt; the code did not run. Restart the session .*another session/,
      ),
    });
    const refused = await post(sandbox, '/execute', { code: '1' });
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringMatching(/Restart the session/)]);
    await post(sandbox, '/contexts/e2b-python/restart', {});
    expect(await cell(sandbox, { code: '1' })).toContainEqual({ type: 'result', is_main_result: true, text: '1' });
  },
  withE2b(),
);

test(
  'E2B-CODE the answer to a silent cell begins at once',
  async ({ sandbox }) => {
    const answer = await post(sandbox, '/execute', { code: "import time; time.sleep(2); print('late')" });
    const lines = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await lines.read()).value).toBe('{"type":"keepalive"}\n');
    expect((await lines.read()).value).toContain('late');
  },
  withE2b(),
);

test(
  'E2B-CODE deleting or restarting a context that has never run starts no interpreter',
  async ({ sandbox }) => {
    const context = `${urlOf(sandbox, 'code')}/contexts/e2b-python`;
    const ask = async (method: string, url: string) => (await fetch(url, { method, keepalive: false })).text();
    expect([await ask('DELETE', context), await ask('POST', `${context}/restart`)]).toEqual(['null', 'null']);
    expect(await ask('GET', `${urlOf(sandbox, 'code')}/contexts`)).toContain('e2b-python');
  },
  // Without ipykernel, no interpreter of Python can start.
  withE2b({ env: { SVC_CODE_BACKEND: 'kernel' } }),
);
