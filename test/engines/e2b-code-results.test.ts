/** What a cell of Python shows to clients of E2B: data, charts and JSON, in each interpreter of Python. */
import { afterAll, beforeAll } from 'bun:test';
import { needPython } from '../harness/interpreters.ts';
import { runClient, urlOf, withE2b } from '../harness/e2b.ts';
import { JupyterServer } from '../harness/jupyter-server.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const packages = needPython('code');
const withKernels = ({ directory }: Sandbox) => ({
  PATH: `${packages}/bin:${process.env['PATH']}`,
  IPYTHONDIR: `${directory}/ipython`,
  // Otherwise a kernel tries its temporary directory with a file, which an interrupt would leave there.
  IPYKERNEL_CELL_NAME: 'cell',
});

const server = new JupyterServer(needPython('code/jupyter-server'));
beforeAll(() => server.launch());
afterAll(() => server[Symbol.asyncDispose]());

for (const backend of ['native', 'kernel']) {
  test(
    `E2B-CODE results have json, data of frames and charts of figures (${backend})`,
    async ({ sandbox }) => {
      expect(await runClient('e2b-results.py', urlOf(sandbox))).toEqual({
        dict: { a: [1, null], 1: null },
        list: [1, ['x', true]],
        numbers: "[[1.0, 2, 0.5, 1e+300, 12345678901234567890], {'a': [1.0, 2.0]}]",
        'not JSON': ['text'],
        others: [['text'], ['text'], ['text']],
        JSON: { a: 1 },
        'nothing imported': '[False, False, False]',
        frame: [
          {
            when: ['1970-01-01T00:00:00', null],
            n: [1, 2],
            x: [0.5, null],
            text: ['a', null],
            3: [[1], '{2}'],
          },
          true,
          true,
        ],
        twice: { a: [2] },
        large: ['text', 'html'],
        hostile: ['text', 'e2b/data'],
        shown: { a: [1] },
        line: ['line', 'T', 'l', [3, 4]],
        bar: [
          'bar',
          [
            ['a', 1],
            ['b', 2],
          ],
        ],
        empty: null,
        broken: null,
      });
    },
    withE2b({
      timeoutMs: 120_000,
      env: (sandbox) => ({ ...withKernels(sandbox), SVC_CODE_BACKEND: backend }),
    }),
  );
}

const execute = (sandbox: Sandbox, body: object, signal: AbortSignal | null = null) =>
  fetch(`${urlOf(sandbox)}/execute`, { method: 'POST', body: JSON.stringify(body), keepalive: false, signal });

test(
  'E2B-CODE results have json, and variables of a cell are put back, in a kernel of a Jupyter server',
  async ({ sandbox }) => {
    const shown = async (body: object) => (await execute(sandbox, body)).text();
    const code = "import os\n{'V': os.environ.get('V')}";
    expect(await shown({ code, env_vars: { V: '"' } })).toContain('"json":{"V":"\\""}');
    expect(await shown({ code })).toContain('"json":{"V":null}');
    await fetch(`${urlOf(sandbox)}/contexts/e2b-python`, { method: 'DELETE', keepalive: false });
  },
  withE2b({ timeoutMs: 120_000, env: () => ({ SVC_JUPYTER_ENDPOINT: server.endpoint }) }),
);

test(
  'E2B-CODE a client that goes while its context starts ends its cell',
  async ({ sandbox }) => {
    const gone = new AbortController();
    const answer = execute(sandbox, { code: 'import time; time.sleep(600)' }, gone.signal).catch(() => null);
    const sessions = async () => (await sandbox.ok('GET /v2/code/sessions'))['sessions'] as JsonObject;
    await until('the context starts', async () => (await sessions())['e2b-python'] !== undefined);
    gone.abort();
    await answer;
    expect(await (await execute(sandbox, { code: '1' })).text()).toContain('"text":"1"');
  },
  withE2b({ env: withKernels }),
);
