/** The view of the desktop in the console, as a person uses it. */
import { afterAll, beforeAll } from 'bun:test';
import { expectAccessible } from '../harness/accessibility.ts';
import { consoleTests } from '../harness/console-page.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { EventWindow } from '../harness/gtk-log.ts';
import { LiveView } from '../harness/live-view.ts';
import { needPrograms } from '../harness/programs.ts';
import { until } from '../harness/until.ts';

const { consoleTest } = consoleTests({ width: 1024, height: 800 });

let display: TestDisplay;
let worker: ComputerWorker;
let window: EventWindow;

beforeAll(async () => {
  needPrograms('openbox');
  display = await TestDisplay.start();
  display.spawn(['openbox']);
  worker = await ComputerWorker.start({ env: display.environment });
  window = await EventWindow.open(display, '<b>Events</b>');
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
});

const options = { env: () => worker.environment };

consoleTest(
  'CONSOLE-DESKTOP a person sees the desktop, and uses its mouse and keyboard',
  async ({ sandbox, console: { page } }) => {
    const view = new LiveView(page);
    await page.goto(sandbox.url);
    await page.getByRole('link', { name: 'Desktop' }).click();
    await page.getByText('live, 1280 × 800').waitFor();
    window.clear();
    const middle = ({ x, y, width, height }: { x: number; y: number; width: number; height: number }) => ({
      x: Math.round(x + width / 2),
      y: Math.round(y + height / 2),
    });
    await view.click(middle(window.canvas), { button: 'right' });
    await until('the window has the click', () => window.of(['press'], 'button').some(({ button }) => button === 3));
    await view.click(middle(window.field));
    await page.keyboard.type('Ünder, 1!');
    await page.keyboard.press('Backspace');
    await until('the window has the text', () => window.text === 'Ünder, 1');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('x');
    await until('the text is replaced', () => window.text === 'x');
    const { x, y } = await view.place(middle(window.canvas));
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, 300);
    await until('the window has the wheel', () => window.of(['scroll'], 'kind').length > 0);
  },
  options,
);

consoleTest(
  'CONSOLE-DESKTOP windows, the clipboard and films are at hand',
  async ({ sandbox, console: { page } }) => {
    await page.goto(`${sandbox.url}/#/desktop`);
    await page.getByText('live, 1280 × 800').waitFor();
    await page.getByText('Windows').click();
    await page.getByRole('button', { name: 'Minimize <b>Events</b>' }).click();
    await page.getByText('minimized').waitFor();
    await page.getByRole('button', { name: '<b>Events</b>', exact: true }).click();
    await page.getByText('minimized').waitFor({ state: 'detached' });

    await page.getByText('Clipboard', { exact: true }).click();
    const clipboard = page.getByLabel('Clipboard of the desktop');
    await clipboard.fill('from a person');
    await page.getByRole('button', { name: 'Set' }).click();
    await until('the clipboard has the text', async () => {
      return (await sandbox.ok('GET /v2/computer/clipboard'))['text'] === 'from a person';
    });
    await sandbox.ok('POST /v2/computer/actions', { action_type: 'SET_CLIPBOARD', text: 'from an agent' });
    await page.getByRole('button', { name: 'Read' }).click();
    await until('the text is shown', async () => (await clipboard.inputValue()) === 'from an agent');

    await page.getByText('Recordings').click();
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    await page.getByRole('button', { name: 'Stop recording' }).waitFor();
    await sandbox.ok('POST /v2/computer/actions', { action_type: 'WAIT', duration: 1 });
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByRole('button', { name: 'Record', exact: true }).waitFor();
    const { save_path: path } = await sandbox.ok('POST /v2/computer/record', { action: 'status' });
    await page.getByRole('button', { name: (path as string).split('/').at(-1)! }).click();
    await until('the film is played', async () => {
      return await page.evaluate<boolean>(`document.querySelector('video').currentTime > 0`);
    });
    await sandbox.ok('POST /v2/fs/delete', { path });

    await page.setViewportSize({ width: 390, height: 700 });
    await expectAccessible(page);
  },
  options,
);

consoleTest(
  'CONSOLE-DESKTOP the view goes on when the worker is back, and says how to start one',
  async ({ sandbox, console: { page } }) => {
    await page.goto(`${sandbox.url}/#/desktop`);
    await page.getByText('live, 1280 × 800').waitFor();
    await worker.end('SIGKILL');
    await page.getByText('Run boxkeep computer-use').waitFor();
    await worker.launch();
    await page.getByText('live, 1280 × 800').waitFor();
  },
  options,
);
