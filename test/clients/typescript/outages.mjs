/** Failures of a daemon and of the way to it, as a caller hears of them. */
const [module, address, key, directory, servers] = process.argv.slice(2);
const { Sandbox } = await import(module);
const show = (name, value) => console.log(JSON.stringify([name, value]));
// Nothing that is set for other requests of the program ends a long answer, not even the limit of Node.
const dispatcher = Symbol.for('undici.globalDispatcher.1');
void new Headers();
if (globalThis[dispatcher]) globalThis[dispatcher] = new globalThis[dispatcher].constructor({ headersTimeout: 1000 });
const box = await Sandbox.connect(address, key);
const errorOf = ({ code, message }) => [code, message];
const silent = Sandbox.connect(`${servers}/silent`, key, { retryMs: 0 }).catch(errorOf);
const long = box.orThrow.code.run('python', 'import time; time.sleep(4); print("slept")');
const { commands } = box.orThrow;

const absent = await commands.start({ command: 'no-such-program', shell: 'none' });
show('absent', [absent.record.error.errno_name, (await absent.wait()).status]);
const waits = [];
const onAway = (error, sinceMs) => {
  waits.push(`${error.code} ${error.isMaybeDone} ${sinceMs >= 0}`);
  if (waits.length === 2) throw new Error('enough waits');
};
// Node refuses some ports, such as 1, by itself.
show('away', [await new Sandbox('127.0.0.1:2').info({ onAway }).catch(({ message }) => message), waits]);
// The answer of a call that is not repeated is lost, so its effect is unknown.
const lost = new Sandbox(`${servers}/cut`, { key });
const unknown = await lost.files.write(`${directory}/appended`, 'x', { append: true });
show('unknown', [unknown.error.code, unknown.error.isMaybeDone]);
const printed = await commands.start('echo x');
await printed.wait();
const again = await commands.connect(printed.id);
const late = [];
for await (const event of again.events({ from: again.ends })) late.push(event.type);
show('from the end', late);

// The address may be wrong, until a daemon has answered.
const begunMs = performance.now();
const nowhere = await Sandbox.connect('127.0.0.1:2', key).catch(({ code }) => code);
show('nowhere', [nowhere, performance.now() - begunMs < 20_000]);
show('silent', await silent);
const wrapped = new Sandbox(`${servers}/wrapped`, { key });
show('wrapped', [
  (await Sandbox.connect(`${servers}/wrapped`, key).catch(errorOf))[0],
  (await wrapped.files.read('a')).error.code,
  (await wrapped.commands.list()).error.code,
]);
const paged = await new Sandbox(`${servers}/paged`, { key }).orThrow.commands.connect('x');
show(
  'wrapped lines',
  await paged
    .events()
    .next()
    .catch(({ code }) => code),
);
show('no operation', [(await box.call('nope', {})).error.message, (await box.call('commands.read', {})).error.message]);
let heard = 0;
const lacking = await new Sandbox(`${servers}/lacking`, { key }).info({ onAway: () => heard++ });
show('lacking', [lacking.error.code, lacking.error.retryable, heard]);
await box.files.write(`${directory}/long`, 'x'.repeat(1000));
const lengthless = await new Sandbox(`${servers}/lengthless`, { key }).orThrow.files.download(`${directory}/long`);
show('no length', (await lengthless.bytes()).length);
show('long', (await long).data.stdout);
const cat = await commands.start({ command: 'cat', stdin: 'pipe' });
for (const bytes of [new ArrayBuffer(2), new Uint16Array([0x4141, 0x4242]), new DataView(new ArrayBuffer(4), 3)])
  await cat.write(bytes);
await cat.closeStdin();
const echoed = [];
for await (const event of cat) if (event.type === 'stdout') echoed.push(...event.bytes);
show('bytes', echoed);
