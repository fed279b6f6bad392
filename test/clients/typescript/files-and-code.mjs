/** Files and code through the client. The test kills the daemon whenever a line `kill` is printed. */
import { once } from 'node:events';
import { join } from 'node:path';

const [module, address, key, directory] = process.argv.slice(2);
const { Sandbox } = await import(module);
const show = (name, value) => console.log(JSON.stringify([name, value]));
const box = await Sandbox.connect(address, key);
const { files, code } = box.orThrow;
const at = (name) => join(directory, 'work', name);

await files.makeDirectory(join(directory, 'work'));
await files.write(at('a'), 'one\ntwo\n', { mode: '600' });
await files.write(at('a'), 'three\n', { append: true });
show('read', (await files.read(at('a'), { start_line: 1 })).data.content);
await files.edit(at('a'), { old_str: 'two', new_str: 'zwei' });
show('stat', [(await files.stat(at('a'))).data.mode, (await files.stat(at('a'))).data.size]);
await files.copy(at('a'), at('b'));
await files.move(at('b'), at('c'));
show('list', (await files.list(join(directory, 'work'))).data.files.map(({ name }) => name).sort());
show('search', (await files.search(join(directory, 'work'), '*c')).data.files.length);
show('grep', (await files.grep(join(directory, 'work'), 'zwei', { max_results: 1 })).data.matches.length);
await files.delete(at('c'));
const gone = await box.files.read(at('c'));
show('gone', [gone.error.code, gone.error.status, gone.error.data.errno_name]);
const kept = await box.files.write(at('a'), 'x', { if_none_match: '*' });
show('kept', [kept.error.code, kept.error.retryable]);
show('kill', 0);
// What waits for the daemon is repeated where a repeat has no second effect.
show('read again', (await files.read(at('a'))).data.content);
show('written again', (await files.write(at('d'), 'd')).ok ?? true);
// The daemon was killed and serves again. Connections to the dead one end with a call that is repeated.
await once(process.stdin, 'data');
process.stdin.destroy();
await box.waitUntilReady();

const run = await code.run('javascript', 'console.log([1, 2].map((x) => x * 2))');
show('run', [run.data.status, run.data.stdout]);
const session = await code.session({ language: 'python', id: 'kept' });
await session.run('x = 20');
const same = await code.session({ language: 'python', id: 'kept' });
show('session', (await same.run('print(x + 1)')).data.stdout);
const failed = await same.run('1 / 0');
show('failed', [failed.data.status, failed.data.outputs[0].ename]);
show('sessions', Object.keys((await code.list()).data.sessions));
await same.close();
const closed = await box.code.connect('kept');
show('closed', closed.error.code);
show('by name', (await box.call('files.stat', { query: { path: at('a') } })).body.data.size);
