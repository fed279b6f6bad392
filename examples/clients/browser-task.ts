/** A task in a browser: it serves a page in the sandbox and orders on it: bun browser-task.ts <address> <page>. */
import { writeFile } from 'node:fs/promises';
import { Sandbox } from 'boxkeep';

const [address = '', page = ''] = process.argv.slice(2);
const { browser, commands, files } = (await Sandbox.connect(address, process.env['SVC_API_KEY'])).orThrow;

// The page, built and served in the sandbox on any free port
await files.uploadDirectory(page, 'order');
await commands.run({ command: 'python3 build.py', cwd: 'order' });
const command = 'python3 -u -m http.server 0 --bind 127.0.0.1 --directory build';
const server = await commands.start({ command, cwd: 'order' });
let url: string | undefined;
for await (const event of server) {
  if (event.type === 'stdout') url = /http:\S+\//.exec(event.text)?.[0];
  if (url !== undefined) break;
}

// What a model reads, and the same elements by role or label
await browser.navigate({ url: url ?? '' });
console.log((await browser.snapshot({ format: 'text', interactive_only: true })).data);
await browser.fill({ label: 'Name', value: 'Ada' });
await browser.fill({ label: 'Espresso', value: '2' });
await browser.fill({ label: 'Pick up', value: 'in an hour' });
await browser.click({ role: 'button', name: 'Order' });

// The result, and a picture as evidence
await browser.snapshotByBody({ wait_for: { text: 'Thank you' } });
console.log((await browser.evaluate({ expression: 'document.querySelector("output").textContent' })).data.value);
await writeFile('order.png', (await browser.screenshot()).data.bytes);
await server.kill();
