/** `boxkeep code`, as a shell sees it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { client, Client } from '../harness/cli-client.ts';
import { withKernels } from '../harness/kernels.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

async function code(sandbox: Sandbox, ...args: readonly string[]): Promise<[number | null, string, string]> {
  const { code, stdout, stderr } = await client(sandbox, ['code', sandbox.url, ...args]);
  return [code, stdout.toString(), stderr];
}

test('CLI-CODE code prints streams and results, and exits 1 after an error and 124 after a timeout', async ({
  sandbox,
}) => {
  const python = "import sys; print('out'); print('err', file=sys.stderr); 6 * 7";
  expect(await code(sandbox, 'python', python)).toEqual([0, 'out\n42\n', 'err\n']);
  expect(await code(sandbox, 'javascript', "console.log('out'); 6 * 7")).toEqual([0, 'out\n42\n', '']);
  const [failed, nothing, traceback] = await code(sandbox, 'python', '1 / 0');
  expect([failed, nothing, traceback]).toEqual([
    1,
    '',
    expect.stringMatching(/^Traceback [^]*\nZeroDivisionError: .*\n$/),
  ]);
  const [late, , said] = await code(sandbox, 'python', '--timeout', '0.3', 'while True: pass');
  expect([late, said]).toEqual([124, expect.stringContaining('boxkeep: code: the time of --timeout is over\n')]);
  const [wrong, , line] = await code(sandbox, 'cobol', 'x');
  expect([wrong, line]).toEqual([125, expect.stringContaining('must be one of python')]);

  const [, json] = await code(sandbox, 'python', '--json', '6 * 7');
  expect(JSON.parse(json)).toMatchObject({ status: 'ok', outputs: [{ data: { 'text/plain': '42' } }] });
});

test('CLI-CODE code comes from standard input, and a session keeps its variables', async ({ sandbox }) => {
  const run = new Client(sandbox, ['code', sandbox.url, 'python', '--session', 'work']);
  run.process.stdin.end('kept = 6\nprint("read")\n');
  expect(await run.ended()).toEqual({ code: 0, stdout: Buffer.from('read\n'), stderr: '' });
  expect(await code(sandbox, 'python', '--session', 'work', 'kept * 7')).toEqual([0, '42\n', '']);
  expect(await code(sandbox, 'javascript', '--session', 'work', 'kept')).toEqual([
    125,
    '',
    'boxkeep: code: the session work runs python\n',
  ]);
});

test(
  'CLI-CODE pictures are saved with --pictures, and mentioned without',
  async ({ sandbox }) => {
    const plot = 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.plot([2, 1])\nplt.show()';
    const directory = join(sandbox.directory, 'pictures');
    const [first, second] = [join(directory, 'figure-1.png'), join(directory, 'figure-2.png')];
    expect(await code(sandbox, 'python', plot, '--pictures', directory)).toEqual([
      0,
      '',
      `boxkeep: code: saved ${first}\nboxkeep: code: saved ${second}\n`,
    ]);
    for (const path of [first, second]) expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG');
    const mention = 'boxkeep: code: a picture (image/png) was not saved; --pictures DIR saves it\n';
    expect(await code(sandbox, 'python', plot)).toEqual([0, '', mention.repeat(2)]);
  },
  withKernels(),
);
