/** The view of the console that runs code in sessions. */
import { expectAccessible } from '../harness/accessibility.ts';
import { consoleTests } from '../harness/console-page.ts';
import { expect } from '../harness/sandbox.ts';

const { consoleTest } = consoleTests({ width: 390, height: 800 });
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const hostile = `<table><tr><td>cell</td></tr></table><img src=x onerror="parent.document.title='run'"><script>parent.document.title='run'</script>`;

/** An object that a notebook shows in these forms. */
const display = (bundle: Readonly<Record<string, string>>) =>
  `type('Shown', (), {'_repr_mimebundle_': lambda self, **_: ${JSON.stringify(bundle)}})()`;

consoleTest(
  'CONSOLE-CODE cells keep their state, show text, pictures, tables and errors, and run no markup of theirs',
  async ({ sandbox, console: { page, refused } }) => {
    await page.goto(`${sandbox.url}/#/code`);
    await page.getByText('No sessions.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'New python session' }).click();
    const run = async (code: string) => {
      await page.getByRole('textbox', { name: 'Code' }).fill(code);
      await page.keyboard.press('Control+Enter');
    };
    const cell = (index: number) => page.getByRole('article').nth(index);
    await run('import sys\nx = 40\nprint("<b>out</b>")\nprint("err", file=sys.stderr)');
    await cell(0).getByText('<b>out</b>', { exact: true }).waitFor();
    await cell(0).locator('.wrong', { hasText: 'err' }).waitFor();
    await run('x + 2');
    await cell(1).locator('pre', { hasText: /^42$/ }).waitFor();
    await run('1 / 0');
    await cell(2).locator('.wrong', { hasText: 'ZeroDivisionError' }).waitFor();
    await run(display({ 'image/png': png }));
    await cell(3).getByRole('img', { name: 'Output of the cell' }).waitFor();
    await expectAccessible(page);
    await run(display({ 'text/html': hostile }));
    await cell(4).frameLocator('iframe').getByText('cell', { exact: true }).waitFor();
    await run('import time\ntime.sleep(1000)');
    await page.getByText('running', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await cell(5).locator('.wrong', { hasText: 'KeyboardInterrupt' }).waitFor();
    await page.reload();
    await cell(0).getByText('time.sleep(1000)').first().waitFor();
    await run('x');
    await cell(1).locator('pre', { hasText: /^40$/ }).waitFor();
    await run(display({ 'text/html': '<table><tr><td>low</td></tr></table>', 'text/plain': 'low' }));
    const frame = cell(2).locator('iframe');
    await frame.waitFor();
    expect((await frame.boundingBox())?.height).toBeLessThan(100);
    await page.getByRole('button', { name: 'Close session' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close session' }).click();
    await page.getByText('No sessions.').waitFor();
    expect(await page.title()).toBe('Code');
    expect(refused.splice(0).length).toBeGreaterThan(0); // The handler and the script of the markup.
  },
);
