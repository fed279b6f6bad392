/** The browser, the desktop and the MCP tools of a sandbox through the client. */
const [module, address, key, , page] = process.argv.slice(2);
const { Sandbox } = await import(module);
const show = (name, value) => console.log(JSON.stringify([name, value]));
const box = await Sandbox.connect(address, key);
const { browser, desktop, mcp } = box.orThrow;
// A name that no linter takes for that of an array.
const { fill } = browser;

await browser.navigate({ url: page });
const { data: shown } = await browser.snapshot({ format: 'text' });
show('snapshot', shown.includes('textbox "Name"'));
await fill({ label: 'Name', value: 'Ada' });
await browser.click({ role: 'button', name: 'Send' });
show('clicked', (await browser.evaluate({ expression: 'document.title' })).data.value);
const { data: opened } = await browser.openTab({ url: page });
await browser.activateTab({ target_id: opened.target_id });
show('closed', (await browser.closeTab({ target_id: opened.target_id })).success);
const picture = await browser.screenshot({ format: 'jpeg' });
show('picture', [picture.data.type, picture.data.width > 100, [...picture.data.bytes.subarray(0, 2)]]);
const same = await browser.screenshot({ format: 'jpeg', if_changed_from: picture.data.etag });
show('unchanged', [same.data.bytes.length, same.data.etag === picture.data.etag]);
const stale = await box.browser.click({ ref: 'e1_99999' });
show('stale', [stale.ok, stale.error.code]);

const screen = await desktop.screenshot();
show('screen', [screen.data.type, screen.data.width, screen.data.screenHeight, [...screen.data.bytes.subarray(1, 4)]]);
const acted = await desktop.act({ action_type: 'MOVE_TO', x: 20, y: 30, include_screenshot: false });
show('acted', [acted.success, (await desktop.cursor()).data.x]);
const batch = await desktop.batch({
  actions: [
    { action_type: 'MOVE_TO', x: 40, y: 50 },
    { action_type: 'WAIT', duration: 0.01 },
  ],
});
show('batch', batch.data.performed);

show('tools', (await mcp.tools()).data.tools.map(({ name }) => name).includes('sandbox_execute_bash'));
show(
  'tool',
  (await mcp.call('sandbox_execute_bash', { cmd: 'echo $((6 * 7))' })).data.content[0].text.startsWith('42'),
);
const wrong = await box.mcp.call('no_such_tool');
show('no tool', [wrong.ok, wrong.error?.code, wrong.body?.data.isError]);
