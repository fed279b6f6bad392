/** The accessibility tree of a desktop: what a client reads of GTK windows and of Chromium, and what it finds there. */
import { afterAll, beforeAll } from 'bun:test';
import { AccessibleDesktop } from '../harness/accessible-desktop.ts';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { needPrograms } from '../harness/programs.ts';
import { expect, programTest as test, type Json } from '../harness/sandbox.ts';
import { until } from '../harness/until.ts';

let desktop: AccessibleDesktop;
let worker: ComputerWorker;

/** On a busy machine, an application may need long for its first answer. */
const patient = 'timeout_ms=30000';
const read = (path: string, query: string) =>
  worker.ok(`GET /v2/computer/${path}?${patient}&scope=desktop&${query.replaceAll(' ', '%20')}`);
const tree = (query = '') => read('accessibility', query);
const nodes = (query: string) => read('accessibility/nodes', query);

function* every(roots: readonly Json[]): Generator<Json> {
  for (const node of roots) {
    yield node;
    yield* every(node.children);
  }
}

beforeAll(async () => {
  desktop = await AccessibleDesktop.start();
  worker = await ComputerWorker.start({ env: desktop.environment });
  await desktop.open('Station', 1000);
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await desktop[Symbol.asyncDispose]();
});

test('DESK-A11Y-TREE the tree has the role, name, states, place, value and actions of each widget', async () => {
  const { nodes: roots, truncated, node_count: count } = await tree();
  const all = [...every(roots)];
  expect(roots).toMatchObject([{ role: 'application' }]);
  expect({ truncated, count }).toEqual({ truncated: false, count: all.length });
  expect(roots[0].children).toMatchObject([{ role: 'frame', name: 'Station' }]);
  const named = (name: string) => all.find((node) => node.name === name);
  expect(named('Station 7')).toMatchObject({
    ...{ role: 'push button', actions: ['Click'], value: null, children: [] },
    bounds: { x: expect.any(Number), y: expect.any(Number), width: expect.any(Number), height: expect.any(Number) },
  });
  expect(named('Station 7').states).toEqual(expect.arrayContaining(['enabled', 'focusable', 'showing', 'visible']));
  expect(named('City')).toMatchObject({ role: 'text', value: '' });
  expect(named('Volume')).toMatchObject({ role: 'slider', value: '0' });
  expect(all.filter(({ role, name }) => role === 'push button' && name.startsWith('Station '))).toHaveLength(1000);
});

test('DESK-A11Y-TREE the text of a password field is not part of an answer', async () => {
  expect((await nodes('role=password text')).nodes).toMatchObject([{ name: 'Secret', value: null }]);
  expect(JSON.stringify(await tree('include_offscreen=true'))).not.toContain('hunter2');
});

test('DESK-A11Y-TREE max_depth and max_nodes cut the tree, and truncated says so', async () => {
  const shallow = await tree('max_depth=1');
  expect(shallow).toMatchObject({ truncated: true, node_count: 2, nodes: [{ children: [{ name: 'Station' }] }] });
  const few = await tree('max_nodes=100');
  expect(few).toMatchObject({ truncated: true, node_count: 100 });
  expect([...every(few.nodes)]).toHaveLength(100);
});

test('DESK-A11Y-TREE numbers out of range are clamped', async () => {
  expect(await tree('max_depth=-3')).toMatchObject({ truncated: true, node_count: 2 });
  expect(await tree('max_nodes=0')).toMatchObject({ truncated: true, node_count: 1 });
  expect((await tree('max_nodes=99999999&max_depth=1000000')).truncated).toBe(false);
  expect((await nodes('limit=0')).nodes).toHaveLength(1);
  const over = await worker.request('GET /v2/computer/accessibility?scope=desktop&timeout_ms=99999999&max_depth=1');
  expect(over.status).toBe(200);
});

test('DESK-A11Y-TREE a list with thousands of rows is read in part', async () => {
  const all = await tree('include_offscreen=true&max_nodes=1500');
  expect(all).toMatchObject({ truncated: true, node_count: 1500 });
});

test('DESK-A11Y-TREE with criteria, the tree has the matching nodes and their ancestors', async () => {
  const { nodes: roots, truncated } = await tree('name=Station 123&match=exact');
  const all = [...every(roots)];
  expect(truncated).toBe(false);
  expect(all.at(-1)).toMatchObject({ name: 'Station 123', role: 'push button' });
  expect(all.map(({ role }) => role)).toEqual(['application', 'frame', 'filler', 'panel', 'push button']);
});

