/**
 * What the client promises for terminals. The test kills or upgrades the daemon when such a line is printed, and answers
 * with a line when a daemon serves again.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';

const [module, address, key, directory, servers] = process.argv.slice(2);
const { Sandbox } = await import(module);
const { WebSocket = (await import(join(process.env.PACKAGES, 'node_modules/ws/wrapper.mjs'))).WebSocket } = globalThis;
const show = (name, value) => console.log(JSON.stringify([name, value]));
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const act = async (what) => {
  show(what);
  await answers.next();
};
const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');

/** A way to the daemon that can be cut, and that can lose what the client sends. */
const proxy = { sockets: new Set(), isDeaf: false, lose: () => {} };
const server = createServer((near) => {
  const far = connect(Number(new URL(address).port), '127.0.0.1');
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ]) {
    proxy.sockets.add(socket);
    socket.on('error', () => {}); // The connection is cut on purpose.
    socket.on('close', () => other.destroy());
    socket.on('data', (data) => (socket === near && proxy.isDeaf ? proxy.lose(data) : other.write(data)));
  }
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const cut = () => proxy.sockets.forEach((socket) => socket.destroy());

const box = new Sandbox(`127.0.0.1:${server.address().port}`, { key, WebSocket });
const direct = new Sandbox(address, { key, WebSocket });
const { terminals } = box.orThrow;
const codeOf = ({ ok, error }) => ok || [error.code, error.message];

/** Reads up to an event, which may be the first output with a text. */
async function read(terminal, isLast, seen = []) {
  let text = '';
  for await (const event of terminal) {
    seen.push(event);
    if (event.type === 'output') text += event.text;
    if (isLast(event, text)) return event;
  }
  throw new Error(`no such event: ${JSON.stringify(seen).slice(-2000)}`);
}

// Why nothing is attached.
show('unknown', codeOf(await box.terminals.attach('missing')));
show('wrong key', codeOf(await new Sandbox(address, { key: 'wrong', WebSocket }).terminals.attach('work')));
show('another server', codeOf(await new Sandbox(`${servers}/other`, { key, WebSocket }).terminals.attach('work')));
const global = globalThis.WebSocket;
delete globalThis.WebSocket;
const bare = await new Sandbox(address, { key }).terminals.open({ id: 'work', cwd: directory, env: { HISTFILE: '' } });
globalThis.WebSocket = global;
show('no WebSocket', [bare.error.code, bare.error.hint]);
const Nowhere = class extends WebSocket {
  constructor(_, protocols) {
    super('ws://127.0.0.1:1', protocols);
  }
};
show('no way', codeOf(await new Sandbox(address, { key, WebSocket: Nowhere }).terminals.attach('work')));
const enough = new AbortController();
enough.abort(new Error('enough'));
show('aborted', await box.terminals.attach('work', {}, { signal: enough.signal }).catch(String));

// Output over a lost connection, a kill and an upgrade.
const terminal = await terminals.open({ id: 'work', cols: 100, rows: 30 });
show('key is shown', inspect(terminal, { depth: 9, showHidden: true }).includes(key));
const wide = `printf 'é%.0s' $(seq 1 3000)`;
await terminal.write(`stty -echo; seq 1 150000; ${wide}; sleep 1; seq 150001 200000; ${wide}; echo al''l\n`);
const pieces = [];
const kinds = [];
const acts = [];
const troubles = [cut, () => acts.push(act('kill')), () => acts.push(act('upgrade'))];
let [first, bytes] = [0, 0];
let text = '';
for await (const event of terminal) {
  if (event.type === 'restore') first = bytes = event.offset;
  if (event.type !== 'output') kinds.push(event.type);
  else {
    if (event.offset !== bytes) show('not in order', [event.offset, bytes]);
    bytes += event.bytes.length;
    pieces.push(event.bytes);
    text += event.text;
    if (bytes > 250_000 * (4 - troubles.length)) troubles.shift()?.();
    if (text.slice(-1000).includes('all\r\n')) break;
  }
}
await Promise.all(acts);
const whole = Buffer.concat(pieces);
const log = [];
const again = await direct.orThrow.terminals.attach('work', { offset: first, readOnly: true });
await read(again, (event) => {
  if (event.type === 'output') log.push(event.bytes);
  return log.length > 0 && event.offset + event.bytes.length >= bytes;
});
const plain = text.replaceAll('\r', '');
show('output', {
  isLog: Buffer.concat(log)
    .subarray(0, bytes - first)
    .equals(whole),
  isText: text === whole.toString(),
  isWhole: [numbers(1, 150_000), numbers(150_001, 200_000)].every((part) => plain.includes(part)),
  kinds: [...new Set(kinds)].filter((kind) => kind !== 'title').sort(),
});
show('read-only', await again.write('x').catch(({ code, message }) => [code, message]));
again.detach();

