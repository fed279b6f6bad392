/** Completes the twenty pages of test/fixtures/pages by refs. Each page reports whether its task is done. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Sandbox } from './sandbox.ts';
import { nodesOf, type TaskTab } from './tab-client.ts';

export interface BrowserTask {
  /** The name of the page. */
  readonly page: string;
  /** What the page is about, as the rest of a test title. */
  readonly what: string;
  /** How `navigate` waits; by default until the page is loaded. */
  readonly waitUntil?: string;
  complete(tab: TaskTab, sandbox: Sandbox): Promise<void>;
}

/** The value of each text field of form.html. */
const formValues: Readonly<Record<string, string>> = {
  Name: 'Ada Lovelace',
  Email: 'ada@example.org',
  Password: 'correct horse',
  Phone: '+44 20 7946 0000',
  Homepage: 'https://example.org/ada',
  'Search words': 'engine',
  Guests: '3',
  Volume: '70',
  Colour: '#336699',
  Arrival: '2031-05-17',
  Hour: '09:30',
  Meeting: '2031-05-17T09:30',
  Month: '2031-05',
  Week: '2031-W20',
  Notes: 'first line\nsecond line',
};

/** The last element with a ref whose name begins as given. */
async function lastNamed(tab: TaskTab, start: string, role: string): Promise<string> {
  const nodes = [...nodesOf(await tab.snapshot())];
  return nodes.findLast((node) => node.ref && node.role === role && node.name.startsWith(start))?.name ?? '';
}

/** Hovers the last element of a list, which scrolls there, until the list contains the wanted element. */
async function scrollTo(tab: TaskTab, wanted: string, start: string, role: string): Promise<void> {
  for (let turn = 0; turn < 30; turn++) {
    const names = [...nodesOf(await tab.snapshot())].map(({ name }) => name);
    if (names.includes(wanted)) return;
    await tab.hover(await lastNamed(tab, start, role), role);
  }
  throw new Error(`${wanted} did not appear`);
}

