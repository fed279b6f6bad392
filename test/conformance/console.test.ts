/** The console page at `/` in Chromium: terminals for a person, with a key, across disconnects, and in frames. */
import { expectAccessible } from '../harness/accessibility.ts';
import { ConsolePage, consoleTests } from '../harness/console-page.ts';
import { expect, type Sandbox } from '../harness/sandbox.ts';

const key = 'swordfish/+% &#';
const foreignHost = 'elsewhere.example';
const { consoleTest, open } = consoleTests({ width: 900, height: 500 }, [foreignHost]);

const terminalUrl = async (sandbox: Sandbox): Promise<string> =>
  (await sandbox.request('GET /v1/shell/terminal-url')).body.data as unknown as string;

consoleTest(
  'OPS-HOME the page at / opens a terminal, lists it, and closes it after a confirmation',
  async ({ sandbox, console }) => {
    const { page } = console;
    await page.goto(sandbox.url);
    await page.getByText('None yet.').waitFor();
    await page.getByRole('button', { name: 'New terminal' }).click();
    await console.untilState('attached');
    await console.type('echo one-$((40 + 2)) zwölf 漢字 😀 end');
    await console.untilScreen(/^one-42 zwölf 漢字 *😀 *end$/m);

    const id = console.sessionId;
    await page.getByRole('link', { name: 'All terminals' }).click();
    await page.getByRole('row').getByRole('link', { name: id }).waitFor();
    expect(await page.getByRole('row').allInnerTexts()).toHaveLength(2);
    await expectAccessible(page);
    for (const answer of ['Cancel', 'Close terminal']) {
      await page.getByRole('button', { name: `Close ${id}` }).click();
      await page.getByText(`Close ${id}? Its shell ends.`).waitFor();
      expect(Object.keys((await sandbox.ok('GET /v2/pty/sessions'))['sessions'] as object)).toEqual([id]);
      await page.getByRole('dialog').getByRole('button', { name: answer }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByText('None yet.').waitFor();
    expect(await sandbox.ok('GET /v2/pty/sessions')).toMatchObject({ sessions: {} });
  },
);

consoleTest(
  'TERM-17 a person names a terminal, and its list, its tab and the palette show the name as text',
  async ({ sandbox, console }) => {
    const { page } = console;
    const name = '<b>Build</b> of main';
    await sandbox.ok('POST /v2/pty/sessions', { id: 'first', name: 'Mine' });
    await page.goto(sandbox.url);
    await page.getByRole('button', { name: 'Rename Mine' }).click();
    await page.getByLabel('Name of Mine').fill(name);
    await page.keyboard.press('Enter');
    await page.getByRole('row').getByRole('link', { name }).waitFor();
    expect(await sandbox.ok('GET /v2/pty/sessions/first')).toMatchObject({ name });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('terminal build');
    await page.getByRole('option', { name }).click();
    await console.untilState('attached');
    expect(await page.title()).toContain(name);
    await page.getByRole('link', { name: 'All terminals' }).click();
    await page.getByRole('button', { name: `Rename ${name}` }).click();
    await page.getByLabel(`Name of ${name}`).fill('');
    await page.keyboard.press('Enter');
    await page.getByRole('row').getByRole('link', { name: 'first' }).waitFor();
    expect(await sandbox.ok('GET /v2/pty/sessions/first')).toMatchObject({ name: null });
  },
);

consoleTest('V1SHELL-1 the page opens the terminal that terminal-url names', async ({ sandbox, console }) => {
  await console.page.goto(await terminalUrl(sandbox));
  await console.untilState('attached');
  await console.type('export WHO=person; echo re"a"dy');
  await console.untilScreen(/^ready$/m);
  const ran = await sandbox.ok('POST /v1/shell/exec', { id: console.sessionId, command: 'echo "it was a $WHO"' });
  expect(ran['output']).toContain('it was a person');
  await console.untilScreen(/^it was a person$/m);
});

consoleTest('OPS-HOME a terminal has the size of the window', async ({ sandbox, console }) => {
  const { page } = console;
  await page.goto(await terminalUrl(sandbox));
  await console.untilState('attached');
  const rows = () => page.locator('.xterm-rows > div').count();
  const before = await rows();
  await page.setViewportSize({ width: 700, height: 300 });
  await console.type('stty size; echo done-$?');
  await console.untilScreen(/^done-0$/m);
  const after = await rows();
  expect(after).toBeLessThan(before);
  const shown = await console.screen();
  expect(shown).toMatch(new RegExp(`^${after} \\d+$`, 'm'));
  const box = await page.locator('.xterm-screen').boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(300);
});

const throughDeath = async ({ sandbox, console }: { sandbox: Sandbox; console: ConsolePage }): Promise<void> => {
  await console.page.goto(await terminalUrl(sandbox));
  await console.untilState('attached');
  await console.type('n=0; echo count-$n; while read line; do n=$((n + 1)); echo "$n: $line"; done');
  await console.untilScreen(/^count-0$/m); // An earlier Enter would still go to the shell.
  await console.type('before');
  await console.untilScreen(/^1: before$/m);
  process.kill(sandbox.daemonPid, 'SIGKILL');
  await console.untilState('trying again');
  await sandbox.served();
  await console.untilState('attached');
  await console.type('after');
  await console.untilScreen(/^2: after$/m);
  expect((await console.screen()).match(/^1: before$/gm)).toHaveLength(1);
};

consoleTest('OPS-HOME a terminal survives a daemon crash', throughDeath, {
  expectedWarnings: ['started again by init'],
});

consoleTest('OPS-HOME output larger than the screen buffer arrives completely', async ({ sandbox, console }) => {
  await console.page.goto(await terminalUrl(sandbox));
  await console.untilState('attached');
  await console.type('seq 1 500000; echo all-of-it');
  await console.untilScreen(/^499999\n500000\nall-of-it$/m);
});

consoleTest('OPS-HOME a terminal that ends shows its exit status', async ({ sandbox, console }) => {
  await console.page.goto(await terminalUrl(sandbox));
  await console.untilState('attached');
  await console.type('exit 3');
  await console.untilState('ended with 3');
  await console.page.goto(`${sandbox.url}/#/terminal/nobody-here`);
  await console.page.getByText('nobody-here').waitFor();
  expect(await console.page.locator('body').innerText()).not.toMatch(/\/v\d|GET|POST|DELETE/);
});

consoleTest('OPS-HOME the URL of an unknown terminal shows an error', async ({ sandbox, console }) => {
  const { page } = console;
  await page.goto(`${sandbox.url}/#/terminal/%zz`);
  await page.getByText('This address names nothing.').waitFor();
  await page.getByRole('link', { name: 'Home' }).click();
  await page.getByText('None yet.').waitFor();
});

consoleTest('OPS-HOME the title of a terminal is rendered as text, never as markup', async ({ sandbox, console }) => {
  const { page } = console;
  await page.goto(await terminalUrl(sandbox));
  await console.untilState('attached');
  await console.type(String.raw`printf '\033]0;<img src=x onerror=alert(1)>\007'`);
  await page.locator('.name', { hasText: '<img src=x onerror=alert(1)>' }).waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.title()).toContain('<img');
});

consoleTest(
  'AUTH-2 the page asks for the key, accepts it from the URL, and removes it from there',
  async ({ sandbox, console }) => {
    const { page } = console;
    const field = page.getByLabel('API key');
    await page.goto(sandbox.url);
    for (const attempt of ['wrong', key]) {
      await field.fill(attempt);
      await page.keyboard.press('Enter');
      await (attempt === key ? page.getByText('None yet.') : page.getByText('That was not the key.')).waitFor();
    }
    await page.getByRole('button', { name: 'New terminal' }).click();
    await console.untilState('attached');
    await page.reload();
    await console.untilState('attached');
    const id = console.sessionId;

    await using other = await open();
    const theirs = new ConsolePage(other.page);
    await other.page.goto(`${sandbox.url}/?api_key=${encodeURIComponent(key)}#/terminal/${id}`);
    await theirs.untilState('attached');
    expect(other.page.url()).toBe(`${sandbox.url}/#/terminal/${id}`);
  },
  { env: { SVC_API_KEY: key } },
);

/** Opens a page on another port of the host, with the console of the sandbox in a frame. */
async function openAround(
  { url }: Sandbox,
  { page }: ConsolePage,
  host: string,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const html = `<iframe src="${url}" width="800" height="400"></iframe>`;
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(html, { headers: { 'content-type': 'text/html' } }),
  });
  await Promise.all([meanwhile(), page.goto(`http://${host}:${server.port}/`)]);
}

const buttonWithin = ({ page }: ConsolePage) =>
  page.frameLocator('iframe').getByRole('button', { name: 'New terminal' });

for (const [whose, host] of [
  ['another host', foreignHost],
  ['another loopback port', '127.0.0.1'],
] as const) {
  consoleTest(`AUTH-ORIGIN a page of ${whose} cannot show the console in a frame`, async ({ sandbox, console }) => {
    const refused = (answer: { status(): number }) => answer.status() === 403;
    await openAround(sandbox, console, host, () => console.page.waitForEvent('response', refused));
    expect(await buttonWithin(console).count()).toBe(0);
  });
}

consoleTest(
  'AUTH-ORIGIN a page of an allowed host may show the console in a frame',
  ({ sandbox, console }) => openAround(sandbox, console, foreignHost, () => buttonWithin(console).waitFor()),
  { args: ['--allowed-hosts', foreignHost] },
);