// Input over the same.
await terminal.write('cat > typed; echo sto"r"ed\n');
const lines = Array.from({ length: 100 }, (_, index) => `${index} ${'x'.repeat(1000)}\n`);
const written = lines.map((line, index) => {
  if (index === 20) acts.push(act('kill'));
  return terminal.write(line);
});
await written[30];
cut();
const more = lines.map((line) => terminal.write(line));
await more[50];
acts.push(act('upgrade'));
await Promise.all([...written, ...more, ...acts]);
await terminal.write('\x04');
await read(terminal, (_, shown) => shown.includes('stored'));
show('input', readFileSync(join(directory, 'typed'), 'utf8') === lines.join('').repeat(2));

// Input whose arrival cannot be known, because another client has typed too.
const other = await direct.orThrow.terminals.attach('work');
await terminal.write('cat > /dev/null\n');
proxy.isDeaf = true;
const isLost = new Promise((resolve) => {
  // Other frames of the client are shorter than the input, whose header may come alone.
  proxy.lose = (data) => data.length >= 1000 && resolve();
});
const doubtful = terminal.write('y'.repeat(1000));
await isLost;
await other.write(`${'z'.repeat(2000)}\n`);
cut();
proxy.isDeaf = false;
const { error } = await read(terminal, ({ type }) => type === 'error');
show('in doubt', [error.code, error.data.bytes, await doubtful.catch(({ code }) => code)]);
await other.write('\x04');

// What clients of one terminal see of each other.
// The job itself sets the title, so that it is in the foreground when the signal comes.
await other.write(`sh -c 'printf "\\033]0;name\\007"; exec sleep 100'\n`);
show('title', (await read(terminal, ({ type }) => type === 'title')).title);
other.resize(90, 20);
const { cols, rows } = await read(terminal, ({ type }) => type === 'resize');
show('resized', [cols, rows]);
await terminal.signal();
show('exec', (await terminal.exec('cd /tmp && pwd')).data.output);
show('screen', (await terminal.screen({ wait_for: '/tmp' })).data.matched);
const seen = [];
terminal.restore();
const restored = await read(terminal, ({ type }) => type === 'restore', seen);
show('restored', [restored.text.includes('/tmp'), seen.filter(({ type }) => type === 'away').length]);
show('renamed', (await terminals.rename('work', 'Work of two')).data.name);
show('listed', Object.keys((await terminals.list()).data.sessions));

// A reader that does not read.
const slow = await direct.orThrow.terminals.attach('work', { offset: bytes, readOnly: true });
await terminal.write('clear; seq 1 500000; echo al""l\n');
await read(terminal, (_, shown) => shown.includes('all\r\n'));
other.detach();
while ((await terminals.get('work')).data.attached > 1) await new Promise((resolve) => setTimeout(resolve, 50));
const slowEvents = [];
await read(slow, (_, shown) => shown.includes('all\r\n'), slowEvents);
const away = slowEvents.findIndex(({ type }) => type === 'away');
const before = slowEvents.slice(0, away).reduce((sum, event) => sum + (event.bytes?.length ?? 0), 0);
const slowText = slowEvents.map((event) => (event.type === 'output' ? event.text : '')).join('');
show('slow', [before < 1_500_000, slowText.replaceAll('\r', '').includes(numbers(1, 500_000))]);

await terminal.write('exit 3\n');
show('end', [await terminal.wait(), await terminal.wait(), (await slow.wait()).exitCode]);
show('written too late', await terminal.write('x').catch(({ code }) => code));
const unnamed = await terminals.open({ cwd: '/' });
show('unnamed', (await terminals.get(unnamed.id)).data.retention);
unnamed.detach();
show('left', await unnamed.write('x').catch(({ code }) => code));
await unnamed.close();
show('closed', codeOf(await box.terminals.get(unnamed.id))[0]);
process.stdin.destroy();
server.close();
cut();
