/** The screen of a terminal session, compared with tmux. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'bun:test';
import { fc } from '../harness/seed.ts';
import { FairClock } from '../harness/fair-clock.ts';
import { needPrograms } from '../harness/programs.ts';
import { feeder, ReferenceTerminal } from '../harness/reference-terminal.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { beyondTmux, mixes, sequences } from '../harness/terminal-sequences.ts';
import { expect, test, type JsonObject, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

beforeAll(() => needPrograms('tmux', 'vim', 'less'));

const cols = 40;
const rows = 12;

/** A session and two terminals of the same size: one shows the same bytes, one shows the session's restored screen. */
class Compared implements Disposable {
  #count = 0;

  private constructor(
    private readonly sandbox: Sandbox,
    private readonly shown: ReferenceTerminal,
    private readonly reproduced: ReferenceTerminal,
  ) {}

  static async start(sandbox: Sandbox): Promise<Compared> {
    const [own, shown, reproduced] = ['own', 'shown', 'reproduced'].map((name) => join(sandbox.directory, name));
    for (const pipe of [own, shown, reproduced]) spawnSync('mkfifo', [pipe ?? '']);
    await create(sandbox, { id: 'screen', cols, rows });
    await type(sandbox, `exec sh -c "${feeder(own ?? '').replaceAll('\\', '\\\\')}"\r`);
    const compared = new Compared(
      sandbox,
      new ReferenceTerminal(sandbox.directory, 'shown', cols, rows, feeder(shown ?? '')),
      new ReferenceTerminal(sandbox.directory, 'reproduced', cols, rows, feeder(reproduced ?? '')),
    );
    await compared.shown.titled('ready');
    await compared.reproduced.titled('ready');
    await titled(sandbox, 'ready');
    return compared;
  }

  /** All three end with the same screen. tmux reports the colours of blanks in more than one way. */
  async agree(bytes: string, hasColors = false): Promise<void> {
    const title = `shown-${++this.#count}`;
    const reset = '\x1bc\x1b[3J';
    for (const pipe of ['own', 'shown']) this.#write(pipe, `${reset}${bytes}\x1b]2;${title}\x07`);
    const own = await titled(this.sandbox, title);
    await this.shown.titled(title);
    const shown = this.shown.read();
    expect((own['lines'] as string[]).map((line) => line.trimEnd())).toEqual([...shown.lines]);
    const inRow = { ...shown.cursor, x: Math.min(shown.cursor.x, cols - 1) };
    expect(own['cursor']).toEqual(inRow);
    this.#write('reproduced', `${reset}${own['ansi'] as string}\x1b]2;again-${title}\x07`);
    await this.reproduced.titled(`again-${title}`);
    const again = this.reproduced.read();
    expect([again.lines, Math.min(again.cursor.x, cols - 1), again.cursor.y]).toEqual([shown.lines, inRow.x, inRow.y]);
    if (hasColors) expect(again.styled).toEqual(shown.styled);
  }

  /** Shows the bytes at both without reading the session's screen, so the session has only the retained bytes. */
  async showUnseen(bytes: string): Promise<void> {
    const title = `unseen-${++this.#count}`;
    const client = await TerminalClient.attach(this.sandbox, 'screen', 'mode=ro&protocol=binary&durable=false');
    for (const pipe of ['own', 'shown']) this.#write(pipe, `${bytes}\x1b]2;${title}\x07`);
    await client.sees(`${title}\x07`);
    await client.close();
    await this.shown.titled(title);
  }

  /** The session shows the same as the reference, and so does a terminal that received `restore`. */
  async restored(): Promise<void> {
    const { lines, cursor } = this.shown.read();
    const own = await screen(this.sandbox);
    expect((own['lines'] as string[]).map((line) => line.trimEnd())).toEqual(lines);
    expect(own['cursor']).toEqual(cursor);
    const client = await TerminalClient.attach(this.sandbox, 'screen', 'restore=true&durable=false');
    const { data } = await client.receives('restore_output');
    await client.close();
    const title = `restored-${++this.#count}`;
    this.#write('reproduced', `\x1bc\x1b[3J${data as string}\x1b]2;${title}\x07`);
    await this.reproduced.titled(title);
    const again = this.reproduced.read();
    expect([again.lines, again.cursor]).toEqual([lines, cursor]);
  }

  /** The screen of the session, up to its last line. */
  async show(bytes: string): Promise<string[]> {
    const title = `alone-${++this.#count}`;
    this.#write('own', `\x1bc\x1b[3J${bytes}\x1b]2;${title}\x07`);
    const lines = (await titled(this.sandbox, title))['lines'] as string[];
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  }