test('DESK-A11Y-NODES nodes are found by role, name and states, as many as limit allows', async () => {
  const names = async (query: string) => (await nodes(query)).nodes.map(({ name }: Json) => name);
  expect(await names('name=station 99&limit=500')).toHaveLength(11);
  expect(await names('name=Station 99&match=exact')).toEqual(['Station 99']);
  expect(await names(`name=${encodeURIComponent('^Station \\d$')}&match=regex`)).toHaveLength(10);
  expect(await names('role=check_box')).toEqual(['Agree']);
  expect(await names('role=button&name=re')).toEqual(['Remove']);
  expect(await names('states=editable,showing')).toEqual(['City', 'Secret']);
  expect(await names('states=checked')).toEqual([]);
  expect(await nodes('role=push button&limit=20')).toMatchObject({ truncated: true });
});

test('DESK-A11Y-NODES a criterion that cannot be used is refused with what to write instead', async () => {
  const refusal = async (query: string) => {
    const { status, body } = await worker.request(`GET /v2/computer/accessibility/nodes?scope=desktop&${query}`);
    return `${status} ${body.message} ${body.hint}`;
  };
  expect(await refusal('states=happy')).toMatch(/^400 .*"happy".*focused/);
  expect(await refusal('name=(&match=regex')).toMatch(/^400 .*regular expression/);
  expect(await refusal('node_id=7')).toMatch(/^400 "7" is not the id of a node/);
  expect(await refusal('scope=house')).toMatch(/^422 /);
});

test('DESK-A11Y-NODES a pattern that takes too long for a name is refused', async () => {
  const title = 'a'.repeat(60);
  const window = await desktop.open(title, 1);
  const frames = async () => (await nodes(`role=frame&name=${title}&match=exact`)).nodes;
  await until('the window has registered', async () => (await frames()).length === 1);
  const pattern = encodeURIComponent('^(([a-z]+)+ ?)+$x');
  const query = `scope=desktop&${patient}&role=frame&match=regex&name=${pattern}`;
  const { status, body } = await worker.request(`GET /v2/computer/accessibility/nodes?${query}`);
  expect([status, body.message]).toEqual([400, expect.stringContaining('takes too long to look for')]);
  await window.close();
  await until('the window has gone', async () => (await frames()).length === 0);
});

test('DESK-A11Y-IDS a node keeps its id across readings and workers, and node_id reads what is below it', async () => {
  const idOf = async (name: string) => (await nodes(`name=${name}&match=exact`)).nodes[0].node_id;
  const id = await idOf('Station 5');
  await worker.end('SIGKILL');
  await worker.launch();
  expect(await idOf('Station 5')).toBe(id);
  expect((await tree(`node_id=${id}`)).nodes).toMatchObject([{ name: 'Station 5' }]);
  const frame = (await nodes('role=frame')).nodes[0].node_id;
  expect((await nodes(`node_id=${frame}&role=push button&limit=500`)).nodes).toHaveLength(500);
});

test('DESK-A11Y-IDS the id of an object that has gone is refused', async () => {
  const other = await desktop.open('Short');
  const found = async () => (await nodes('name=Short 1&match=exact')).nodes;
  const id = (await found())[0].node_id;
  await other.close();
  await until('the window has gone', async () => (await found()).length === 0);
  const { status, body } = await worker.request(`GET /v2/computer/accessibility?node_id=${id}`);
  expect([status, body.message]).toEqual([409, `node ${id} is not on the desktop any more`]);
});

