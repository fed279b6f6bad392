/** What the client promises for commands. The test kills the daemon whenever a line `kill` is printed. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';

const [module, address, key, directory, servers, untrusted] = process.argv.slice(2);
const { BoxError, Sandbox } = await import(module);
const show = (name, value) => console.log(JSON.stringify([name, value]));
const ended = ({ status, exitCode, signal }) => [status, exitCode, signal];
const box = await Sandbox.connect(address, key);
const { commands } = box.orThrow;
const sha256 = (pieces) => pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest('hex');
const codeOf = async (work) => {
  try {
    return await work();
  } catch (error) {
    return error instanceof BoxError ? [error.code, error.status, error.message] : [error.name];
  }
};

const run = await box.commands.run('printf out; printf err >&2; exit 3');
show('run', [run.body.data.exit_code, run.body.data.stdout, run.body.data.stderr]);
const refused = await box.commands.run({ command: 'true', cwd: '/none' });
show('refused', [refused.error.code, refused.error.retryable, refused.error.data.errno_name]);
show('thrown', await codeOf(() => commands.run({ command: '' })));
show('field', (await box.commands.run({ command: '' })).error.errors[0].location);
show('wrong key', await codeOf(() => Sandbox.connect(address, 'wrong')));
show('no key', await codeOf(() => Sandbox.connect(address)));
show('not a key', await codeOf(() => Sandbox.connect(address, 'a\nb')));
show('closed port', await codeOf(() => Sandbox.connect('127.0.0.1:1', null, { retryMs: 50 })));
show('key in the address', await codeOf(() => Sandbox.connect(`${address}?api_key=x`)));
show('not an address', await codeOf(() => Sandbox.connect('http://')));
show('not a host', await codeOf(() => Sandbox.connect('http://a%20b')));
show('another scheme', await codeOf(() => Sandbox.connect('ftp://127.0.0.1')));
show('unknown host', await codeOf(() => Sandbox.connect('nowhere.invalid', null, { retryMs: 50 })));
show('untrusted', await codeOf(() => Sandbox.connect(untrusted, key, { retryMs: 50 })));
show('no TLS', await codeOf(() => Sandbox.connect(address.replace('http', 'https'), key, { retryMs: 50 })));
show('another server', await codeOf(() => Sandbox.connect(`${servers}/other`, key)));
show('elsewhere', await codeOf(() => Sandbox.connect(`${servers}/away`, key)));
show(
  'key is shown',
  [inspect(box, { depth: 9, showHidden: true }), JSON.stringify(box), inspect(refused, { depth: 9 })].some((text) =>
    text.includes(key),
  ),
);

const cat = await commands.start({ command: 'cat; exit 4', stdin: 'pipe' });
await cat.write('é'.repeat(100_000));
await cat.write(new Uint8Array([0, 255]));
await cat.closeStdin();
const pieces = [];
for await (const event of cat) if (event.type === 'stdout') pieces.push(event.bytes);
show('input', [
  sha256(pieces) === sha256([Buffer.from('é'.repeat(100_000)), Buffer.from([0, 255])]),
  ended(await cat.wait()),
]);
show('written too late', await codeOf(() => cat.write('x')));

// A daemon that dies while its output is read.
const long = await commands.start('seq 1 300000; echo é >&2; sleep 1; seq 300001 400000');
const texts = { stdout: [], stderr: [] };
let kills = 0;
let ending;
for await (const event of long) {
  if (event.type === 'exit') ending = ended(event);
  else if (event.type === 'gap') show('gap', event);
  else texts[event.type].push(event.text);
  if (kills < 2 && texts.stdout.join('').length > 500_000 * (kills + 1)) show('kill', kills++);
}
const numbers = Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`).join('');
show('followed', [texts.stdout.join('') === numbers, texts.stderr.join(''), ending]);

// A daemon that dies while a call waits: the repeat finds the command.
const once = join(directory, 'once');
const waiting = commands.run(`echo begun >> ${once}; sleep 1; echo ended >> ${once}; echo done; exit 5`);
while (!exists(once)) await new Promise((resolve) => setTimeout(resolve, 5));
show('kill', 2);
const { data } = await waiting;
show('once', [data.exit_code, data.stdout, data.replayed, readFileSync(once, 'utf8')]);

// An answer that breaks off, a refusal of a proxy that names a date, and one that asks for a second.
const fragile = new Sandbox(`${servers}/fragile`, { key });
const begunAt = performance.now();
const lost = await fragile.orThrow.commands.run(`echo line >> ${once}.more; cat ${once}.more`);
show('lost', [lost.data.stdout, lost.data.replayed, performance.now() - begunAt >= 1000]);

const interrupted = await new Sandbox(`${servers}/gap`).orThrow.commands.connect('x');
const seen = [];
for await (const event of interrupted)
  seen.push(
    event.type === 'exit' ? 'exit' : event.type === 'gap' ? [event.from, event.to] : [event.offset, event.text],
  );
show('gap', seen);

// What may have had its effect is not repeated, and a daemon that stays away is given up.
const cut = new Sandbox(`${servers}/cut`, { key }).orThrow.files;
show('broken off', (await codeOf(() => cut.write(`${once}.cut`, 'x', { append: true })))[0]);
show('not repeated', readFileSync(`${once}.cut`, 'utf8'));
const gone = new Sandbox(`${servers}/gone`, { retryMs: 50 });
show('away', await codeOf(() => gone.orThrow.info()));

const minute = { command: 'sleep 60', command_id: 'stopped' };
show('run stopped', await codeOf(() => commands.run(minute, { signal: AbortSignal.timeout(50) })));
const sleeping = await commands.start('sleep 60');
show('stopped', await codeOf(() => sleeping.wait({ signal: AbortSignal.timeout(50) })));
show('goes on', (await commands.list({ status: 'running' })).data.commands.length);
await sleeping.kill('SIGKILL');
show('killed', ended(await sleeping.wait()));
await commands.kill('stopped', 'SIGKILL');
show('killed by name', ended(await (await commands.connect('stopped')).wait()));
const again = await commands.connect(long.id, { stdout: numbers.length - 7 });
const rest = [];
for await (const event of again) rest.push(event.type === 'exit' ? event.exitCode : event.text);
show('connected', rest.sort());
show('listed', (await commands.list({ status: 'running' })).data.commands.length);

const { cursor } = (await box.orThrow.call('operations.activity', { query: { limit: 1 } })).data;
await commands.run({ command: 'exit 7', command_id: 'seen' });
const happened = [];
for await (const { kind, subject, exit_code: code } of box.activity({ cursor })) {
  happened.push([kind, subject, code]);
  if (kind === 'ended') break;
}
show('activity', happened);

function exists(path) {
  try {
    return readFileSync(path, 'utf8') !== '';
  } catch {
    return false;
  }
}
