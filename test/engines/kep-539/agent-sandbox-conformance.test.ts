/** The conformance program for KEP-539.2, on this daemon. */
import { join } from 'node:path';
import { portsOf, withAgentSandbox } from '../../harness/agent-sandbox.ts';
import { startProgram } from '../../harness/line-program.ts';
import { expect, test } from '../../harness/sandbox.ts';

test(
  'AGS-KEP the conformance program finds that the level Core holds',
  async ({ sandbox }) => {
    const { rest, grpc } = portsOf(sandbox);
    const addresses = [`127.0.0.1:${rest}`, `127.0.0.1:${grpc}`];
    const program = join(import.meta.dirname, 'conformance.py');
    const [report] = await startProgram('clients/agent-sandbox', program, ...addresses, '--json').end();
    expect(report).toMatchObject(['report', { levels: { Core: true }, failed: [] }]);
  },
  withAgentSandbox({ timeoutMs: 120_000 }),
);
