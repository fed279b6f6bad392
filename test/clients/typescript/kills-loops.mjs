/**
 * What a client promises, again and again, beside kills of the daemon that it does not know of. Also a page loads this
 * module, so it uses nothing of a runtime.
 */

const text = new TextDecoder();

/**
 * Repeats every task for `seconds`, all at once, and returns how often each one was done. A promise that breaks throws.
 * A task that fails with what `isRefused` accepts is left, and the next one begins.
 */
export async function loops(box, directory, seconds, isRefused = (_error) => false) {
  const { commands, files, terminals } = box.orThrow;
  const at = (name) => `${directory}/${name}`;
  const endsAt = Date.now() + seconds * 1000;
  const marked = (name, script) => `echo ${name} >> ${at(name)}; ${script}`;
  const isOnce = async (name) => same((await files.read(at(name))).data.content, `${name}\n`);

  const tasks = {
    async run(name, turn) {
      const { data } = await commands.run(marked(name, `echo ${name}; sleep 0.1; exit ${turn % 200}`));
      same([data.exit_code, data.stdout], [turn % 200, `${name}\n`]);
      await isOnce(name);
    },
    async output(name, turn) {
      const script = marked(name, `seq 1 20000; echo ${name} >&2; sleep 0.5; seq 20001 40000; exit ${turn % 200}`);
      const seen = { stdout: [], stderr: [] };
      let code;
      for await (const event of await commands.start(script))
        if (event.type === 'exit') code = event.exitCode;
        else if (event.type === 'gap') throw new Error(`a gap: ${JSON.stringify(event)}`);
        else seen[event.type].push(event.text);
      same([code, seen.stderr.join('')], [turn % 200, `${name}\n`]);
      same(seen.stdout.join(''), numbers(40_000));
      await isOnce(name);
    },
    async input(name) {
      const cat = await commands.start({ command: marked(name, 'cat'), stdin: 'pipe' });
      const content = randomBytes(300_000);
      for (let from = 0; from < content.length; from += 100_000)
        await cat.write(content.subarray(from, from + 100_000));
      await cat.closeStdin();
      const pieces = [];
      for await (const event of cat) if (event.type === 'stdout') pieces.push(event.bytes);
      sameBytes(joined(pieces), content);
      await isOnce(name);
    },
    async file(name) {
      const content = randomBytes(2_000_000);
      await files.upload(content, at('content'));
      const down = await files.download(at('content'));
      sameBytes(await down.bytes(), content);
      await files.write(at('words'), name);
      same((await files.read(at('words'))).data.content, name);
      // Not repeated where it may have been done, so it is there once, or the caller has heard of the doubt.
      const appended = await box.files.write(at(name), `${name}\n`, { append: true });
      if (appended.ok) await isOnce(name);
      else if (!appended.error.isMaybeDone) throw appended.error;
    },
    async terminal(name, turn) {
      terminal ??= await terminals.open({ id: `of-${directory.split('/').at(-1)}`, cols: 200, env: { HISTFILE: '' } });
      await terminal.write(`${marked(name, `echo $((${turn} * 7)) e''nd-${name}.`)}\n`);
      let shown = '';
      for await (const event of terminal) {
        if (event.type === 'gap') throw new Error(`a gap: ${JSON.stringify(event)}`);
        if (event.type === 'output') shown += event.text;
        if (shown.includes(`end-${name}.`)) break;
      }
      same(shown.split(`${turn * 7} end-${name}.`).length, 2);
      await isOnce(name);
    },
  };
  let terminal;

  const done = {};
  const failures = [];
  await Promise.all(
    Object.entries(tasks).map(async ([kind, task]) => {
      done[kind] = 0;
      for (let turn = 0; Date.now() < endsAt && failures.length === 0; turn++)
        try {
          await task(`once-${kind}-${turn}`, turn);
          done[kind]++;
        } catch (error) {
          if (!isRefused(error)) failures.push(`${kind} ${turn}: ${error?.code ?? ''} ${error?.stack ?? error}`);
        }
    }),
  );
  terminal?.detach();
  if (failures.length > 0) throw new Error(failures.join('\n'));
  return done;
}

function same(got, wanted) {
  const [one, other] = [got, wanted].map((value) => JSON.stringify(value));
  if (one !== other)
    throw new Error(`got ${one.slice(0, 300)} (${one.length}), not ${other.slice(0, 300)} (${other.length})`);
}

function sameBytes(got, wanted) {
  const at = wanted.findIndex((byte, index) => byte !== got[index]);
  if (at !== -1 || got.length !== wanted.length)
    throw new Error(
      `${got.length} bytes, not ${wanted.length}; the first difference is at ${at}: ${text.decode(got.slice(at, at + 20))}`,
    );
}

function numbers(count) {
  return Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');
}

function joined(pieces) {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}

/** Bytes of every value, for which `getRandomValues` has a limit. */
function randomBytes(count) {
  const block = crypto.getRandomValues(new Uint8Array(50_000));
  return Uint8Array.from({ length: count }, (_, index) => block[index % block.length] ^ (index >> 12));
}
