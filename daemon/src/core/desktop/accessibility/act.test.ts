/** Acts on the widgets of a GTK window, which prints each event that it receives. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AccessibleDesktop, type AccessibleWindow } from '../../../../../test/harness/accessible-desktop.ts';
import { until } from '../../../../../test/harness/until.ts';
import { openAccessibility } from '../../../compose/accessibility.ts';
import type { Accessibility } from './accessibility.ts';
import type { NodeQuery } from './query.ts';

let desktop: AccessibleDesktop;
let window: AccessibleWindow;
let accessibility: Accessibility;

const options = () => ({ signal: AbortSignal.timeout(60_000) });
const query: NodeQuery = {
  ...{ scope: 'desktop', role: null, name: null, match: 'exact', states: [], includesOffscreen: false },
  ...{ maxDepth: 32, maxNodes: 5000, timeoutMs: 30_000, limit: 50, nodeId: null },
};

beforeAll(async () => {
  desktop = await AccessibleDesktop.start();
  accessibility = openAccessibility(desktop.environment, async () => null);
  window = await desktop.open('Office');
});

afterAll(async () => {
  accessibility[Symbol.dispose]();
  await desktop[Symbol.asyncDispose]();
});

async function nodeNamed(name: string) {
  const { nodes } = await accessibility.nodes({ ...query, name }, options());
  const [node] = nodes;
  if (!node) throw new Error(`no node is named ${name}`);
  return node;
}

async function refusal(acting: Promise<unknown>): Promise<string> {
  return await acting.then(
    () => 'done',
    ({ code, message, hint }) => `${code}: ${message}. ${hint}`,
  );
}

test('DESK-A11Y-ACT an action is invoked by its name, or the first one without a name', async () => {
  const { id } = await nodeNamed('Office 2');
  expect(await accessibility.invoke(id, null, options())).toBe('Click');
  await window.prints('clicked Office 2');
  const box = await nodeNamed('Agree');
  expect(await accessibility.invoke(box.id, 'click', options())).toBe('Click');
  await window.prints('toggled True');
  expect((await nodeNamed('Agree')).states).toContain('checked');
});

test('DESK-A11Y-ACT a text and a number are set', async () => {
  const text = 'Zürich 東京 🚉';
  await accessibility.setValue((await nodeNamed('City')).id, text, options());
  await window.prints(`text ${text}`);
  expect((await nodeNamed('City')).value).toBe(text);
  await accessibility.setValue((await nodeNamed('Volume')).id, '42', options());
  await window.prints('value 42');
  expect((await nodeNamed('Volume')).value).toBe('42');
});

test('DESK-A11Y-ACT a node takes the focus', async () => {
  await accessibility.focus((await nodeNamed('City')).id, options());
  await until('the field has the focus', async () => (await nodeNamed('City')).states.includes('focused'));
});

test('DESK-A11Y-ACT what a node cannot do is refused with what to do instead', async () => {
  const button = await nodeNamed('Office 2');
  const volume = await nodeNamed('Volume');
  expect(await refusal(accessibility.invoke(button.id, 'fly', options()))).toMatch(/^bad_argument: .*"fly".*Click/);
  expect(await refusal(accessibility.setValue(button.id, 'x', options()))).toMatch(/^bad_argument: .*no value/);
  expect(await refusal(accessibility.setValue(volume.id, '101', options()))).toMatch(/^bad_argument: .*0 to 100/);
  expect(await refusal(accessibility.setValue(volume.id, 'loud', options()))).toMatch(/^bad_argument: .*a number/);
});

test('DESK-A11Y-IDS acting on a node that has gone is refused', async () => {
  const { id } = await nodeNamed('Remove');
  await accessibility.invoke(id, null, options());
  await window.prints('removed');
  expect(await refusal(accessibility.invoke(id, null, options()))).toMatch(/^ref_stale: /);
  expect(await refusal(accessibility.focus(id.replace(/^[\da-f]{8}/, '00000000'), options()))).toMatch(/^ref_stale: /);
});
