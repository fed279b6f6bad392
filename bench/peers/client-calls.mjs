/** Makes the calls of the row `client` from Node, with the client for TypeScript and without: one on each line in. */
import { createInterface } from 'node:readline';

const [module, address] = process.argv.slice(2);
const { Sandbox } = await import(module);
const { commands } = new Sandbox(address).orThrow;
const post = async (body) => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${address}/v2/commands`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()).data;
};

const calls = {
  async run() {
    return (await commands.run('true')).data.exit_code;
  },
  async rawRun() {
    return (await post({ command: 'true', mode: 'sync' })).exit_code;
  },
  async output(script) {
    let bytes = 0;
    for await (const event of await commands.start(script)) if (event.type === 'stdout') bytes += event.bytes.length;
    return bytes;
  },
  async rawOutput(script) {
    const { command_id: id } = await post({ command: script, mode: 'async' });
    let bytes = 0;
    for await (const piece of (await fetch(`${address}/v2/commands/${id}?stream=true&encoding=bytes`)).body)
      bytes += piece.length;
    return bytes;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, count, ...words] = JSON.parse(line);
  const took = [];
  for (let turn = 0; turn < count; turn++) {
    const startedMs = performance.now();
    const value = await calls[name](...words);
    took.push([performance.now() - startedMs, value]);
  }
  console.log(JSON.stringify(took));
}
