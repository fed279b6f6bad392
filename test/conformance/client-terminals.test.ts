/** Terminals through the clients of this repository. */
import { afterAll, beforeAll } from 'bun:test';
import { serversBefore } from '../harness/client-servers.ts';
import { clientOptions, clientsWith, needClients, removeClients, shownBy } from '../harness/own-clients.ts';
import { expect, test, type Sandbox } from '../harness/sandbox.ts';

beforeAll(needClients);
afterAll(removeClients);

/** A WebSocket of its runtime does not say why it does not open, and may be missing. */
const onlyInJavascript = ({ url }: Sandbox) => ({
  'no WebSocket': ['no_websocket', expect.stringContaining("WebSocket: (await import('ws')).WebSocket")],
  'no way': ['unreachable', `no WebSocket opens at ${url}, although it answers HTTP`],
  aborted: 'Error: enough',
});

for (const client of clientsWith('terminals'))
  test(
    `CLIENT-TERMINALS output and input of a terminal come once, over lost connections, kills and upgrades (${client.name})`,
    async ({ sandbox }) => {
      using servers = serversBefore(sandbox.url, sandbox.directory);
      expect(await shownBy(client, 'terminals', sandbox, servers.url)).toEqual({
        unknown: ['terminal_not_found', 'no terminal session has the id missing'],
        'wrong key': ['unauthorized', `${sandbox.url} does not accept the key`],
        'another server': ['not_boxkeep', `what answers at ${servers.url}/other is not boxkeep (status 200)`],
        ...(client.name.startsWith('Python') ? { 'timed out': 'TimeoutError' } : onlyInJavascript(sandbox)),
        'key is shown': false,
        output: { isLog: true, isText: true, isWhole: true, kinds: ['attached', 'away', 'restore'] },
        'read-only': ['forbidden', 'work is attached read-only'],
        input: true,
        'in doubt': ['input_in_doubt', 1000, 'input_in_doubt'],
        title: 'name',
        resized: [90, 20],
        exec: '/tmp\n',
        screen: true,
        restored: [true, 0],
        renamed: 'Work of two',
        listed: ['work'],
        slow: [true, true],
        end: [{ type: 'exit', exitCode: 3, signal: null }, { type: 'exit', exitCode: 3, signal: null }, 3],
        'written too late': 'terminal_ended',
        unnamed: 'expiring',
        left: 'detached',
        closed: 'terminal_not_found',
      });
    },
    clientOptions,
  );