  #write(pipe: string, bytes: string): void {
    writeFileSync(join(this.sandbox.directory, pipe), bytes);
  }

  [Symbol.dispose](): void {
    this.shown[Symbol.dispose]();
    this.reproduced[Symbol.dispose]();
  }
}

/** Without the start-up files of the account that runs the tests. */
async function create(sandbox: Sandbox, session: Record<string, unknown>): Promise<void> {
  await sandbox.ok('POST /v2/pty/sessions', { ...session, env: { HOME: '/nonexistent' } });
}

async function type(sandbox: Sandbox, input: string, id = 'screen'): Promise<void> {
  await sandbox.ok(`POST /v2/pty/sessions/${id}/input`, { input });
}

function screen(sandbox: Sandbox, query = '', id = 'screen'): Promise<JsonObject> {
  return sandbox.ok(`GET /v2/pty/sessions/${id}/screen${query}`);
}

/** The screen once it has this title, so that everything sent before is on it. */
async function titled(sandbox: Sandbox, title: string): Promise<JsonObject> {
  let seen = await screen(sandbox);
  await until(`the session is at ${title}`, async () => (seen = await screen(sandbox))['title'] === title);
  return seen;
}

test('TERM-9 a screen equals a reference terminal’s for the same bytes, and ansi reproduces it', async ({
  sandbox,
}) => {
  using compared = await Compared.start(sandbox);
  for (const bytes of Object.values(sequences)) await compared.agree(bytes, true);
});

test('TERM-9 a screen follows the standard where the reference terminal does not', async ({ sandbox }) => {
  using compared = await Compared.start(sandbox);
  for (const [bytes, ...lines] of Object.values(beyondTmux)) expect(await compared.show(bytes)).toEqual(lines);
});

test('TERM-9 random sequences end in the screen of a reference terminal', async ({ sandbox }) => {
  using compared = await Compared.start(sandbox);
  for (const bytes of fc.sample(mixes, 25)) await compared.agree(bytes);
});

/** Two megabytes that scroll by, with text drawn over their end. */
function longOutput(seed: number): string {
  const line = (n: number) => `\x1b[${31 + (n % 7)}mline ${seed}.${n}\x1b[m 漢字 e\u0301 ${'.'.repeat(n % 50)}\r\n`;
  const drawn = `\x1b[3;5H\x1b[1;44mhere\x1b[m\x1b[7;1H\x1b[2Kand there\x1b[5;20H`;
  return Array.from({ length: 30_000 }, (_, n) => line(n)).join('') + drawn;
}

test(
  'TERM-9 TERM-10 the screen, and the text that restores it, are right when most of the output is no longer kept',
  async ({ sandbox }) => {
    using compared = await Compared.start(sandbox);
    // For a screen that was read before, and for one rebuilt from the retained output.
    await compared.showUnseen(longOutput(1));
    await compared.restored();
    await compared.showUnseen(longOutput(2));
    process.kill(sandbox.daemonPid, 'SIGKILL');
    await sandbox.served();
    await compared.restored();
    await compared.showUnseen('\x1b[Hgoes on');
    await compared.restored();
  },
  { env: { SVC_STREAM_KEPT_MIB: '1' }, expectedWarnings: ['started again by init'] },
);

/** Runs a full-screen program in a session and in the reference terminal, through a storm of sizes. */
async function stormed(sandbox: Sandbox, command: string, keys: string): Promise<void> {
  await create(sandbox, { id: 'storm', cols: 80, rows: 24 });
  using reference = new ReferenceTerminal(sandbox.directory, 'storm', 80, 24, command);
  await type(sandbox, `exec sh -c '${command}'\r`, 'storm');
  const shown = async () => {
    const own = await screen(sandbox, '', 'storm');
    const { lines, cursor } = reference.read();
    return {
      own: { lines: (own['lines'] as string[]).map((line) => line.trimEnd()), cursor: own['cursor'] },
      reference: { lines, cursor },
    };
  };
  const alike = async () => {
    const { own, reference: theirs } = await shown();
    return Bun.deepEquals(own, { ...theirs }) && own.lines.join('').includes('line');
  };
  const settled = async () => {
    await until('both show the same', alike).catch(async () =>
      expect((await shown()).own).toEqual((await shown()).reference),
    );
  };
  await settled();
  const sizes = Array.from({ length: 20 }, (_, n) => ({ cols: 40 + ((n * 37) % 61), rows: 8 + ((n * 13) % 29) }));
  for (const size of [...sizes, { cols: 63, rows: 19 }]) {
    await sandbox.ok('PATCH /v2/pty/sessions/storm', size);
    reference.resize(size.cols, size.rows);
  }
  await settled(); // A program discards a half-typed key sequence when its size changes.
  await type(sandbox, keys, 'storm');
  reference.type(keys);
  await settled();
}