test('DESK-A11Y-MISSING a worker without a session bus answers 503 and says so', async () => {
  await using alone = await ComputerWorker.start({ env: desktop.display.environment });
  const { status, body } = await alone.request('GET /v2/computer/accessibility');
  expect([status, body.message]).toEqual([503, 'there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set']);
  await using lost = await ComputerWorker.start({ env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus' } });
  const answer = await lost.request('GET /v2/computer/accessibility/nodes');
  expect([answer.status, answer.body.message]).toEqual([503, expect.stringContaining('session bus cannot be used')]);
  expect(answer.body.message).toContain('nothing listens there');
});

test('DESK-A11Y-MISSING with no application to read the routes answer 503, until one has registered', async () => {
  await using empty = await AccessibleDesktop.start();
  await using reader = await ComputerWorker.start({ env: empty.environment });
  const readIn = async (scope: string) =>
    await reader.request(`GET /v2/computer/accessibility?scope=${scope}&${patient}`);
  for (const scope of ['foreground', 'desktop']) {
    const { status, body } = await readIn(scope);
    expect([status, body.message]).toEqual([503, expect.stringContaining('there is nothing to read')]);
  }
  await empty.open('Late');
  expect((await readIn('foreground')).body.data.nodes).toMatchObject([{ role: 'frame', name: 'Late' }]);
  await empty.endBus();
  expect((await readIn('desktop')).status).toBe(503);
});

test('DESK-A11Y-TREE an application that does not answer is left out, and the others are reported', async () => {
  const stuck = await desktop.open('Stuck');
  await until('the window has registered', async () => (await nodes('name=Stuck 1&match=exact')).nodes.length === 1);
  process.kill(stuck.pid, 'SIGSTOP');
  try {
    const { nodes: found, truncated } = await nodes('name=Station 5&match=exact');
    expect({ found: found.length, truncated }).toEqual({ found: 1, truncated: true });
  } finally {
    process.kill(stuck.pid, 'SIGCONT');
    await stuck.close();
  }
});

test('DESK-A11Y-TREE DESK-A11Y-ACT a page in Chromium is part of the tree, and its fields are filled in', async () => {
  needPrograms('openbox', 'xterm');
  await using browsing = await AccessibleDesktop.start();
  browsing.display.spawn(['openbox'], browsing.environment);
  await using reader = await ComputerWorker.start({ env: browsing.environment });
  const find = async (query: string): Promise<Json[]> => {
    const { body } = await reader.request(`GET /v2/computer/accessibility/nodes?scope=desktop&${patient}&${query}`);
    return body.data?.nodes ?? [];
  };
  // The first reading makes programs that start later register.
  expect(await find('role=frame')).toEqual([]);
  const page = '<title>Order</title><h1>Tea</h1><input aria-label=Name value=Ada><button>Send</button>';
  browsing.openChromium(`data:text/html,${page}`);
  await until('Chromium shows the page', async () => (await find('role=heading&name=Tea')).length === 1, 60_000);
  expect(await find('name=Name&role=entry')).toMatchObject([{ value: 'Ada', role: 'entry' }]);
  expect(await find('name=Send&role=button')).toMatchObject([{ actions: expect.arrayContaining(['press']) }]);
  const { body } = await reader.request(`GET /v2/computer/accessibility?${patient}`);
  expect(body.data.nodes).toMatchObject([{ role: 'frame', name: expect.stringContaining('Order') }]);

  const [entry] = await find('name=Name&role=entry');
  const act = (action: object) => reader.request('POST /v2/computer/actions', action);
  const fill = (value: string) => act({ action_type: 'NODE_SET_VALUE', node_id: entry.node_id, value });
  for (const value of ['Łukasz 👋', '', 'Ada Lovelace']) {
    expect((await fill(value)).status).toBe(200);
    await until('the field has the text', async () => (await find('name=Name&role=entry'))[0]?.value === value);
  }
  const refused = await fill('two\nlines');
  expect([refused.status, refused.body.message, refused.body.hint]).toEqual([
    400,
    'entry "Name" takes no value through AT-SPI',
    'Focus the node, select its text, and type.',
  ]);

  const isActive = async (title: string) => {
    const { windows } = await reader.ok('GET /v2/computer/windows');
    return windows.some((window: Json) => window.active && window.title === title);
  };
  const openOthers = [
    ['Registered', () => browsing.open('Registered')],
    ['Other', () => browsing.display.spawn(['xterm', '-T', 'Other', '-e', 'sleep', '1000'])],
  ] as const;
  for (const [title, open] of openOthers) {
    await open();
    await until(`${title} is active`, () => isActive(title));
    const { status, body: answer } = await fill('lost');
    expect([title, status, answer.message, answer.hint]).toEqual([
      title,
      400,
      'entry "Name" takes its text from the keyboard, which another window has',
      'Activate the window of the node first.',
    ]);
  }
  expect((await find('name=Name&role=entry'))[0]?.value).toBe('Ada Lovelace');
});
