/** The files of the sandbox in the console: read, edited without losing the work of others, sent and fetched. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expectAccessible } from '../harness/accessibility.ts';
import { consoleTests, type ConsolePage } from '../harness/console-page.ts';
import { expect, type Sandbox } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

const { consoleTest } = consoleTests({ width: 390, height: 800 });
const hostileName = '<img src=x onerror="document.title=1">.txt';

const addressOf = ({ url }: Sandbox, path: string) =>
  `${url}/#/files/${path.split('/').map(encodeURIComponent).join('/')}`;

async function typeAtEnd({ page }: ConsolePage, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(text);
}

consoleTest(
  'CONSOLE-FILES a file is found in the tree, edited and saved, with its line ends as they were',
  async ({ sandbox, console }) => {
    const { page } = console;
    const directory = join(sandbox.directory, 'project', 'src');
    const file = join(directory, 'main.py');
    mkdirSync(directory, { recursive: true });
    writeFileSync(file, '# first\r\nprint("x")\n');
    await page.goto(addressOf(sandbox, sandbox.directory));
    const tree = page.getByRole('navigation', { name: 'Files' });
    await tree.getByRole('button', { name: 'Open project' }).click();
    await tree.getByRole('button', { name: 'Open src' }).click();
    await tree.getByRole('link', { name: 'main.py' }).click();
    await typeAtEnd(console, 'print("y")');
    await page.getByRole('status').filter({ hasText: 'not saved' }).waitFor();
    await expectAccessible(page);
    // What is not saved is there after a look at another view, and after a reload.
    await page.getByRole('link', { name: 'Commands' }).click();
    await page.getByLabel('New command').waitFor();
    await page.goBack();
    await page.getByText('your text of before').waitFor();
    await page.reload();
    await page.getByText('your text of before').waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+s');
    await page
      .getByRole('status')
      .filter({ hasText: /^saved$/ })
      .waitFor();
    expect(readFileSync(file, 'utf8')).toBe('# first\r\nprint("x")\nprint("y")');
    await page.getByText(/^30 B, /).waitFor();
    expect(await page.locator('.cm-content .cm-line').count()).toBe(3);
  },
);

consoleTest(
  'CONSOLE-FILES a save never replaces what another client has written: the page shows both texts and asks',
  async ({ sandbox, console }) => {
    const { page } = console;
    const file = join(sandbox.directory, 'notes.txt');
    const theirs = (text: string) => sandbox.ok('POST /v2/fs/write', { path: file, content: text });
    await theirs('one\ntwo\n');
    await page.goto(addressOf(sandbox, file));
    await typeAtEnd(console, 'mine\n');
    await theirs('ONE\ntwo\n');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('has changed since it was opened').waitFor();
    await page.locator('.cm-deletedChunk', { hasText: 'ONE' }).waitFor();
    await expectAccessible(page);
    expect(readFileSync(file, 'utf8')).toBe('ONE\ntwo\n');
    await page.getByRole('button', { name: 'Take the text of the file' }).click();
    await page.getByText('the text of the file', { exact: true }).waitFor();
    expect(await page.locator('.cm-line').allTextContents()).toEqual(['ONE', 'two', '']);

    await typeAtEnd(console, 'mine\n');
    await sandbox.ok('POST /v2/fs/delete', { path: file });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('has been deleted').waitFor();
    await page.getByRole('button', { name: 'Save my text over it' }).click();
    await page
      .getByRole('status')
      .filter({ hasText: /^saved$/ })
      .waitFor();
    expect(readFileSync(file, 'utf8')).toBe('ONE\ntwo\nmine\n');
  },
);

consoleTest(
  'CONSOLE-FILES names and contents of files are text, and a picture cannot run a script',
  async ({ sandbox, console: { page } }) => {
    const at = (name: string) => join(sandbox.directory, name);
    writeFileSync(at(hostileName), '<script>document.title = 1</script>');
    const script = '<script>document.title = 1</script><rect width="9" height="9" onload="document.title = 1"/>';
    writeFileSync(at('a.svg'), `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${script}</svg>`);
    await page.goto(addressOf(sandbox, sandbox.directory));
    await page.getByRole('row').getByRole('link', { name: hostileName }).click();
    await page.locator('.cm-content', { hasText: '<script>document.title = 1</script>' }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    await page.goto(addressOf(sandbox, at('a.svg')));
    await page.getByRole('img', { name: 'a.svg' }).waitFor();
    const isDrawn = `document.querySelector('img').naturalWidth === 9`;
    await until('the picture is drawn', async () => (await page.evaluate(isDrawn)) === true);
    expect(await page.title()).toBe(at('a.svg'));
  },
);

consoleTest(
  'CONSOLE-FILES files go up by drag and drop and by choice, and come down with their bytes, a directory as tar',
  async ({ sandbox, console: { page } }) => {
    const directory = join(sandbox.directory, 'inbox');
    mkdirSync(directory);
    writeFileSync(join(directory, 'old.bin'), 'old');
    await page.goto(addressOf(sandbox, directory));
    await page.getByRole('row').getByRole('link', { name: 'old.bin' }).waitFor();
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, place) => place % 251));
    await page.getByLabel('Upload files').setInputFiles({ name: 'chosen.bin', mimeType: 'x/y', buffer: content });
    await page.getByRole('row').getByRole('link', { name: 'chosen.bin' }).waitFor();
    expect(readFileSync(join(directory, 'chosen.bin')).equals(content)).toBe(true);

    const dropped = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['new'], 'old.bin'));
      return transfer;
    })()`);
    for (const answer of ['Cancel', 'Replace']) {
      await page.locator('.content').dispatchEvent('drop', { dataTransfer: dropped });
      await page.getByRole('dialog').getByRole('button', { name: answer }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      if (answer === 'Cancel') expect(readFileSync(join(directory, 'old.bin'), 'utf8')).toBe('old');
    }
    await until('the file is replaced', () => readFileSync(join(directory, 'old.bin'), 'utf8') === 'new');
    await expectAccessible(page);

    const tar = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as tar' }).click();
    expect((await tar).suggestedFilename()).toBe('inbox.tar');
    const archive = join(sandbox.directory, 'fetched.tar');
    await (await tar).saveAs(archive);
    const listed = await sandbox.run({ command: `tar tf ${archive} | sort` });
    expect(listed['stdout']).toContain('chosen.bin\n./old.bin\n');

    await page.goto(addressOf(sandbox, join(directory, 'chosen.bin')));
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await (await file).saveAs(join(sandbox.directory, 'fetched.bin'));
    expect(readFileSync(join(sandbox.directory, 'fetched.bin')).equals(content)).toBe(true);
  },
);

consoleTest(
  'CONSOLE-FILES files and directories are made, renamed and deleted, after a question that names what goes',
  async ({ sandbox, console: { page } }) => {
    const root = join(sandbox.directory, 'desk');
    const at = (name: string) => join(root, name);
    mkdirSync(root);
    await page.goto(addressOf(sandbox, root));
    const answer = async (button: string, name: string, verb = 'Enter') => {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('dialog').getByRole('textbox').fill(name);
      if (verb === 'Enter') await page.keyboard.press('Enter');
      else await page.getByRole('dialog').getByRole('button', { name: verb }).click();
    };
    const shows = async (path: string) => {
      await page.waitForURL((url) => url.hash === new URL(addressOf(sandbox, path)).hash);
      await until(`the page shows ${path}`, async () => (await page.locator('h1').textContent()) === path);
    };

    await answer('New directory', 'box');
    await shows(at('box'));
    await answer('New file', '../escape');
    await page.getByRole('alert').filter({ hasText: '“../escape” cannot be a name.' }).waitFor();
    await answer('New file', hostileName, 'Create');
    await shows(at(`box/${hostileName}`));
    expect(readFileSync(at(`box/${hostileName}`), 'utf8')).toBe('');
    await page.locator('.cm-content').waitFor();
    await expectAccessible(page);
    await page.locator('.cm-content').click();
    await page.keyboard.type('kept');
    await page.getByRole('status').filter({ hasText: 'not saved' }).waitFor();

    // What is not saved goes with the file, and a file that is there stays.
    writeFileSync(at('box/taken'), 'theirs');
    await answer('Rename', 'taken');
    await page.getByRole('alert').filter({ hasText: 'taken' }).waitFor();
    expect(readFileSync(at('box/taken'), 'utf8')).toBe('theirs');
    await answer('Rename', 'renamed.txt', 'Rename');
    await shows(at('box/renamed.txt'));
    await page.getByText('your text of before').waitFor();
    await page.reload();
    await page.locator('.cm-content', { hasText: 'kept' }).click();
    await page.keyboard.press('Control+s');
    await page
      .getByRole('status')
      .filter({ hasText: /^saved$/ })
      .waitFor();
    expect(readFileSync(at('box/renamed.txt'), 'utf8')).toBe('kept');
    const tree = page.getByRole('navigation', { name: 'Files' });
    expect(await tree.getByText(hostileName).count()).toBe(0);

    for (const [path, question] of [
      [at('box/renamed.txt'), `Delete ${at('box/renamed.txt')} (4 B)?`],
      [at('box'), `Delete the directory ${at('box')} with everything in it: taken?`],
    ] as const) {
      await page.goto(addressOf(sandbox, path));
      for (const verb of ['Cancel', 'Delete']) {
        await page.locator('header').getByRole('button', { name: 'Delete', exact: true }).click();
        const dialog = page.getByRole('dialog').filter({ hasText: question });
        await expectAccessible(page);
        expect(existsSync(path)).toBe(true);
        await dialog.getByRole('button', { name: verb }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      await until('the path is deleted', () => !existsSync(path));
      await shows(dirname(path));
    }
    expect(await page.locator('img').count()).toBe(0);
    await page.goto(addressOf(sandbox, '/'));
    await shows('/');
    expect(await page.locator('header').getByRole('button', { name: 'Delete' }).count()).toBe(0);
  },
);

consoleTest(
  'CONSOLE-FILES an upload says how much of its bytes is sent, and why it has failed',
  async ({ sandbox, console: { page } }) => {
    const directory = join(sandbox.directory, 'inbox');
    mkdirSync(directory);
    await page.goto(addressOf(sandbox, directory));
    const network = await page.context().newCDPSession(page);
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 1024 * 1024 };
    await network.send('Network.enable');
    await network.send('Network.emulateNetworkConditions', slow);
    const content = Buffer.alloc(4 * 1024 * 1024, 'bytes');
    await page.getByLabel('Upload files').setInputFiles({ name: 'large.bin', mimeType: 'x/y', buffer: content });
    const transfer = page.getByRole('listitem').filter({ hasText: 'Upload of large.bin' });
    await transfer.getByText(/^[123]\.\d MiB of 4\.0 MiB$/).waitFor();
    expect(existsSync(join(directory, 'large.bin'))).toBe(false);
    await transfer.getByText('done').waitFor();
    expect(readFileSync(join(directory, 'large.bin')).equals(content)).toBe(true);

    await page.getByRole('row').getByRole('link', { name: 'large.bin' }).waitFor();
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file now');
    await page.getByLabel('Upload files').setInputFiles({ name: 'small.bin', mimeType: 'x/y', buffer: content });
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Upload of small.bin' })
      .locator('.wrong', { hasText: directory })
      .waitFor();
  },
);
