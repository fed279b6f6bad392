/** The behavior of downloads of a terminal session's recording. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPrograms } from '../harness/programs.ts';
import { expect, test, type Json, type Sandbox } from '../harness/sandbox.ts';
import { Tmux } from '../harness/tmux.ts';
import { until } from '../harness/until.ts';

interface Recorded {
  readonly header: Json;
  readonly events: readonly [seconds: number, kind: string, value: string][];
  /** All output, joined. */
  readonly output: string;
}

/** Reads a recording by the rules of its format, and throws when one is broken. */
async function recording(sandbox: Sandbox, id: string): Promise<Recorded> {
  const response = await sandbox.fetch(`GET /v2/pty/sessions/${id}/recording`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-asciicast']);
  const [first = '', ...rest] = (await response.text()).trimEnd().split('\n');
  const header = JSON.parse(first);
  expect(header).toMatchObject({ version: 2, width: expect.any(Number), height: expect.any(Number) });
  expect(Number.isInteger(header.timestamp)).toBe(true);
  const events = rest.map((line) => JSON.parse(line) as [number, string, string]);
  let before = 0;
  for (const [seconds, kind, value] of events) {
    expect(seconds).toBeGreaterThanOrEqual(before);
    before = seconds;
    if (kind === 'r') expect(value).toMatch(/^\d+x\d+$/);
    else expect(kind).toBe('o');
  }
  return { header, events, output: events.map(([, kind, value]) => (kind === 'o' ? value : '')).join('') };
}

/** Without the start-up files of the account that runs the tests. */
async function create(sandbox: Sandbox, session: Record<string, unknown>): Promise<void> {
  await sandbox.ok('POST /v2/pty/sessions', { ...session, env: { HOME: '/nonexistent' } });
}

async function run(sandbox: Sandbox, input: string, until: string): Promise<void> {
  await sandbox.ok('POST /v2/pty/sessions/cast/input', { input: `${input}\r` });
  const shown = await sandbox.ok(`GET /v2/pty/sessions/cast/screen?wait_for=${encodeURIComponent(until)}`);
  expect(shown['matched']).toBe(true);
}

test('TERM-9 a recording is an asciicast of the output, with its sizes and times', async ({ sandbox }) => {
  await create(sandbox, { id: 'cast', cols: 70, rows: 20 });
  await run(sandbox, 'PS1="> "; echo f"ir"st 日本 👩', '^first');
  await sandbox.ok('PATCH /v2/pty/sessions/cast', { cols: 90, rows: 30 });
  await run(sandbox, 'sleep 1; echo s"eco"nd', '^second');
  const { header, events, output } = await recording(sandbox, 'cast');
  expect([header.width, header.height]).toEqual([70, 20]);
  expect(Math.abs(header.timestamp - Date.now() / 1000)).toBeLessThan(60);
  expect(output).toContain('first 日本 👩\r\n');
  expect(output).toContain('second\r\n');
  const resized = events.findIndex(([, kind]) => kind === 'r');
  expect(events[resized]?.[2]).toBe('90x30');
  const secondsOf = (text: string) => events.find(([, kind, value]) => kind === 'o' && value.includes(text))?.[0] ?? 0;
  expect(secondsOf('second\r') - (events[resized]?.[0] ?? 0)).toBeGreaterThan(0.8);
  expect(secondsOf('first 日本')).toBeLessThan(events[resized]?.[0] ?? 0);
});

test('TERM-9 a recording has every character of a long output, and splits none', async ({ sandbox }) => {
  await create(sandbox, { id: 'cast', cols: 80, rows: 24 });
  await run(sandbox, 'stty -echo; PS1=; echo re"ad"y', '^ready');
  const line = '日本👩é─x';
  await run(sandbox, `yes '${line}' | head -n 60000; echo do"n"e`, '^done');
  const { output } = await recording(sandbox, 'cast');
  const from = output.indexOf(line);
  const shown = output.slice(from, output.indexOf('done', from));
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(digest(shown)).toBe(digest(`${line}\r\n`.repeat(60_000)));
});

test('TERM-9 a recording plays in asciinema, and ends with the screen of its session', async ({ sandbox }) => {
  needPrograms('asciinema', 'tmux');
  await create(sandbox, { id: 'cast', cols: 70, rows: 20 });
  const coloured = String.raw`\033[38;2;10;200;30mgreen\033[m 日本 👩 é\n`;
  await run(
    sandbox,
    `PS1='> '; printf '${coloured}'; printf '\\033[5;40Hthere\\033[12;1H'; seq 3; echo do"n"e`,
    '^done',
  );
  const recorded = await sandbox.fetch('GET /v2/pty/sessions/cast/recording');
  writeFileSync(join(sandbox.directory, 'session.cast'), await recorded.bytes());
  await using tmux = new Tmux(sandbox.directory);
  const play = 'asciinema play -i 0.01 session.cast; echo $? >played; exec sleep 60';
  const command = ['sh', '-c', play];
  const player = tmux.pane({
    command,
    cwd: sandbox.directory,
    env: { LANG: 'C.UTF-8', HOME: sandbox.directory },
    cols: 70,
    rows: 20,
  });
  const played = join(sandbox.directory, 'played');
  await until('it was played', () => existsSync(played) && readFileSync(played, 'utf8') !== '');
  expect([readFileSync(played, 'utf8'), player.text]).toEqual(['0\n', expect.anything()]);
  const { lines } = await sandbox.ok('GET /v2/pty/sessions/cast/screen');
  expect(player.text.trimEnd().split('\n')).toEqual((lines as string[]).join('\n').trimEnd().split(/ *\n/));
  expect(player.text).toContain('there');
});

test('TERM-9 replayed output is bounded: a screen of 20 MB of output is fast and shows the end', async ({
  sandbox,
}) => {
  await create(sandbox, { id: 'cast', cols: 80, rows: 24 });
  await run(sandbox, 'stty -echo; PS1=; seq 1 2600000; echo do"n"e', '^done');
  const shown = await sandbox.ok('GET /v2/pty/sessions/cast/screen');
  expect((shown['lines'] as string[]).filter((text) => text !== '').slice(-3)).toEqual(['2599999', '2600000', 'done']);
  expect(shown['scrollback_lines']).toBeGreaterThan(1000);
  expect(shown['scrollback_lines']).toBeLessThanOrEqual(5000);
});
