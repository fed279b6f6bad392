/** `boxkeep open`, as a shell sees it. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client } from '../harness/cli-client.ts';
import { expect, clientCommand, test } from '../harness/sandbox.ts';
import { Tmux } from '../harness/tmux.ts';
import { until } from '../harness/until.ts';

test(
  'CLI-OPEN open prints the address of the console without the key, and opens it at a terminal',
  async ({ sandbox }) => {
    const printed = await client(sandbox, ['open', `${sandbox.url}/`], { SVC_API_KEY: 'secret' });
    expect(printed).toEqual({ code: 0, stdout: Buffer.from(`${sandbox.url}/\n`), stderr: '' });

    const [programs, opened] = [join(sandbox.directory, 'programs'), join(sandbox.directory, 'opened')];
    mkdirSync(programs);
    writeFileSync(join(programs, 'xdg-open'), `#!/bin/sh\necho "$@" > ${opened}.part; mv ${opened}.part ${opened}\n`);
    chmodSync(join(programs, 'xdg-open'), 0o755);
    await using tmux = new Tmux(sandbox.directory);
    const env = { PATH: `${programs}:${process.env['PATH']}`, SVC_API_KEY: 'secret' };
    tmux.pane({ command: [...clientCommand(), 'open', sandbox.url], cwd: sandbox.directory, env });
    await until('the page is opened', () => existsSync(opened));
    expect(readFileSync(opened, 'utf8')).toBe(`${sandbox.url}/\n`);
  },
  { env: { SVC_API_KEY: 'secret' } },
);
