/** Which registered MCP servers the hub serves: spellings of loopback, other kinds of servers, fields without effect. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readServerEntries } from '../../protocols/mcp-servers.ts';
import { maxServers, selectServers } from './servers.ts';

const select = (servers: object) => selectServers(readServerEntries(JSON.stringify(servers)));

test('servers on loopback over http are served, in their order', () => {
  const urls = [
    'http://127.0.0.1:8100/mcp',
    'http://localhost:1/',
    'http://[::1]:65535/a/b?c=d',
    'http://localhost',
    'http://127.0.0.1',
  ];
  const { servers, warnings } = select(Object.fromEntries(urls.map((url, i) => [`s${i}`, { url }])));
  expect(servers).toEqual(urls.map((url, i) => ({ name: `s${i}`, url, prefix: null })));
  expect(warnings).toEqual([]);
  expect(select({ a: { url: urls[0], prefix: 'p' }, b: { url: urls[0], prefix: '' } }).servers).toMatchObject([
    { prefix: 'p' },
    { prefix: null },
  ]);
});

test('other spellings of loopback and other hosts are skipped', () => {
  const urls = [
    'https://127.0.0.1:8100/mcp',
    'http://10.0.0.1/mcp',
    'http://127.0.0.2/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0.0.0.0/',
    'http://LOCALHOST/',
    'HTTP://localhost/',
    'http://localhost./',
    'http://localhost.example.com/',
    'http://127.0.0.1.nip.io/',
    'http://127.0.0.1@example.com/',
    'http://127.0.0.1:80@example.com/',
    'http://user@127.0.0.1/',
    'http://127.0.0.1\\@example.com/',
    'http://127.0.0.1#@example.com/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://127.0.0.1:99999/',
    'http://127.0.0.1:/ x',
    ' http://127.0.0.1/',
    'ws://127.0.0.1/',
    '/run/mcp.sock',
    '',
  ];
  for (const url of urls) {
    const { servers, warnings } = select({ far: { url } });
    expect([url, servers, warnings.length]).toEqual([url, [], 1]);
    expect(warnings[0]).toStartWith('MCP servers are skipped: far (its url is not on loopback over http). ');
  }
});

test('one warning names all skipped servers, and one all fields without effect', () => {
  const url = 'http://127.0.0.1:1/mcp';
  const { servers, warnings } = select({
    remote: { url: 'https://example.com/mcp' },
    stdio: { command: 'npx', args: ['x'] },
    old: { url, type: 'sse' },
    good: { url, type: 'streamable-http', hidden: true, timeout: 5 },
    other: { url, transport: 'http', headers: {} },
  });
  expect(servers.map(({ name }) => name)).toEqual(['good', 'other']);
  expect(warnings).toEqual([
    'MCP servers are skipped: remote (its url is not on loopback over http), stdio (it is a command), ' +
      'old (its transport is sse). The hub serves stateless HTTP servers on 127.0.0.1, localhost or [::1]; ' +
      'run others behind such a server.',
    'Fields of MCP servers have no effect: good.hidden, good.timeout, other.headers.',
  ]);
  const many = Object.fromEntries(Array.from({ length: maxServers + 1 }, (_, i) => [`s${i}`, { url }]));
  expect(select(many).warnings[0]).toContain(`s${maxServers} (more than ${maxServers} servers)`);
});

test('the setting is JSON or a file with JSON, and a bad one is refused with the reason', () => {
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-servers-'));
  const file = join(directory, 'servers.json');
  const entry = { url: 'http://127.0.0.1:1/mcp' };
  writeFileSync(file, JSON.stringify({ mcpServers: { a: entry } }));
  expect(readServerEntries(file)).toEqual([['a', entry]]);
  expect(readServerEntries(` ${JSON.stringify({ mcpServers: entry })}`)).toEqual([['mcpServers', entry]]);
  expect(readServerEntries('{}')).toEqual([]);
  const reason = (given: string) => {
    try {
      return JSON.stringify(readServerEntries(given));
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(reason('{"a": ')).toMatch(/^the text is not JSON \(.+\); it must be an object as \{"name": /);
  expect(reason(join(directory, 'absent'))).toBe('is neither a JSON object nor a readable file (ENOENT)');
  expect(reason(directory)).toMatch(/^is neither a JSON object nor a readable file \(EISDIR\)$/);
  writeFileSync(file, '[]');
  expect(reason(file)).toStartWith('must be an object as ');
  writeFileSync(file, 'x'.repeat(1024 * 1024 + 1));
  expect(reason(file)).toBe('the file has more than 1048576 bytes');
  expect(reason('{"a": "http://127.0.0.1"}')).toBe('the entry a must be an object with a url');
  expect(reason('{"a": {"prefix": "p"}}')).toBe('the entry a needs a url, as text');
  expect(reason('{"a": {"url": "http://127.0.0.1", "prefix": "a b"}}')).toStartWith('the prefix of a must be ');
  rmSync(directory, { recursive: true });
});
