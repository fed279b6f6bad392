/** The page scripts behind click and fill, in the isolated world of a real page. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TestBrowser, type TestPage } from '../../../../test/harness/browser.ts';
import { PageWorld } from '../../../../test/harness/page-world.ts';

const scripts = [
  'elements',
  'editable',
  'dom',
  'image-map',
  'hit-test',
  'stillness',
  'press-watch',
  'actionable',
  'find',
  'select',
  'widgets',
  'fill',
  'labels',
];

interface Outcome {
  readonly kind: string;
  readonly reason?: string;
  readonly why?: string;
  readonly by?: string;
  readonly x?: number;
  readonly y?: number;
  readonly text?: string;
}

let browser: TestBrowser;
let shown: TestPage;
beforeAll(async () => {
  browser = await TestBrowser.launch();
  shown = await browser.open({ viewport: { width: 800, height: 600 } });
});
afterAll(() => browser[Symbol.asyncDispose]());

async function worldOf(html: string): Promise<PageWorld> {
  await shown.page.goto('about:blank');
  await shown.page.setContent(html);
  return await PageWorld.open(shown.page, scripts);
}

describe('actionable', () => {
  test('answers the centre of a visible button', async () => {
    const world = await worldOf(
      '<button style="position:fixed;left:10px;top:20px;width:100px;height:40px">go</button>',
    );
    expect(await world.call<Outcome>('button', 'actionable')).toEqual({ kind: 'ready', x: 60, y: 40 });
    expect(await world.call<Outcome>('button', 'actionable', { position: { x: 3, y: 4 } })).toMatchObject({
      x: 13,
      y: 24,
    });
  });

  test('scrolls to an element below, and around a sticky header', async () => {
    const world = await worldOf(
      '<div style="position:sticky;top:0;height:400px;background:red">header</div><div style="height:3000px"></div>' +
        '<button>go</button><div style="height:3000px"></div>',
    );
    expect(await world.call<Outcome>('button', 'actionable')).toMatchObject({ kind: 'ready' });
    expect((await world.call<Outcome>('button', 'actionable')).y).toBeGreaterThan(400);
  });

  const cover = '<div id="overlay" class="modal dark" style="position:fixed;inset:0"></div>';
  test.each([
    [
      'a covered button',
      `<button>go</button>${cover}`,
      'button',
      { reason: 'covered', by: '<div id="overlay" class="modal dark">' },
    ],
    ['a disabled button', '<button disabled>go</button>', 'button', { reason: 'disabled' }],
    ['a text in a disabled button', '<button disabled><b>go</b></button>', 'b', { reason: 'disabled' }],
    [
      'a button of a disabled fieldset',
      '<fieldset disabled><button>go</button></fieldset>',
      'button',
      { reason: 'disabled' },
    ],
    ['a part of a disabled group', '<div aria-disabled="true"><a href="#">go</a></div>', 'a', { reason: 'disabled' }],
    ['an inert part', '<div inert><a href="#">go</a></div>', 'a', { reason: 'inert' }],
    ['a hidden element', '<button style="visibility:hidden">go</button>', 'button', { reason: 'invisible' }],
    ['an element without a box', '<button style="display:none">go</button>', 'button', { reason: 'invisible' }],
    ['a place far outside', '<button style="position:fixed;left:-900px">go</button>', 'button', { reason: 'outside' }],
  ])('names why %s has to wait', async (_name, html, selector, outcome) => {
    const world = await worldOf(html);
    expect(await world.call<Outcome>(selector, 'actionable')).toMatchObject({ kind: 'waiting', ...outcome });
  });

  test('waits while an animation moves the element', async () => {
    const world = await worldOf(
      '<style>@keyframes m{to{transform:translateX(300px)}}</style><button style="animation:m 60s linear infinite">go</button>',
    );
    await world.evaluate('Promise.all(document.getAnimations().map(({ ready }) => ready)).then(() => null)');
    expect(await world.call<Outcome>('button', 'actionable')).toMatchObject({ kind: 'waiting', reason: 'moving' });
  });

  test.each([
    ['a child', '<button><b>go</b></button>', 'button'],
    [
      'the label of a hidden checkbox',
      '<label>x<input type=checkbox style="opacity:0;position:absolute;left:-99px"></label>',
      'input',
    ],
    [
      'a checkbox over its label',
      '<label><span>text</span><input type=checkbox style="position:fixed;inset:0;opacity:0"></label>',
      'span',
    ],
    ['the button around an icon', '<button><i style="pointer-events:none">i</i></button>', 'i'],
    ['content without a box', '<a href="#" style="display:contents"><p>text</p></a>', 'a'],
    [
      'a slotted text',
      '<x-b><b>go</b></x-b><script>document.querySelector("x-b").attachShadow({mode:"open"}).innerHTML="<button><slot></slot></button>"</script>',
      'x-b',
    ],
    [
      'a free part of a covered box',
      '<button style="width:400px;height:40px">go</button><div style="position:fixed;left:100px;top:0;width:220px;height:99px"></div>',
      'button',
    ],
  ])('takes %s as the element', async (_name, html, selector) => {
    const world = await worldOf(html);
    expect(await world.call<Outcome>(selector, 'actionable')).toMatchObject({ kind: 'ready' });
  });

  test('reaches into closed shadow trees', async () => {
    const world = await worldOf('<x-host></x-host>');
    await world.evaluate(
      `{ const root = document.querySelector('x-host').attachShadow({mode:'closed'}); root.innerHTML = '<button>go</button>';
         globalThis.inner = root.querySelector('button'); }`,
    );
    expect(await world.evaluate('boxkeep.actionable(inner, {})')).toMatchObject({ kind: 'ready' });
  });

  test('works on a page that has replaced prototypes and names of the document', async () => {
    const world = await worldOf(
      `<script>Element.prototype.getBoundingClientRect = () => { throw 1 }; window.requestAnimationFrame = () => 0;
         document.elementFromPoint = () => null; Array.prototype.map = null; Promise.prototype.then = null;</script>
       <img name="elementFromPoint"><img name="querySelector"><div id="boxkeep"></div>
       <form><input name="parentNode"><input name="closest"><input name="assignedSlot"><input name="getRootNode"><button>go</button></form>`,
    );
    expect(await world.call<Outcome>('button', 'actionable')).toMatchObject({ kind: 'ready' });
    expect(await world.call<Outcome>('form', 'actionable')).toMatchObject({ kind: 'ready' });
    expect(await world.evaluate('boxkeep.find({selector:"form button"})')).toMatchObject({ kind: 'found' });
  });
});

test('hits converts a point of a scaled frame with border and padding', async () => {
  const world = await worldOf(
    '<iframe style="position:fixed;left:100px;top:50px;width:200px;height:100px;border:5px solid;padding:10px;transform:scale(2);transform-origin:0 0"></iframe>',
  );
  expect(await world.call<Outcome>('iframe', 'hits', { x: 20, y: 30 })).toEqual({ kind: 'ready', x: 170, y: 140 });
  expect(await world.call<Outcome>('iframe', 'hits', { x: 20, y: 300 })).toMatchObject({ reason: 'outside' });
});

test('find looks into shadow trees and names invalid CSS', async () => {
  const world = await worldOf(
    '<x-a></x-a><script>document.querySelector("x-a").attachShadow({mode:"open"}).innerHTML="<p id=in>x</p>"</script>',
  );
  expect(await world.evaluate('boxkeep.find({selector:"#in"})')).toMatchObject({ kind: 'found' });
  expect(await world.evaluate('boxkeep.find({selector:"#out"})')).toEqual({ kind: 'missing' });
  expect(await world.evaluate('boxkeep.find({selector:"a["})')).toEqual({ kind: 'invalid' });
});

describe('the watch of a press', () => {
  test('keeps a press from the page when another element has come in between', async () => {
    const world = await worldOf('<button onclick="document.title=1">go</button>');
    const { x = 0, y = 0 } = await world.call<Outcome>('button', 'actionable', { mustWatch: true });
    await shown.page.evaluate(
      'document.body.insertAdjacentHTML("beforeend", "<div id=late style=position:fixed;inset:0 onmousedown=document.title=2></div>")',
    );
    await shown.page.mouse.click(x, y);
    expect(await world.evaluate('boxkeep.landed({isOver: true})')).toMatchObject({
      verdict: 'missed',
      by: '<div id="late">',
      dragged: 'no',
    });
    expect(await shown.page.title()).toBe('');
    await shown.page.mouse.click(x, y);
    expect(await shown.page.title()).toBe('2');
  });

  test('lets a press through that reaches the element', async () => {
    const world = await worldOf('<button onclick="document.title=1">go</button>');
    const { x = 0, y = 0 } = await world.call<Outcome>('button', 'actionable', { mustWatch: true });
    await shown.page.mouse.click(x, y);
    expect(await world.evaluate('boxkeep.landed({isOver: true})')).toMatchObject({ verdict: 'hit' });
    expect(await shown.page.title()).toBe('1');
  });
});

describe('fill', () => {
  test.each([
    ['date', '2026-01-31', '31.1.2026', 'takes a date such as 2026-01-31'],
    ['time', '13:45', '1 pm', 'takes a time such as 13:45'],
    ['datetime-local', '2026-01-31T13:45', 'x', 'takes a date and time such as 2026-01-31T13:45'],
    ['month', '2026-01', 'x', 'takes a month such as 2026-01'],
    ['week', '2026-W05', 'x', 'takes a week such as 2026-W05'],
    ['color', '#FF8800', 'red-ish', 'takes a colour such as #ff8800'],
    ['number', '12.5', 'twelve', 'takes a number such as 12.5'],
    ['range', '70', '700', 'takes a number such as 50 from 0 to 100 in steps of 1'],
  ])('sets an input of type %s and refuses another format', async (type, value, wrong, why) => {
    const world = await worldOf(`<input type="${type}" oninput="document.title+='i'" onchange="document.title+='c'">`);
    expect(await world.call<Outcome>('input', 'fill', { value })).toMatchObject({ kind: 'done' });
    expect(await world.call<object>('input', 'filled', { value })).toEqual({
      value: value.toLowerCase().replace('w', 'W').replace('t', 'T'),
      matches: true,
    });
    expect(await shown.page.title()).toBe('ic');
    expect(await world.call<Outcome>('input', 'fill', { value: wrong })).toMatchObject({ kind: 'refused', why });
    expect(await world.call<object>('input', 'filled', { value })).toMatchObject({ matches: true });
  });

  test.each([
    ['a text input', '<input value=old>', 'new ünï', 'new ünï'],
    ['an input in a label', '<label>x <input value=old></label>', 'new', 'new'],
    ['a textarea', '<textarea>old</textarea>', 'a\r\nb\n', 'a\nb\n'],
    ['one paragraph of an editor', '<div contenteditable><p>keep</p><p class=f>old</p></div>', 'new', 'new'],
    ['a line break in an input', '<input>', 'a\nb', 'ab'],
  ])('selects the text of %s for typing', async (_name, html, value, held) => {
    const world = await worldOf(html);
    const selector = html.includes('label') ? 'label' : html.includes('class=f') ? '.f' : 'input, textarea, div';
    const outcome = await world.call<Outcome>(selector, 'fill', { value });
    expect(outcome.kind).toBe(selector === '.f' ? 'edit' : 'type');
    await shown.page.keyboard.insertText(outcome.text ?? '');
    expect(await world.call<object>(selector, 'filled', { value })).toEqual({ value: held, matches: true });
    if (html.includes('keep')) expect(await shown.page.innerText('p:first-child')).toBe('keep');
  });

  test('sets a long text at once', async () => {
    const world = await worldOf('<input value=old><div contenteditable>old</div>');
    const value = 'x'.repeat(100_000);
    expect(await world.call<Outcome>('input', 'fill', { value })).toMatchObject({ kind: 'done' });
    expect(await world.call<object>('input', 'filled', { value })).toEqual({ length: 100_000, matches: true });
    const lines = `${'x'.repeat(99)}\n`.repeat(1000);
    expect(await world.call<Outcome>('div', 'fill', { value: lines })).toMatchObject({ kind: 'edit', isWhole: true });
    expect(await world.call<object>('div', 'paste', { text: lines })).toEqual({ isTaken: true });
    expect(await world.call<object>('div', 'filled', { value: lines })).toEqual({ length: 100_000, matches: true });
    expect(await shown.page.innerText('div')).toStartWith(`${'x'.repeat(99)}\n${'x'.repeat(99)}\n`);
  });

  test.each([
    ['<p>one</p><p>two</p>', 'one\ntwo'],
    ['<p>one</p><p><br></p><p>two</p>', 'one\n\ntwo'],
    ['one<br>two<br>', 'one\ntwo'],
    ['one<div>two</div><div><br></div>', 'one\ntwo\n'],
    ['\n  <ul>\n <li>a <b>b</b> </li>\n<li>c</li>\n</ul>\n', 'a b\nc'],
    ['<pre>a\n  b</pre>', 'a\n  b'],
    ['a&nbsp; b', 'a  b'],
    ['text<span contenteditable=false aria-hidden=true>placeholder</span>', 'text'],
    ['hello <span contenteditable=false>@Ada</span>', 'hello @Ada'],
    ['<table><tr><td>a<td>b</table>', 'a\nb'],
  ])('reads the lines of an editable element: %j', async (html, value) => {
    const world = await worldOf(`<div contenteditable>${html}</div>`);
    expect(await world.call<object>('div', 'filled', { value })).toEqual({ value, matches: true });
    expect(await world.call<object>('div', 'filled', { value: `${value}x` })).toEqual({ value, matches: false });
  });

  test.each([
    ['<input readonly>', 'x', 'is read-only'],
    ['<input maxlength=2>', 'abc', 'takes at most 2 characters, and the value has 3'],
    ['<input type=file>', 'x', 'takes files and not text'],
    ['<input type=submit>', 'x', 'is an input of type submit, which takes no value'],
    ['<input type=radio checked>', 'false', 'is a radio button, which only another one of its group can clear'],
    ['<input type=checkbox>', 'maybe', 'takes true or false'],
    ['<p>text</p>', 'x', 'is not a field that takes a value'],
    ['<input>', true, 'takes text and not true'],
    ['<input>', ['a'], 'takes one value and not an array'],
    ['<select><option>a<option disabled>b</select>', 'c', 'has no option "c": its options are "a", "b"'],
    ['<select><option>a<option disabled>b</select>', 'b', 'has the option "b" disabled'],
    ['<select><option>a</select>', ['a', 'a'], 'takes one option and not an array'],
  ])('refuses %s with %j', async (html, value, why) => {
    const world = await worldOf(html);
    expect(await world.call<Outcome>('body > *', 'fill', { value })).toMatchObject({ kind: 'refused', why });
  });

  test('chooses options by value, by label, and several at once', async () => {
    const world = await worldOf(
      '<select onchange="document.title+=1"><option value=1>One<option value=2>Two</select><select id=m multiple><option>a<option>b<option>c</select>',
    );
    expect(await world.call<Outcome>('select', 'fill', { value: 'Two' })).toMatchObject({ kind: 'done' });
    expect(await world.call<object>('select', 'filled', { value: 'Two' })).toEqual({ value: '2', matches: true });
    expect(await shown.page.title()).toBe('1');
    expect(await world.call<Outcome>('#m', 'fill', { value: ['a', 'c'] })).toMatchObject({ kind: 'done' });
    expect(await world.call<object>('#m', 'filled', { value: ['a', 'c'] })).toEqual({
      value: ['a', 'c'],
      matches: true,
    });
    expect(await world.call<Outcome>('select option', 'actionable', { mustWatch: true })).toMatchObject({
      kind: 'chosen',
    });
    expect(await world.call<object>('select', 'filled', { value: '1' })).toEqual({ value: '1', matches: true });
  });

  test('asks for a click where a checkbox has another state', async () => {
    const world = await worldOf('<input type=checkbox checked><div role=switch aria-checked=false>s</div>');
    expect(await world.call<Outcome>('input', 'fill', { value: true })).toMatchObject({ kind: 'done' });
    expect(await world.call<Outcome>('input', 'fill', { value: 'false' })).toMatchObject({ kind: 'click' });
    expect(await world.call<Outcome>('div', 'fill', { value: true })).toMatchObject({ kind: 'click' });
    expect(await world.call<object>('div', 'filled', { value: true })).toEqual({ value: false, matches: false });
  });

  test('never answers the value of a password', async () => {
    const world = await worldOf('<input type=password value=secret>');
    expect(await world.call<object>('input', 'filled', { value: 'secret' })).toEqual({ matches: true });
  });
});

test('labels are drawn in a closed tree above a modal dialog, and are removed', async () => {
  const world = await worldOf(
    '<dialog><button>go</button></dialog><script>document.querySelector("dialog").showModal()</script>',
  );
  const plain = await shown.page.screenshot();
  const number = await world.evaluate('boxkeep.numberOf(document.querySelector("button"))');
  expect(await world.evaluate(`boxkeep.showLabels({labels: [{number: ${Number(number)}, text: 'e1-abc'}]})`)).toEqual({
    count: 1,
  });
  const labelled = await shown.page.screenshot();
  expect(labelled.equals(plain)).toBe(false);
  expect(await shown.page.evaluate('document.documentElement.lastElementChild.shadowRoot')).toBeNull();
  await world.evaluate('boxkeep.hideLabels()');
  expect((await shown.page.screenshot()).equals(plain)).toBe(true);
});