function textFile(sandbox: Sandbox): string {
  const path = join(sandbox.directory, 'text');
  const words = (n: number) => `line ${n} 日本 e\u0301 ${'word '.repeat(n % 30)}`;
  writeFileSync(path, Array.from({ length: 400 }, (_, n) => words(n)).join('\n'));
  return path;
}

test('TERM-9 vim ends in the same screen as in a reference terminal after a storm of sizes', async ({ sandbox }) => {
  await stormed(sandbox, `vim -n -u NONE -N ${textFile(sandbox)}`, '200Gzt');
});

test('TERM-9 less ends in the same screen as in a reference terminal after a storm of sizes', async ({ sandbox }) => {
  await stormed(sandbox, `less ${textFile(sandbox)}`, '50g');
});

test('TERM-9 TERM-14 a screen request can wait for a pattern and for quiet, is bounded, and reports which occurred', async ({
  sandbox,
}) => {
  await create(sandbox, { id: 'screen' });
  await type(sandbox, '(sleep 0.3; echo be"g"un; sleep 0.2; echo en"d"ed) \r');
  const begun = await screen(sandbox, `?wait_for=${encodeURIComponent('^beg.n$')}`);
  expect([begun['matched'], begun['stable']]).toEqual([true, null]);
  const ended = await screen(sandbox, '?wait_for=ended&wait_stable_ms=300');
  expect([ended['matched'], ended['stable']]).toEqual([true, true]);
  expect(ended['output']).toContain('\nbegun\nended\n');
  const started = performance.now();
  const never = await sandbox.request(
    `GET /v2/pty/sessions/screen/screen?wait_for=${encodeURIComponent('[x]never')}&timeout=0.5`,
  );
  expect(never).toMatchObject({ status: 200, body: { success: true, data: { matched: false } } });
  expect(never.body.message).toStartWith('wait_for was not found in scrollback and screen within 0.5 s');
  expect(never.body.hint).toContain('timeout');
  expect(performance.now() - started).toBeLessThan(5000);
  await type(sandbox, 'while :; do echo noise; sleep 0.05; done\r');
  const noisy = await screen(sandbox, '?wait_stable_ms=2000&timeout=0.5');
  expect(noisy['stable']).toBe(false);
});

test('TERM-9 TERM-14 wide text that wraps at an odd column has no blank that no program wrote', async ({ sandbox }) => {
  const written = `a${'漢字'.repeat(12)}b`;
  for (const cols of [20, 21]) {
    const id = `wide-${cols}`;
    await create(sandbox, { id, cols });
    const { output } = await sandbox.ok(`POST /v2/pty/sessions/${id}/exec`, { command: `echo ${written}` });
    expect(output).toBe(`${written}\n`);
    const pattern = encodeURIComponent(`^${written}$`);
    const shown = await sandbox.ok(`GET /v2/pty/sessions/${id}/screen?wait_for=${pattern}&timeout=5`);
    expect([cols, shown['matched'], shown['output']]).toEqual([cols, true, expect.stringContaining(`\n${written}\n`)]);
  }
});

test('TERM-9 a bad pattern is refused with a reason, and a slow pattern delays no other request', async ({
  sandbox,
}) => {
  await create(sandbox, { id: 'screen', cols: 200 });
  const look = (pattern: string) =>
    sandbox.request(`GET /v2/pty/sessions/screen/screen?timeout=2&wait_for=${encodeURIComponent(pattern)}`);
  const bad = await look('(unfinished');
  expect([bad.status, bad.body.message]).toEqual([400, expect.stringContaining('is not a regular expression')]);
  expect(bad.body.hint).toContain('JavaScript');
  await type(sandbox, `echo ${'a'.repeat(60)}b; echo d"o"ne\r`);
  await screen(sandbox, '?wait_for=done');
  let isOver = false;
  const slow = look('(a+)+$c').finally(() => (isOver = true));
  let looks = 0;
  let slowestMs = 0;
  while (!isOver) {
    using clock = new FairClock();
    await screen(sandbox);
    slowestMs = Math.max(slowestMs, clock.elapsedMs);
    looks++;
  }
  expect([(await slow).status, (await slow).body.message]).toEqual([400, 'wait_for takes too long to look for']);
  expect(looks).toBeGreaterThan(5);
  expect(slowestMs).toBeLessThan(500);
});
