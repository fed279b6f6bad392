/** The clients of this repository: commands, files and code. */
import { join } from 'node:path';
import { afterAll, beforeAll } from 'bun:test';
import { serversBefore } from '../harness/client-servers.ts';
import { bundle, clientOptions, clientsWith, needClients, removeClients, shownBy } from '../harness/own-clients.ts';
import { expect, repositoryRoot, test } from '../harness/sandbox.ts';

/** Minified and compressed. */
const maxBytes = 25_000;

beforeAll(needClients);
afterAll(removeClients);

const away = (pattern: RegExp) => ['unreachable', null, expect.stringMatching(pattern)];

for (const client of clientsWith('commands'))
  test(
    `CLIENT-COMMANDS commands run once, and their output comes whole, over kills of the daemon (${client.name})`,
    async ({ sandbox }) => {
      using servers = serversBefore(sandbox.url, sandbox.directory);
      expect(await shownBy(client, 'commands', sandbox, servers.url, servers.untrusted)).toEqual({
        run: [3, 'out', 'err'],
        refused: ['bad_argument', false, 'ENOENT'],
        thrown: ['invalid_input', 422, expect.any(String)],
        field: 'body.command',
        'wrong key': ['unauthorized', 401, `${sandbox.url} does not accept the key`],
        'no key': ['unauthorized', 401, `${sandbox.url} needs a key`],
        'not a key': ['bad_key', null, 'a key is printable ASCII without blanks at its ends'],
        'closed port': away(/^cannot reach http:\/\/127\.0\.0\.1:1: /),
        'key in the address': ['bad_key', null, 'the address of a daemon carries no key'],
        'not an address': ['bad_argument', null, 'the address of a daemon is not a URL'],
        'not a host': ['bad_argument', null, 'the address of a daemon is not a URL'],
        'another scheme': ['bad_argument', null, 'the address of a daemon begins with http:// or https://, not ftp://'],
        'unknown host': away(/^cannot reach http:\/\/nowhere\.invalid:18091: the host is not known$/),
        untrusted: ['not_trusted', null, expect.stringContaining(': its certificate is not trusted')],
        'no TLS': away(/: the port does not speak TLS; use http:\/\/$/),
        'another server': ['not_boxkeep', 200, `what answers at ${servers.url}/other is not boxkeep (status 200)`],
        elsewhere: ['not_boxkeep', 307, `what answers at ${servers.url}/away is not boxkeep (status 307)`],
        'key is shown': false,
        input: [true, ['completed', 4, null]],
        'written too late': ['stdin_closed', 409, expect.any(String)],
        followed: [true, 'é\n', ['completed', 0, null]],
        once: [5, 'done\n', true, 'begun\nended\n'],
        lost: ['line\n', true, true],
        gap: [[0, 'ab'], [2, 'c'], [3, 5], [5, 7], [7, 'h'], 'exit'],
        'broken off': 'unreachable',
        'not repeated': 'x',
        away: ['unreachable', null, `${servers.url}/gone answers 502: the daemon does not answer its proxy`],
        'run stopped': ['TimeoutError'],
        stopped: ['TimeoutError'],
        'goes on': 2,
        killed: ['killed', 137, 'SIGKILL'],
        'killed by name': ['killed', 137, 'SIGKILL'],
        connected: [0, '400000\n', 'é\n'],
        listed: 0,
        activity: [
          ['started', 'seen', null],
          ['ended', 'seen', 7],
        ],
      });
    },
    clientOptions,
  );

for (const client of clientsWith('outages'))
  test(
    `CLIENT-COMMANDS a caller hears of outages, and learns what may have been done (${client.name})`,
    async ({ sandbox }) => {
      using servers = serversBefore(sandbox.url, sandbox.directory);
      expect(await shownBy(client, 'outages', sandbox, servers.url)).toEqual({
        absent: ['ENOENT', 'failed'],
        away: ['enough waits', ['unreachable false true', 'unreachable false true']],
        unknown: ['unreachable', true],
        'from the end': ['exit'],
        nowhere: ['unreachable', true],
        silent: ['unreachable', expect.stringMatching(/^cannot reach .*: no answer /)],
        wrapped: ['not_boxkeep', 'not_boxkeep', 'not_boxkeep'],
        'wrapped lines': 'not_boxkeep',
        'no operation': [
          'no operation has the name nope',
          expect.stringMatching(/^commands\.read needs .*command_id$/),
        ],
        lacking: ['unavailable', true, 0],
        'no length': 1000,
        long: 'slept\n',
        bytes: [0, 0, 0x41, 0x41, 0x42, 0x42, 0],
      });
    },
    clientOptions,
  );

for (const client of clientsWith('files-and-code'))
  test(
    `CLIENT-FILES CLIENT-CODE files and code, with errors that have codes (${client.name})`,
    async ({ sandbox }) => {
      expect(await shownBy(client, 'files-and-code', sandbox)).toEqual({
        read: 'two\nthree\n',
        stat: [0o100600, 15],
        list: ['a', 'c'],
        search: 1,
        grep: 1,
        gone: ['file_not_found', 404, 'ENOENT'],
        kept: ['file_exists', false],
        'read again': 'one\nzwei\nthree\n',
        'written again': true,
        run: ['ok', '[ 2, 4 ]\n'],
        session: '21\n',
        failed: ['error', 'ZeroDivisionError'],
        sessions: ['kept'],
        closed: 'session_not_found',
        'by name': 15,
      });
    },
    clientOptions,
  );

test('CLIENT-SIZE the client has no dependencies, and at most 25 kB minified and compressed', async () => {
  const text = await Bun.file(bundle).bytes();
  expect(Bun.gzipSync(text).length).toBeLessThan(maxBytes);
  const manifest = (await Bun.file(join(repositoryRoot, 'clients/typescript/package.json')).json()) as object;
  expect(Object.keys(manifest)).not.toContain('dependencies');
});
