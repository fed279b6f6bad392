/** The runtime of agent-sandbox, with its published client for Go, and with a client of grpc-go. */
import { join } from 'node:path';
import { portsOf, withAgentSandbox } from '../../harness/agent-sandbox.ts';
import { needGo } from '../../harness/interpreters.ts';
import { startCommand } from '../../harness/line-program.ts';
import { playKubernetes } from '../../harness/played-kubernetes.ts';
import { expect, test } from '../../harness/sandbox.ts';

const program = needGo('clients/agent-sandbox-go');

test(
  'AGS-GO the published client makes its calls, and grpc-go streams, writes, and sees deadlines and cancels',
  async ({ sandbox }) => {
    const config = join(sandbox.directory, 'kubeconfig');
    using _kubernetes = playKubernetes(config);
    const { rest, grpc } = portsOf(sandbox);
    const command = ['env', `KUBECONFIG=${config}`, program, String(rest), String(grpc)];
    expect(Object.fromEntries(await startCommand(command).end())).toEqual({
      'the client for Go': [3, 'out\n', 'err\n', 'text', 'c#d.txt', '0644', true, false],
      execute: { stdout: 'out\n', stderr: 'err\n', exit: 3 },
      start: { stdout: 'out\n', stderr: 'err\n', exit: 4 },
      stdin: ['one\n', { stdout: 'end\n', stderr: '', exit: 0 }],
      'a time limit': ['DeadlineExceeded', 'before\n', 1],
      'a deadline': ['DeadlineExceeded', true, true],
      'a cancel': ['Canceled', true, true],
      '64 MiB': 64 * 1024 * 1024,
      'after it': { stdout: 'out\n', stderr: '', exit: 0 },
    });
  },
  withAgentSandbox({ timeoutMs: 120_000 }),
);
