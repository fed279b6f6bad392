/** Names in snapshots equal those of Chromium's own accessibility tree, on demo pages of component libraries. */
import { readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TestBrowser } from '../../../../test/harness/browser.ts';
import { bundledPage } from '../../../../test/harness/bundled-page.ts';
import { PageWorld } from '../../../../test/harness/page-world.ts';
import { repositoryRoot } from '../../../../tools/repository.mjs';
import { pageScript } from '../page.ts';

interface Difference {
  /** The role that Chromium gives. */
  readonly role: string;
  readonly chromium: string;
  readonly ours: string;
  readonly html: string;
}

/** Where a name differs on purpose, or cannot be known; each with its reason. */
const reasons: readonly (readonly [reason: string, isMeant: (difference: Difference) => boolean])[] = [
  [
    'a node that has only text shows the text as its name, where Chromium has a node for the text',
    ({ role, chromium }) => chromium === '' && ['listitem', 'alert', 'status', 'note'].includes(role),
  ],
  [
    'the text of a cell and of a row stands in the nodes below, and a name would repeat it',
    ({ role, ours }) => ours === '' && ['cell', 'gridcell', 'row'].includes(role),
  ],
  [
    'the text of a style sheet counts only where there is no other text',
    ({ chromium, ours }) => chromium.replace(/^\* /, '') === ours,
  ],
  [
    'a script does not see the role that an element gives itself through ElementInternals',
    ({ html }) => /^<(?:md-radio|fluent-tree-item|md-primary-tab)\b/.test(html),
  ],
  [
    'a name that refers to an element around it is not read twice by Chromium',
    ({ role, chromium, ours }) =>
      role === 'treeitem' && (ours === `${chromium} ${chromium.split(' ').at(-1)}` || chromium === `${ours} ${ours}`),
  ],
  [
    'an icon without a role, or with the role presentation, has no text',
    ({ html }) => html.includes('ant-table-column-sorters') || html.includes('el-table-column--selection'),
  ],
  [
    'a link without an address is a link for Chromium where it listens for clicks',
    ({ html }) => html.startsWith('<a tabindex="-1"'),
  ],
];

/** Roles of nodes without a name of their own, and of text. */
const unnamed = new Set(
  (
    'StaticText InlineTextBox generic none paragraph LineBreak ListMarker RootWebArea strong emphasis code mark time ' +
    'rowgroup LayoutTable LayoutTableRow LayoutTableCell Abbr Pre Section SvgRoot graphics-document LabelText Legend ' +
    'caption Figcaption Iframe MenuListPopup separator Canvas sectionheader sectionfooter EmbeddedObject Ruby'
  ).split(' '),
);
const interactive =
  /^(?:button|link|textbox|searchbox|checkbox|radio|switch|combobox|listbox|slider|spinbutton|tab|menuitem\w*|treeitem)$/;

/** Scripts that others import. */
const besidePages = ['jquery.ts', 'ui5-components.ts'];
const pages = readdirSync(join(repositoryRoot, 'test/clients/component-libraries')).filter(
  (file) => /\.tsx?$/.test(file) && !besidePages.includes(file),
);

let browser: TestBrowser;
beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser[Symbol.asyncDispose]());

for (const file of pages) {
  test(`BROWSER-10 the names of ${basename(file, extname(file))} equal those of Chromium`, async () => {
    await using opened = await browser.open();
    await opened.page.setContent(await bundledPage(`component-libraries/${file}`), { waitUntil: 'networkidle' });
    const world = await PageWorld.with(opened.page, pageScript);
    const { compared, differences } = await compare(world);

    expect(opened.errors).toEqual([]);
    expect(compared).toBeGreaterThan(15);
    expect(differences.filter((difference) => !reasons.some(([, isMeant]) => isMeant(difference)))).toEqual([]);
  });
}

/** The nodes of both trees, by their elements. Upper and lower case are alike, as in `find`. */
async function compare(world: PageWorld): Promise<{ compared: number; differences: Difference[] }> {
  const rows = new Map((await world.rows()).map((row) => [row[3], row]));
  const { session, contextId } = world;
  await session.send('Accessibility.enable');
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const differences: Difference[] = [];
  let compared = 0;
  for (const { ignored, backendDOMNodeId: backendNodeId, role: axRole, name: axName } of nodes) {
    const role = String(axRole?.value);
    if (ignored || backendNodeId === undefined || unnamed.has(role)) continue;
    const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId: contextId });
    const { result } = await session.send('Runtime.callFunctionOn', {
      objectId: object.objectId ?? '',
      functionDeclaration:
        'function () { return this instanceof Element ? [boxkeep.state.numbers.get(this) ?? 0, this.outerHTML] : null }',
      returnByValue: true,
    });
    if (result.value === null) continue; // A node of a style sheet, or of the inside of a control.
    const [number, html] = result.value as [number, string];
    const row = rows.get(number);
    if (number === 0 || row === undefined) {
      if (interactive.test(role)) differences.push({ role, chromium: tidied(axName?.value), ours: '(no node)', html });
      continue;
    }
    compared++;
    const difference = { role, chromium: tidied(axName?.value), ours: row[2], html };
    if (difference.chromium.toLowerCase() !== difference.ours.toLowerCase()) differences.push(difference);
  }
  return { compared, differences };
}

/** As a snapshot collapses blanks. */
function tidied(name: unknown): string {
  return (typeof name === 'string' ? name : '').replaceAll(/[\s\u200b\u2060\ufeff]+/g, ' ').trim();
}