export const browserTasks: readonly BrowserTask[] = [
  {
    page: 'form',
    what: 'a form with every type of field',
    async complete(tab) {
      for (const [name, value] of Object.entries(formValues)) await tab.fill(name, value);
      await tab.fill('Country', 'United Kingdom', 'combobox');
      await tab.click('Vegetarian', 'radio');
      await tab.click('I accept the terms (checked)', 'checkbox');
      await tab.click('Send me letters (not checked)', 'checkbox');
      await tab.click('Send', 'button');
    },
  },
  {
    page: 'nested-frames',
    what: 'frames in frames',
    async complete(tab) {
      await tab.fill('Code', '4711', 'textbox');
      const unlock = [...nodesOf(await tab.snapshot())].filter(
        ({ role, name }) => role === 'button' && name === 'Unlock',
      );
      expect(unlock).toHaveLength(2);
      await tab.clickRef(unlock[1]?.ref ?? '');
    },
  },
  {
    page: 'cross-origin',
    what: 'frames of another origin',
    async complete(tab) {
      await tab.fill('Card number', '4242 4242', 'textbox');
      await tab.click('Pay', 'button');
    },
  },
  {
    page: 'frameset',
    what: 'a frameset whose frames navigate',
    async complete(tab) {
      await tab.click('Invoices', 'link');
      await tab.click('Approve', 'button');
    },
  },
  {
    page: 'open-shadow',
    what: 'open shadow roots',
    async complete(tab) {
      await tab.fill('Nickname', 'Countess', 'textbox');
      await tab.click('Dark', 'radio');
      await tab.click('Save settings', 'button');
    },
  },
  {
    page: 'closed-shadow',
    what: 'closed shadow roots',
    async complete(tab) {
      await tab.fill('Coupon', 'SAVE10', 'textbox');
      await tab.click('Redeem', 'button');
    },
  },
  {
    page: 'virtual-list',
    what: 'a virtual list',
    async complete(tab) {
      await scrollTo(tab, 'Row 240', 'Row ', 'option');
      await tab.click('Row 240', 'option');
    },
  },
  {
    page: 'hover-menu',
    what: 'menus that open under the pointer',
    async complete(tab) {
      await tab.hover('File', 'menuitem');
      await tab.hover('Export', 'menuitem');
      await tab.click('As PDF', 'menuitem');
    },
  },
  {
    page: 'drag',
    what: 'drag and drop, by pointer events and in HTML5',
    async complete(tab) {
      await tab.click('Write tests', 'button', { drag_to: await tab.ref('Finished', 'group') });
      await tab.click('Report', 'button', { drag_to: await tab.ref('Bin', 'group') });
    },
  },
  {
    page: 'dialogs',
    what: 'dialogs',
    async complete(tab) {
      const warned = await tab.click('Warn', 'button');
      expect(warned['dialogs']).toMatchObject([{ type: 'alert', message: 'The disk is nearly full' }]);
      const removed = await tab.click('Delete', 'button', { dialogs: 'accept' });
      expect(removed['dialogs']).toMatchObject([{ type: 'confirm', message: 'Delete the file?' }]);
      const renamed = await tab.click('Rename', 'button', { dialogs: 'accept', dialog_text: 'Ada' });
      expect(renamed['dialogs']).toMatchObject([{ type: 'prompt', message: 'New name?' }]);
      await tab.click('Leave', 'link');
    },
  },
  {
    page: 'download',
    what: 'a download',
    async complete(tab, sandbox) {
      const { downloads } = await tab.click('Download receipt', 'link');
      expect(downloads).toMatchObject([{ suggested_filename: 'receipt.txt', state: 'completed' }]);
      const { content } = await sandbox.ok(`GET /v2/fs/read?path=${encodeURIComponent(downloads[0].path)}`);
      await tab.fill('Code', /code: (\S+)/.exec(content)?.[1] ?? '', 'textbox');
      await tab.click('Confirm', 'button');
    },
  },
  {
    page: 'new-tab',
    what: 'a tab that a click opens and another closes',
    async complete(tab) {
      const { opened_tabs: opened } = await tab.click('Sign in', 'link');
      const other = tab.in(opened[0].tab_id);
      await other.fill('User', 'ada', 'textbox');
      await other.click('Confirm', 'button');
    },
  },
  {
    page: 'slow',
    what: 'content that comes late, beside a frame that never finishes loading',
    waitUntil: 'domcontentloaded',
    async complete(tab) {
      await tab.snapshot({ wait_for: { text: 'Start' } });
      await tab.click('Start', 'button');
      await tab.snapshot({ wait_for: { text: 'Summary' } });
      await tab.click('Keep', 'button');
    },
  },
  {
    page: 'overlay',
    what: 'overlays that go by themselves or have to be closed',
    async complete(tab) {
      await tab.click('Save', 'button');
      const covered = await tab.request('click', { ref: await tab.ref('Continue', 'button'), timeout: 1 });
      expect([covered.status >= 400, covered.body.message]).toEqual([true, expect.stringContaining('cookie-banner')]);
      await tab.click('Accept', 'button');
      await tab.click('Continue', 'button');
    },
  },
  {
    page: 'editor',
    what: 'editable text',
    async complete(tab) {
      await tab.fill('Message', 'Dear all,\nsee you on Monday.', 'textbox');
      await tab.click('Bold', 'button');
      await tab.click('Publish', 'button');
    },
  },
  {
    page: 'canvas',
    what: 'an element that a script made clickable, and a canvas',
    async complete(tab) {
      await tab.click('Start round');
      await tab.click('Board', undefined, { position: { x: 210, y: 90 } });
    },
  },
  {
    page: 'upload',
    what: 'file fields, one of them hidden',
    async complete(tab, sandbox) {
      const files = { 'one.txt': 'first report', 'two.txt': 'second report', 'face.png': 'a picture' };
      for (const [name, content] of Object.entries(files)) writeFileSync(join(sandbox.directory, name), content);
      const [one = '', two = '', face = ''] = Object.keys(files).map((name) => join(sandbox.directory, name));
      await tab.upload('Reports', [one, two]);
      await tab.upload('Photo', [face]);
      await tab.click('Send', 'button');
    },
  },
  {
    page: 'five-thousand',
    what: '5 000 nodes',
    async complete(tab) {
      await tab.click('Order item 873', 'button');
    },
  },
  {
    page: 'endless',
    what: 'infinite scrolling',
    async complete(tab) {
      await scrollTo(tab, 'Like post 55', 'Like post ', 'button');
      await tab.click('Like post 55', 'button');
    },
  },
  {
    page: 'wizard',
    what: 'a wizard that validates each step',
    async complete(tab) {
      await tab.fill('Name', 'Ada', 'textbox');
      await tab.click('Next', 'button');
      await tab.fill('Age', '12', 'textbox');
      await tab.click('Next', 'button');
      await tab.snapshot({ wait_for: { text: 'Age must be 18 or more' } });
      await tab.fill('Age', '36', 'textbox');
      await tab.click('Next', 'button');
      await tab.fill('Plan', 'Large', 'combobox');
      await tab.click('Finish', 'button');
    },
  },
];
