/**
 * Makes every call of the SDK of E2B, and prints one line of JSON for each: its name in the SDK for Python, and its
 * result.
 *
 * `node calls.mjs PACKAGES debug|url|create DIRECTORY GROUP...`, with the addresses in the variables that the SDK reads.
 */
import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , packages, way, place, ...groups] = process.argv;
const sdk = join(packages, 'node_modules/@e2b/code-interpreter/dist/index.mjs');
const { Sandbox } = await import(pathToFileURL(sdk).href);
const key = process.env.E2B_API_KEY;
const missing = 999_999;

/** What a process has printed. */
class Output {
  text = '';
  #came = Promise.withResolvers();
  add = (data) => {
    this.text += typeof data === 'string' ? data : Buffer.from(data).toString();
    this.#came.resolve();
  };
  async until(wanted) {
    for (; !this.text.includes(wanted); this.#came = Promise.withResolvers()) await this.#came.promise;
  }
}

const sandbox = await opened();
for (const group of groups) await { commands, files, code, control }[group]();
// oxlint-disable-next-line eslint/no-restricted-properties -- timers of the SDK keep the program alive for a minute
process.exit(0);

function opened() {
  if (way === 'debug') return Sandbox.create({ debug: true });
  if (way === 'create') return Sandbox.create({ envs: { GIVEN: '1' } });
  const tokens = { envdAccessToken: key, trafficAccessToken: key };
  return new Sandbox({ sandboxId: 'any', envdVersion: '0.6.13', ...tokens });
}

async function row(name, call) {
  const result = await (async () => call())().catch((error) => {
    if (error instanceof TypeError) return 'is not there'; // The SDK has no such call.
    const raised = `raises ${error.constructor.name.replace(/Error$/, '')}`;
    return error.exitCode === undefined ? raised : [raised, error.exitCode, error.stdout, error.stderr];
  });
  console.log(JSON.stringify([name, result ?? null]));
}

/** The result of a command that may be in the background. */
async function ended(started) {
  const { exitCode, stdout, stderr } = await started.then((handle) => handle.wait?.() ?? handle);
  return [exitCode, stdout, stderr];
}

async function commands() {
  const { commands, pty } = sandbox;
  const run = commands.run.bind(commands);
  await row('is_running', () => sandbox.isRunning());
  await row('commands.run', () => ended(run('echo out; echo err >&2')));
  await row('commands.run of a command that fails', () => run('echo kept; exit 3'));
  await row('commands.run with envs', () => ended(run('echo "$A $E2B_SANDBOX"', { envs: { A: '1' }, cwd: '/' })));
  await row('commands.run with cwd', () => ended(run('pwd', { cwd: '/usr' })));
  await row('commands.run in a missing directory', () => run('pwd', { cwd: '/none' }));
  await row('commands.run as an unknown user', () => run('true', { user: 'no-such-user' }));
  const both = new Output();
  await run('echo 1; echo 2; echo 3 >&2', { onStdout: both.add, onStderr: both.add });
  await row('commands.run with on_stdout and on_stderr', () => both.text.trim().split('\n').sort());
  const pieces = String.raw`printf 'caf\303'; sleep 0.1; printf '\251'`;
  await row('commands.run with a character in two pieces', () => ended(run(pieces)));
  const large = await run(String.raw`head -c 3000000 /dev/zero | tr '\0' x`);
  await row('commands.run with much output', () => large.stdout.length);
  await row('commands.run that reaches its timeout', () => run('sleep 0.5; echo; sleep 30', { timeoutMs: 1000 }));
  await row('commands.run with background', () => ended(run('echo out', { background: true })));

  const inBackground = (script, stdin) => run(script, { background: true, stdin });
  const reader = await inBackground('read line; echo $line; exit 5', true);
  const listed = (await commands.list()).filter(({ pid }) => pid === reader.pid);
  await row('commands.list', () => listed.map(({ args }) => args));
  await row('commands.send_stdin', () => commands.sendStdin(reader.pid, 'typed\n'));
  await row('handle.wait', () => reader.wait());
  const deaf = await inBackground('sleep 100', false);
  await row('commands.send_stdin without stdin', () => commands.sendStdin(deaf.pid, 'x'));
  await row('commands.send_stdin to a missing process', () => commands.sendStdin(missing, 'x'));
  await row('handle.disconnect', () => deaf.disconnect());
  await row('commands.kill', () => commands.kill(deaf.pid));
  await row('commands.kill of a process that has ended', () => commands.kill(reader.pid));
  await row('commands.kill of a missing process', () => commands.kill(missing));
  const cat = await inBackground('cat', true);
  await row('handle.send_stdin', () => cat.sendStdin('typed'));
  await row('commands.close_stdin', async () => (await commands.closeStdin(cat.pid)) ?? ended(Promise.resolve(cat)));
  const long = await inBackground('sleep 100', false);
  await row('handle.kill', () => long.kill());
  await row('handle.wait for a killed process', () => long.wait());
  await row('commands.stream_input', () => commands.streamInput(cat.pid));

  const sleeper = await run('echo begun; sleep 100', { background: true });
  const output = new Output();
  const again = await commands.connect(sleeper.pid, { onStdout: output.add });
  again.wait().catch(() => null); // Its exit code.
  await output.until('begun\n');
  await row('commands.connect', () => output.text);
  await commands.kill(sleeper.pid);
  await sleeper.wait().catch(() => null); // Its exit code.
  await row('commands.connect after the end', () => ended(commands.connect(sleeper.pid)));
  await row('commands.connect to a missing process', () => commands.connect(missing));

  const screen = new Output();
  const terminal = await pty.create({ cols: 100, rows: 30, cwd: '/', onData: screen.add });
  const typed = (text) => new TextEncoder().encode(text);
  await pty.sendInput(terminal.pid, typed('stty size; read x; stty size; exit 4\n'));
  await screen.until('30 100');
  await row('pty.create', () => '30 100');
  await row('pty.resize', () => pty.resize(terminal.pid, { cols: 50, rows: 20 }));
  await row('pty.send_stdin', () => pty.sendInput(terminal.pid, typed('\n')));
  await row('handle.wait for a terminal', () => terminal.wait());
  const replayed = new Output();
  const followed = await pty.connect(terminal.pid, { onData: replayed.add });
  followed.wait().catch(() => null); // Its exit code.
  await replayed.until('20 50');
  await row('pty.connect', () => '20 50');
  const killed = await pty.create({ cols: 80, rows: 24, onData: () => null });
  killed.wait().catch(() => null); // Its exit code.
  await row('pty.kill', () => pty.kill(killed.pid));
  await row('pty.kill of a terminal that has ended', () => pty.kill(terminal.pid));
  await row('pty.resize of a missing terminal', () => pty.resize(missing, { cols: 1, rows: 1 }));
}

async function files() {
  const { files } = sandbox;
  const at = (name) => `${place}/${name}`;
  const below = (value) => (typeof value === 'string' ? value.replace(place, '') : value);
  const entry = async (call, ...fields) => {
    const found = await call;
    const values = fields.map((field) => below(found[field]) ?? null);
    return values.length > 1 ? values : values[0];
  };
  const written = ['name', 'type', 'path'];
  await row('files.write', () => entry(files.write(at('deep/er/text'), 'café\n'), ...written));
  await row('files.read', () => files.read(at('deep/er/text')));
  const bytes = new Uint8Array([0, 255]).buffer;
  await row('files.write of bytes', () => entry(files.write(at('bytes'), bytes), ...written));
  const raw = [...(await files.read(at('bytes'), { format: 'bytes' }))];
  await row('files.read of bytes', () => raw);
  const stream = new Blob(['x'.repeat(3_000_000)]).stream();
  await row('files.write of a stream', () => entry(files.write(at('stream'), stream), ...written));
  await row('files.read as a stream', async () => length(await files.read(at('stream'), { format: 'stream' })));
  const several = ['one', 'two'].map((name) => ({ path: at(name), data: name }));
  const names = (await files.writeFiles(several)).map(({ name }) => name);
  await row('files.write_files', () => names);
  const zeros = 'z'.repeat(100_000);
  await row('files.write with gzip', () => entry(files.write(at('zip'), zeros, { gzip: true }), ...written));
  await row('files.read with gzip', async () => (await files.read(at('zip'), { gzip: true })).length);
  const noted = () => files.write(at('noted'), 'x', { metadata: { Author: 'me' } });
  await row('files.write with metadata', () => entry(noted(), 'metadata'));
  await row('files.get_info of a file with metadata', () => entry(files.getInfo(at('noted')), 'metadata'));
  await files.write(at('noted'), 'y');
  await row('files.get_info after a write without metadata', () => entry(files.getInfo(at('noted')), 'metadata'));
  await row('files.write below ~', () => entry(files.write('~/e2b-sent', 'x'), 'name'));
  await files.remove('~/e2b-sent');
  await row('files.write to a directory', () => files.write(place, 'x'));
  await row('files.write as an unknown user', () => files.write(at('x'), 'x', { user: 'no-such-user' }));
  await row('files.read of a missing file', () => files.read(at('none')));
  await row('files.read of a directory', () => files.read(place));

  await row('files.make_dir', () => files.makeDir(at('a/b')));
  await row('files.make_dir of a directory that exists', () => files.makeDir(at('a/b')));
  await row('files.make_dir over a file', () => files.makeDir(at('one')));
  await row('files.exists', () => files.exists(at('one')));
  await row('files.exists of a missing file', () => files.exists(at('none')));
  chmodSync(at('one'), 0o640);
  symlinkSync('../one', at('a/link'));
  symlinkSync('none', at('a/broken'));
  await row('files.get_info', () => entry(files.getInfo(at('one')), 'name', 'type', 'permissions', 'size'));
  const link = ['type', 'permissions', 'symlinkTarget'];
  await row('files.get_info of a link', () => entry(files.getInfo(at('a/link')), ...link));
  await row('files.get_info of a broken link', () => entry(files.getInfo(at('a/broken')), ...link));
  await row('files.get_info of a missing file', () => files.getInfo(at('none')));
  const listed = async (entries) => (await entries).map(({ path, type }) => [below(path), type]).sort();
  await row('files.list', () => listed(files.list(at('deep'))));
  await row('files.list with depth', () => listed(files.list(at('deep'), { depth: 2 })));
  await row('files.list of a file', () => files.list(at('one')));
  await row('files.list of a missing directory', () => files.list(at('none')));
  await row('files.rename', () => entry(files.rename(at('one'), at('c/two')), 'path'));
  await row('files.rename of a missing file', () => files.rename(at('none'), at('d')));
  await row('files.remove', () => files.remove(at('c')));
  await row('files.remove of a missing file', () => files.remove(at('c')));
  await row('files.watch_dir', () => watched({ recursive: true }));
  await row('files.watch_dir with include_entry', () => watched({ recursive: true, includeEntry: true }));
  await row('files.watch_dir of a missing directory', () => files.watchDir(at('none'), () => null));
  await row('files.watch_dir after its stop', async () => {
    const events = [];
    await (await files.watchDir(at('a'), (event) => void events.push(event.name))).stop();
    return events;
  });

  const expiring = (useSignatureExpiration) => sandbox.downloadUrl(at('sent'), { useSignatureExpiration });
  await row('upload_url', async () => fetched(await sandbox.uploadUrl(at('sent')), 'sent'));
  await row('download_url', async () => fetched(await sandbox.downloadUrl(at('sent'))));
  await row('download_url with an expiration', async () => fetched(await expiring(60)));
  await row('download_url that has expired', async () => fetched(await expiring(-60)));
}

async function length(stream) {
  let total = 0;
  for await (const piece of stream) total += piece.length;
  return total;
}

/** The events of a file that is made, moved, changed and removed. */
async function watched(options) {
  const events = [];
  let came = Promise.withResolvers();
  const handle = await sandbox.files.watchDir(
    `${place}/a`,
    ({ name, type, entry }) => {
      const [lastName, lastType] = events.at(-1) ?? [];
      if (name === lastName && type === lastType) return; // A file may be written in several steps.
      events.push([name, type, ...(entry ? [entry.name] : [])]);
      came.resolve();
    },
    options,
  );
  const until = async (name, kind) => {
    const has = () => events.some(([one, type]) => one === name && type === kind);
    for (; !has(); came = Promise.withResolvers()) await came.promise;
  };
  writeFileSync(`${place}/a/new`, 'x');
  await until('new', 'write');
  renameSync(`${place}/a/new`, `${place}/a/b/moved`);
  await until('b/moved', 'create');
  chmodSync(`${place}/a/b/moved`, 0o600);
  await until('b/moved', 'chmod');
  rmSync(`${place}/a/b/moved`);
  await until('b/moved', 'remove');
  await handle.stop();
  return events;
}

/** The status and the content of a URL that needs no SDK. */
async function fetched(url, body) {
  const headers = { 'content-type': 'application/octet-stream' };
  const answer = await fetch(url, body === undefined ? {} : { method: 'POST', body, headers });
  const text = await answer.text();
  return [answer.status, answer.ok && body === undefined ? text : null];
}

async function code() {
  const run = sandbox.runCode.bind(sandbox);
  const brief = async (call) => {
    const { text, logs, error } = await call;
    return [text ?? null, logs.stdout.join(''), logs.stderr.join(''), error ? [error.name, error.value] : null];
  };
  const text = async (call) => (await call).text ?? null;
  const error = async (call) => (await call).error.name;
  await row('run_code', () => brief(run('x = 20; x + 1')));
  await row('run_code in the same context', () => text(run('x')));
  await row('run_code of a string', () => text(run("'it is'")));
  const counts = [await run('1'), await run('2')].map(({ executionCount }) => executionCount);
  await row('run_code counts', () => counts[1] - counts[0]);
  await row('run_code that prints', () => brief(run("import sys; print('out'); print('err', file=sys.stderr)")));
  await row('run_code that raises', () => brief(run('1/0')));
  const seen = [];
  await run("import sys\nprint('a')\nprint('b', file=sys.stderr)\n2", {
    onStdout: ({ line }) => seen.push(line),
    onStderr: ({ line }) => seen.push(line),
    onResult: (result) => seen.push(result.text),
  });
  await run('1/0', { onError: ({ name }) => seen.push(name) });
  await row('run_code with on_stdout, on_stderr, on_result and on_error', () => seen.sort());
  await row('run_code with envs', () => text(run("import os; os.environ['LENT']", { envs: { LENT: '1' } })));
  await row('run_code in JavaScript', () => text(run('const y = 4; y * 2', { language: 'js' })));
  await row('run_code in an unknown language', () => run('1', { language: 'cobol' }));
  const html = await run("class H:\n  def _repr_html_(self): return '<b>h</b>'\nH()");
  await row('run_code with HTML', () => html.results.map((result) => result.html));
  const picture = await run("class P:\n  def _repr_png_(self): return b'\\x89PNG'\nP()");
  await row('run_code with a picture', () => picture.results[0].png.trim());
  await row('run_code that ends its interpreter', () => error(run('import os; os._exit(3)')));
  await row('run_code after that', () => text(run('2')));
  await row('run_code that reaches its timeout', () => run('import time; time.sleep(60)', { timeoutMs: 1000 }));
  await row('run_code after the timeout', () => text(run('3')));

  const context = await sandbox.createCodeContext({ cwd: place });
  await row('create_code_context', () => [context.language, context.cwd === place]);
  const inContext = `import os; z = 1; os.getcwd() == ${JSON.stringify(place)}`;
  await row('run_code with context', () => text(run(inContext, { context })));
  await row('run_code in another context', () => error(run('z')));
  await row('restart_code_context', () => sandbox.restartCodeContext(context));
  await row('run_code in a restarted context', () => error(run('z', { context })));
  const contexts = await sandbox.listCodeContexts();
  await row('list_code_contexts', () => contexts.at(-1).id === context.id);
  await row('remove_code_context', () => sandbox.removeCodeContext(context));
  await row('run_code in a removed context', () => run('1', { context }));
  await row('remove_code_context of a missing context', () => sandbox.removeCodeContext('none'));
  await row('restart_code_context of a missing context', () => sandbox.restartCodeContext('none'));
  await row('create_code_context in a missing directory', () => sandbox.createCodeContext({ cwd: '/none' }));
}

async function control() {
  const mine = sandbox.sandboxId;
  const run = (box, script) => ended(box.commands.run(script));
  await row('create with envs', () => run(sandbox, 'echo $GIVEN'));
  const given = async () => (await sandbox.runCode("import os; os.environ['GIVEN']")).text;
  await row('run_code with the envs of create', given);
  await row('create with a wrong key', () => Sandbox.create({ apiKey: 'e2b_0' }));
  const again = await Sandbox.connect(mine);
  await row('connect', () => run(again, 'echo again'));
  await row('connect to a missing sandbox', () => Sandbox.connect('another'));
  await row('set_timeout', () => sandbox.setTimeout(120_000));
  const info = await sandbox.getInfo();
  await row('get_info', () => [info.sandboxId === mine, info.state, info.endAt - info.startedAt > 100_000]);
  const boxes = await Sandbox.list().nextItems();
  await row('list', () => boxes.map(({ sandboxId }) => sandboxId === mine));
  await row('get_metrics', () => sandbox.getMetrics());
  await row('pause', () => sandbox.pause());
  await row('create_snapshot', () => sandbox.createSnapshot());
  const left = await sandbox.commands.run('sleep 100', { background: true });
  await row('kill', () => sandbox.kill());
  await row('handle.wait after the kill', () => left.wait());
  await row('commands.run after the kill', () => run(sandbox, 'echo on'));
}
