/** Failures of a daemon and of the way to it, as a caller hears of them. */
const [module, address, key, directory, servers] = process.argv.slice(2);
const { Sandbox } = await import(module);
const show = (name, value) => console.log(JSON.stringify([name, value]));
const box = await Sandbox.connect(address, key);
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
