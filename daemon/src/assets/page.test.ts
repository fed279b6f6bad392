/** The accessibility tree that the page scripts compute, in a real Chromium. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { TestBrowser, type TestPage } from '../../../test/harness/browser.ts';
import { PageWorld, type Row } from '../../../test/harness/page-world.ts';
import { pageScript } from './page.ts';

let browser: TestBrowser;
beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
});

/** Shows a page in a separate profile, with all scripts. */
async function worldOf(
  html: string,
): Promise<{ readonly opened: TestPage; readonly world: PageWorld } & AsyncDisposable> {
  const opened = await browser.open();
  await opened.page.setContent(html);
  return {
    opened,
    world: await PageWorld.with(opened.page, pageScript),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** The nodes below the document, one a line, without their numbers. */
async function linesOf(html: string): Promise<string[]> {
  await using shown = await worldOf(html);
  return (await shown.world.rows()).slice(1).map(lineOf);
}

function lineOf([depth, role, name, , value, states]: Row): string {
  const parts = [role, ...(name === '' ? [] : [JSON.stringify(name)]), ...states.map((state) => `[${state}]`)];
  return '  '.repeat(depth - 1) + parts.join(' ') + (value === null ? '' : ` = ${value}`);
}

describe('roles and names', () => {
  test('tags have their implicit roles', async () => {
    expect(
      await linesOf(`
        <header>Top</header><nav><ul><li><a href=#>Home</a><li>Plain</ul></nav>
        <main><h2>Title</h2><p>Some <b>bold</b> text</p><article><header>Inner</header></article>
        <img src=x alt=Picture><img alt=""><section>Unnamed</section><section aria-label=News>Named</section>
        <table><caption>Prices</caption><tr><th>Item<th>Price<tr><th>Tea<td>2</table></main>
        <footer>Bottom</footer>`),
    ).toEqual([
      'banner',
      '  text "Top"',
      'navigation',
      '  list',
      '    listitem',
      '      link "Home"',
      '    listitem "Plain"',
      'main',
      '  heading "Title" [level=2]',
      '  text "Some bold text"',
      '  article',
      '    text "Inner"',
      '  img "Picture"',
      '  text "Unnamed"',
      '  region "News"',
      '    text "Named"',
      '  table "Prices"',
      '    row',
      '      columnheader "Item"',
      '      columnheader "Price"',
      '    row',
      '      rowheader "Tea"',
      '      cell "2"',
      'contentinfo',
      '  text "Bottom"',
    ]);
  });

  test('controls have names, values and states', async () => {
    expect(
      await linesOf(`
        <label for=a>Email</label><input id=a type=email value=a@b.c required>
        <label><input type=checkbox checked> Accept</label>
        <input type=password aria-label=Secret value=abc><input placeholder=Search type=search>
        <textarea aria-labelledby="l1 l2" readonly>Line</textarea><i id=l1>First</i> <i id=l2 hidden>Second</i>
        <select aria-label=Size><option>S<option selected>M<option disabled>L</select>
        <select aria-label=Many multiple><option selected>1</select>
        <input type=range min=0 max=10 value=4 title=Volume><input type=submit><input type=button value=Go>
        <fieldset disabled><legend>Group</legend><input type=radio name=r aria-label=One checked></fieldset>
        <button aria-pressed=true>Bold</button><button aria-expanded=false aria-haspopup=menu>Menu</button>
        <progress value=.5 max=1 aria-label=Load></progress><input type=hidden value=x>
        <div role=checkbox aria-checked=mixed tabindex=0>All</div>
        <details><summary>More</summary><p>Hidden</p></details>
        <div contenteditable aria-label=Editor>Rich <b>text</b></div>`),
    ).toEqual([
      'textbox "Email" [required] = a@b.c',
      'checkbox "Accept" [checked]',
      'textbox "Secret" = •••',
      'searchbox "Search" = ',
      'textbox "First Second" [readonly] [multiline] = Line',
      'text "First"',
      'combobox "Size" = M',
      '  option "S"',
      '  option "M" [selected]',
      '  option "L" [disabled]',
      'listbox "Many" [multiselectable]',
      '  option "1" [selected]',
      'slider "Volume" = 4',
      'button "Submit"',
      'button "Go"',
      'group "Group"',
      '  radio "One" [disabled] [checked]',
      'button "Bold" [pressed]',
      'button "Menu" [collapsed] [haspopup]',
      'progressbar "Load" = 0.5',
      'checkbox "All" [mixed]',
      'button "More" [collapsed]',
      'textbox "Editor" [multiline] = Rich text',
    ]);
  });

  test('names come from labels, content and style sheets', async () => {
    expect(
      await linesOf(`<style>.after::after { content: 'Save' }</style>
        <button><svg><title>Close</title></svg></button><button aria-label=Delete>×</button>
        <a href=#><img alt=Logo> <h3>Card</h3><p>Text</p></a><button class=after></button>
        <button><span>Add</span><span style="display:block">item</span></button><button title=Help></button>
        <h1><a href=#>Linked</a> title</h1><a href=#>in<b>line</b></a>`),
    ).toEqual([
      'button "Close"',
      'button "Delete"',
      'link "Logo Card Text"',
      'button "Save"',
      'button "Add item"',
      'button "Help"',
      'heading "Linked title" [level=1]',
      '  link "Linked"',
      'link "inline"',
    ]);
  });
});

describe('what is in the tree', () => {
  test('hidden content is left out', async () => {
    expect(
      await linesOf(`
        <button hidden>1</button><button style="visibility:hidden">2</button><div aria-hidden=true><button>3</button></div>
        <div inert><button>4</button></div><div style="display:contents"><button>5</button></div>
        <div style="visibility:hidden">x<button style="visibility:visible">6</button></div>
        <script>7</script><template><button>8</button></template><noscript>9</noscript>
        <details><summary>10</summary><button>11</button></details>`),
    ).toEqual(['button "5"', 'button "6"', 'button "10" [collapsed]']);
  });

  test('an open modal dialog makes the rest inert', async () => {
    expect(
      await linesOf(`<button>Behind</button><dialog id=d aria-label=Ask><button>Yes</button></dialog>
        <script>d.showModal()</script>`),
    ).toEqual(['dialog "Ask" [modal]', '  button "Yes" [focused]']);
  });

  test('shadow roots and slots are read as they are rendered', async () => {
    expect(
      await linesOf(`<x-card><b slot=title>Title</b><button>Slotted</button><i slot=none>Nowhere</i></x-card>
        <script>document.querySelector('x-card').attachShadow({mode: 'open'}).innerHTML =
          '<h2><slot name=title></slot></h2><slot></slot><slot name=other><a href=#>Fallback</a></slot>'</script>`),
    ).toEqual(['heading "Title" [level=2]', 'button "Slotted"', 'link "Fallback"']);
  });

  test('elements that a script made clickable are in the tree', async () => {
    expect(
      await linesOf(`<style>.p { cursor: pointer }</style>
        <div class=p>Pointer <span>inside</span></div><div onclick="1">Handler</div><div tabindex=0>Focusable</div>
        <div class=p><h3>Card</h3><button>Buy</button></div><div>Plain</div>
        <label class=p><input type=checkbox style="display:none" checked>Styled</label>`),
    ).toEqual([
      'generic "Pointer inside" [clickable]',
      'generic "Handler" [clickable]',
      'generic "Focusable" [clickable]',
      'generic [clickable]',
      '  heading "Card" [level=3]',
      '  button "Buy"',
      'text "Plain"',
      'checkbox "Styled" [checked]',
    ]);
  });

  test('the name of a widget is all of its text, and controls inside keep their nodes', async () => {
    expect(
      await linesOf(`<div role=tab><div style="cursor:pointer">General</div></div>
        <div role=menuitem tabindex=0>Cut <kbd style="cursor:pointer" onclick="1">⌘X</kbd></div>
        <button>Chip <span role=button tabindex=0 aria-label=Remove>x</span></button>
        <div role=treeitem tabindex=0>Trees<div role=group aria-label=More><div role=treeitem tabindex=0>Birch</div></div></div>
        <a href=#><img alt=Cat><h3>Card <b>title</b></h3></a>
        <span role=img aria-label=search>🔍</span><button><svg aria-label=Like><path/></svg></button>
        <table><tr><th>Name <button>Sort</button><tr><td>1</table>`),
    ).toEqual([
      'tab "General"',
      'menuitem "Cut ⌘X"',
      '  generic "⌘X" [clickable]',
      'button "Chip Remove"',
      '  button "Remove"',
      'treeitem "Trees"',
      '  group "More"',
      '    treeitem "Birch"',
      'link "Cat Card title"',
      'img "search"',
      'button "Like"',
      'table',
      '  row',
      '    columnheader "Name Sort"',
      '      button "Sort"',
      '  row',
      '    cell "1"',
    ]);
  });

  test('the blocks of a label have spaces between them, and its aria-label wins over its text', async () => {
    expect(
      await linesOf(`<label style="display:flex" for=a><span>Name</span><span>*</span></label><input id=a>
        <label aria-label="Select all"><input type=checkbox> x</label>
        <input aria-labelledby="b"><div id=b><i style="display:inline-block">1</i><i style="display:inline-block">2</i></div>`),
    ).toEqual(['textbox "Name *" = ', 'checkbox "Select all"', 'textbox "1 2" = ', 'text "1"', 'text "2"']);
  });

  test('frames and drawings are nodes of their own', async () => {
    expect(
      await linesOf(`<iframe title=Inner srcdoc="<button>x</button>"></iframe><canvas aria-label=Chart>Fallback</canvas>
        <video controls></video><svg><text>Label</text><g style="cursor:pointer"><text>Bar</text></g></svg>`),
    ).toEqual(['iframe "Inner"', 'canvas "Chart"', 'video [paused]', 'text "Label"', 'generic "Bar" [clickable]']);
  });
});

test('the number of an element stays the same, and a number is never given twice', async () => {
  await using shown = await worldOf('<button id=a>A</button><button id=b>B</button>');
  const { world } = shown;
  const before = await world.rows();
  await shown.opened.page.evaluate(`a.remove(); document.body.insertAdjacentHTML('afterbegin', '<button>C</button>')`);
  await world.evaluate(pageScript);
  const after = await world.rows();
  const numberOf = (rows: readonly Row[], wanted: string) => rows.find(([, , name]) => name === wanted)?.[3];
  expect(numberOf(after, 'B')).toBe(numberOf(before, 'B'));
  expect(before.map(([, , , number]) => number)).not.toContain(numberOf(after, 'C')!);
  expect(await world.evaluate<unknown>(`boxkeep.elementOf(${numberOf(before, 'A')})`)).toBeNull();
});

test('the tree below one element can be read', async () => {
  await using shown = await worldOf('<ul aria-label=L><li><button>A</button></ul><div id=d>Plain</div>');
  const { world } = shown;
  const list = (await world.rows()).find(([, role]) => role === 'list')!;
  const rows = await world.rows(`root: ${list[3]}`);
  expect(rows.map(([depth, role, name]) => [depth, role, name])).toEqual([
    [0, 'list', 'L'],
    [1, 'listitem', ''],
    [2, 'button', 'A'],
  ]);
  const number = await world.evaluate<number>(`boxkeep.numberOf(document.getElementById('d'))`);
  expect((await world.rows(`root: ${number}`)).map(([, role, name]) => [role, name])).toEqual([
    ['generic', ''],
    ['text', 'Plain'],
  ]);
});

test('deep and very long documents are cut, and the answer says so', async () => {
  await using shown = await worldOf(`<body><script>
    let e = document.body; for (let i = 0; i < 2500; i++) e = e.appendChild(document.createElement('div'));
    e.textContent = 'deep';
    document.body.insertAdjacentHTML('beforeend', '<p>' + 'long '.repeat(10000) + '</p><button>After</button>'.repeat(500));
  </script>`);
  const { world } = shown;
  const look = (maxNodes: number) =>
    world.evaluate<{ rows: Row[]; cut: { reason: string; elements: number; characters: number } }>(
      `boxkeep.snapshot({ maxNodes: ${maxNodes}, maxCharacters: 1e7, maxMs: 5000 })`,
    );
  const { rows, cut } = await look(100_000);
  expect(rows.filter(([, role]) => role === 'button')).toHaveLength(500);
  expect(cut.characters).toBeGreaterThan(29_000);
  const small = await look(50);
  expect(small.rows).toHaveLength(50);
  expect(small.cut).toMatchObject({ reason: 'nodes' });
  expect(small.cut.elements).toBeGreaterThan(400);
});
