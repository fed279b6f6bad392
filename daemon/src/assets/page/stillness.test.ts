/** When the page script waits for a frame before a click, in the isolated world of a real page. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TestBrowser, type TestPage } from '../../../../test/harness/browser.ts';
import { PageWorld } from '../../../../test/harness/page-world.ts';

const scripts = ['elements', 'editable', 'dom', 'image-map', 'hit-test', 'stillness', 'press-watch', 'actionable'];

let browser: TestBrowser;
let shown: TestPage;
beforeAll(async () => {
  browser = await TestBrowser.launch();
  shown = await browser.open({ viewport: { width: 800, height: 600 } });
});
afterAll(() => browser[Symbol.asyncDispose]());

const button = '<button id=b style="position:absolute;left:50px">go</button>';

/** A page whose button has been noted before a frame, as a snapshot does. */
async function notedIn(html: string): Promise<PageWorld> {
  await shown.page.goto('about:blank');
  await shown.page.setContent(html);
  const world = await PageWorld.open(shown.page, scripts);
  await world.evaluate('boxkeep.noteBox(document.querySelector("button")); boxkeep.nextFrame()');
  return world;
}

/** Whether a click would begin before the next frame. */
async function isReadyAtOnce(world: PageWorld): Promise<unknown> {
  return await world.evaluate(`new Promise(async (resolve) => {
    requestAnimationFrame(() => resolve(false));
    const { kind } = await boxkeep.actionable(document.querySelector('button'), { mustWatch: true });
    resolve(kind === 'ready');
  })`);
}

test('a click waits for no frame when the element is where it was before the last frame', async () => {
  const world = await notedIn(button);
  expect(await isReadyAtOnce(world)).toBe(true);
  expect(await isReadyAtOnce(world)).toBe(true);
});

test.each([
  ['has moved', button, 'b.style.left = "90px"'],
  ['has another size', button, 'b.style.padding = "9px"'],
  ['was scrolled', `${button}<div style="height:4000px"></div>`, 'scrollTo(0, 5)'],
  ['begins an animation', button, 'b.animate({ translate: "90px" }, 60000)'],
  ['stands beside an animation', `<div id=d>x</div>${button}`, 'd.animate({ height: "90px" }, 60000)'],
  [
    'is about to change by a transition',
    `<style>#b{transition:left 60s linear}#b.on{left:400px!important}</style>${button}`,
    'b.className = "on"',
  ],
])('a click waits for a frame when the element %s', async (_what, html, script) => {
  const world = await notedIn(html);
  await shown.page.evaluate(script);
  expect(await isReadyAtOnce(world)).toBe(false);
});

test('a click waits for a frame in a shadow tree that is animated', async () => {
  await shown.page.goto('about:blank');
  await shown.page.setContent('<x-a></x-a>');
  const world = await PageWorld.open(shown.page, scripts);
  const still = await world.evaluate(`(async () => {
    const root = document.querySelector('x-a').attachShadow({ mode: 'closed' });
    root.innerHTML = '<div>x</div><button>go</button>';
    const [div, inner] = root.children;
    boxkeep.noteBox(inner);
    await boxkeep.nextFrame();
    const before = boxkeep.isStill(inner);
    div.animate({ height: '90px' }, 60000);
    return [before, boxkeep.isStill(inner)];
  })()`);
  expect(still).toEqual([true, false]);
});

test('an animation that has not begun counts as movement, and one that begins with the frame', async () => {
  for (let look = 0; look < 5; look++) {
    const world = await notedIn(button);
    await shown.page.evaluate('b.animate({ translate: "90px" }, 600)');
    expect(await world.call('button', 'actionable', { mustWatch: true })).toMatchObject({ reason: 'moving' });
  }
  const world = await notedIn(button);
  const outcome = await world.evaluate(`(async () => {
    const element = document.querySelector('button');
    const one = element.animate({ translate: '90px' }, 600);
    one.pause();
    await one.ready;
    requestAnimationFrame(() => (one.startTime = document.timeline.currentTime));
    return await boxkeep.actionable(element, {});
  })()`);
  expect(outcome).toMatchObject({ reason: 'moving' });
});

test('a late frame hides no movement, and a page that draws none is clicked after eight', async () => {
  const world = await notedIn(button);
  await shown.page.evaluate('b.animate({ opacity: [0, 1] }, { duration: 600, iterations: Infinity })');
  await world.evaluate('window.requestAnimationFrame = () => 0'); // As behind another window.
  const kinds: unknown[] = [];
  for (let count = 0; count < 9; count++) {
    kinds.push((await world.call<{ kind: string }>('button', 'actionable')).kind);
  }
  expect(kinds).toEqual([...Array<string>(7).fill('waiting'), 'ready', 'ready']);
});

test.each([
  ['that never begins', 'b.animate({ translate: "90px" }, { duration: 60000, timeline: new ScrollTimeline() })'],
  ['of another element', 'setInterval(() => d.animate({ rotate: "90deg" }, 60000), 1)'],
])('no click waits for an animation %s', async (_what, script) => {
  const world = await notedIn(`<div id=d>x</div>${button}`);
  await shown.page.evaluate(script);
  expect(await world.call('button', 'actionable', { mustWatch: true })).toMatchObject({ kind: 'ready' });
});

test('an element that a script moves in each frame is never still', async () => {
  const world = await notedIn(
    `${button}<script>let x = 0; (function move() { b.style.left = (x = (x + 3) % 200) + 'px'; requestAnimationFrame(move) })()</script>`,
  );
  for (let look = 0; look < 5; look++) {
    expect(await isReadyAtOnce(world)).toBe(false);
    const outcome = await world.call('button', 'actionable', { mustWatch: true });
    expect(outcome).toMatchObject({ kind: 'waiting', reason: 'moving' });
  }
});
