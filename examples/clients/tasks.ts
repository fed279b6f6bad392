/** What agents do in a sandbox, task by task: bun tasks.ts <address> <page with a login>. */
import { writeFile } from 'node:fs/promises';
import { Sandbox } from 'boxkeep';

const [address = '', page = ''] = process.argv.slice(2);
const box = await Sandbox.connect(address, process.env['SVC_API_KEY']);
const { commands, files, terminals, code, browser, desktop, mcp } = box.orThrow;
// A command, then live output, which goes on over lost connections
console.log((await commands.run('uname')).data.stdout);
for await (const event of await commands.start('seq 3')) if (event.type === 'stdout') console.log(event.text);
const cat = await commands.start({ command: 'cat', stdin: 'pipe' });
await cat.write('hello');
await cat.kill();
// A directory there and back; read, edit and search its files
await files.uploadDirectory('project', 'project');
await files.edit('project/greet.py', { old_str: 'Hello', new_str: 'Bonjour' });
console.log((await files.read('project/greet.py')).data.content);
console.log((await files.grep('project', 'Bonjour')).data.matches[0]?.line_number);
await files.downloadDirectory('project', 'edited');
const watch = await files.watch('project');
await files.write('project/notes', 'new');
for await (const change of watch) {
  console.log(change.type);
  break;
}
// A terminal, whose output goes on at its byte and whose input comes once
const terminal = await terminals.open({ id: 'work' });
await terminal.write('echo $((6 * 7)); exit\n');
for await (const event of terminal) if (event.type === 'output') process.stdout.write(event.text);
// A cell with a plot, and one that fails
const plot = await code.run('python', 'import matplotlib.pyplot as plt; plt.plot([1, 3, 2]); plt.show()');
const shown = plot.data.outputs.find((output) => output.output_type === 'display_data');
await writeFile('plot.png', String(shown?.data['image/png']), 'base64');
console.log((await code.run('python', '1 / 0')).data.outputs.find((output) => output.output_type === 'error')?.ename);
// A login in a browser, pictures of the page and of the desktop, a click there
await browser.navigate({ url: page });
await browser.fill({ label: 'User', value: 'ada' });
await browser.fill({ label: 'Password', value: 'secret', press: 'Enter' });
await writeFile('page.png', (await browser.screenshot()).data.bytes);
await writeFile('desktop.png', (await desktop.screenshot()).data.bytes);
await desktop.act({ action_type: 'CLICK', x: 400, y: 300 });
// A tool of MCP, and an error
console.log((await mcp.call('sandbox_execute_bash', { cmd: 'echo tool' })).data.content[0]?.text);
const missing = await box.files.read('/missing');
if (!missing.ok) console.log(missing.error.code, missing.error.hint);
