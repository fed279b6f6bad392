/**
 * `npm run soak`: runs many thousand commands through one daemon, and fails when the daemon leaks.
 *
 * Memory, descriptors and processes count. `npm run soak -- mixed [seconds]` uses every plane at once in 256 MiB, and
 * fails at a lost byte, a 500 or a death. `npm run soak -- frameworks [rounds]` repeats the suites of frameworks for
 * agents while the daemon is killed every 1.1 seconds. `npm run soak -- kills [seconds]` runs all clients at once for 30
 * minutes while it is killed every three seconds. `npm run soak -- console [seconds]` watches an agent in all views of
 * the console for 30 minutes while it is killed every minute. `npm run soak -- chaos [seconds]` makes one fault after
 * another beside two clients for 20 minutes. `npm run soak -- faults [rounds [file …]]` repeats the tests of everything
 * that was once found broken, or the files that are named, beside four busy processes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { longerTests } from './longer-tests.mjs';
import { repositoryRoot } from './repository.mjs';
import { runTiers } from './run-tiers.mjs';
import { runTool, SetupError } from './setup.mjs';

const clients = 16;
const samples = 20;
/** The caches of the runtime and the 512 kept records of ended commands fill up during these samples. */
const warmSamples = 8;

/** The allowed growth per `per` commands, measured by the line through all samples after the warm ones. */
const budgets = { rssMib: 1, descriptors: 0.5, processes: 0.5, directories: 8 };
const per = 10_000;

/**
 * Between two collections garbage moves the resident memory by up to 20 MiB, and one reading at the end of each sample
 * could turn that into a slope. The memory of a sample is therefore the mean of readings at every hundredth command.
 */
const lookEvery = 100;

/** The daemon, and the keeper that waits for the next command. */
const idleProcesses = 2;

/** Tests of kinds of faults: attacks, real use, the edges of accounts and machines. */
const faultTests = Object.entries({
  promises: `
    10-hostile-http2 10-large-answers 10-large-searches 10-many 7-large-bodies 7-survives-its-users 9-key`,
  conformance: `
    adopted bad-archives bad-input browser-answers browser-clobbered browser-editors browser-failures browser-fields
    browser-keys browser-places browser-snapshot browser-snapshot-parts browser-waits cli-https code-endings
    code-hostile code-isolation code-limits code-sessions command-answers command-verbs commands download encodings
    error-codes failed-upgrade file-answers file-edit file-failures file-grep file-links file-races file-search
    frames-fuzz gateway hostile-clients http-edges identity key-file lifecycle limits-of-the-machine mcp-description
    mcp-hostile mcp-tools mcp-upstreams misspelt-calls origins parser-fuzz removed survival terminal-bad-input
    terminal-exec terminal-screen terminal-start-up text-form tree tree-failures upload v1-editor`,
}).flatMap(([folder, names]) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `test/${folder}/${name}.test.ts`),
);

const binary = join(repositoryRoot, 'dist/boxkeep');

await runTool(async () => {
  if (!existsSync(binary)) throw new SetupError('dist/boxkeep is missing: npm run build');
  const [, , what, count, ...files] = process.argv;
  if (Object.hasOwn(longerTests, what ?? '')) {
    const { path, variable, soak: usual } = longerTests[what];
    return await test(path, { [variable]: String(countOf(count, usual)) });
  }
  if (what === 'faults') return await faults(countOf(count, 20), files.length > 0 ? files : faultTests);
  const commands = countOf(what, 100_000);
  const directory = mkdtempSync(join(tmpdir(), 'boxkeep-soak-'));
  const daemon = await start(directory);
  try {
    const rows = await soak(daemon, commands);
    return judge(rows.slice(warmSamples)) ? 0 : 1;
  } finally {
    daemon.init.kill('SIGTERM');
    await once(daemon.init, 'exit');
    rmSync(directory, { recursive: true });
  }
});

/** An argument as a number. Anything else would run nothing, and nothing fails. */
function countOf(text, usual) {
  const count = Number(text ?? usual);
  if (Number.isInteger(count) && count > 0) return count;
  throw new SetupError(`"${text}" must be a whole number above 0; the first lines of tools/soak.mjs name the runs`);
}

/** A test that runs for longer. It needs root. */
async function test(path, more) {
  const run = spawn(join(repositoryRoot, 'node_modules/.bin/bun'), ['test', path], {
    cwd: repositoryRoot,
    stdio: 'inherit',
    env: { ...process.env, BOXKEEP_TARGET: 'binary', ...more },
  });
  const [code] = await once(run, 'exit');
  return code ?? 1;
}

/** Four files at once, because tests wait more than they work. */
async function faults(rounds, files) {
  const busy = Array.from({ length: 4 }, () => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }));
  try {
    const tiers = Array.from({ length: rounds }, (_, round) => ({
      name: `round ${round + 1}`,
      files,
      env: { BOXKEEP_TARGET: 'binary' },
    }));
    const { passed, failed, reports } = await runTiers(tiers, 4);
    console.log([...reports, `${passed} passed, ${failed} failed in ${rounds} rounds`].join('\n'));
    return failed === 0 ? 0 : 1;
  } finally {
    for (const process of busy) process.kill();
  }
}

async function start(directory) {
  const runtime = join(directory, 'runtime');
  const init = spawn(binary, ['start', '--port', '0', '--runtime-dir', runtime, '--log-level', 'info'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  const serving = await new Promise((resolve, reject) => {
    init.once('exit', (code) => reject(new SetupError(`the daemon ended with ${code}`)));
    createInterface(init.stdout).on('line', (line) => {
      const entry = JSON.parse(line);
      if (entry.message === 'serving') resolve(entry);
      if (entry.level === 'error') reject(new SetupError(line));
    });
  });
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  return { init, runtime, pid: serving.pid, url: serving.url, agent };
}

async function soak(daemon, commands) {
  console.log(
    `${'commands'.padStart(10)} ${Object.keys(budgets)
      .map((name) => name.padStart(12))
      .join('')} ${'per s'.padStart(8)}`,
  );
  const rows = [];
  for (let sample = 0; sample < samples; sample++) {
    const from = Math.round((commands / samples) * sample);
    const to = Math.round((commands / samples) * (sample + 1));
    const began = performance.now();
    const rssMib = await runAll(daemon, from, to);
    const row = { commands: to, rssMib, ...(await settled(daemon)) };
    rows.push(row);
    const rate = Math.round(((to - from) / (performance.now() - began)) * 1000);
    console.log(
      `${String(to).padStart(10)} ${Object.keys(budgets)
        .map((name) => row[name].toFixed(1).padStart(12))
        .join('')} ${String(rate).padStart(8)}`,
    );
  }
  return rows;
}

/**
 * Runs several clients at once, each with one command after the other. Returns the mean of the daemon's memory
 * meanwhile.
 */
async function runAll(daemon, from, to) {
  let next = from;
  const looks = [];
  const client = async () => {
    while (next < to) {
      if (next % lookEvery === 0) looks.push(rssMibOf(daemon.pid));
      await runOne(daemon, next++);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return mean([...looks, rssMibOf(daemon.pid)]);
}

/** Every kind of command that a client starts, with short ones most often. Each answer is checked. */
async function runOne(daemon, n) {
  const code = n % 200;
  if (n % 20 === 1) {
    const { command_id: id } = await post(daemon, '/v2/commands', { command: 'sleep 1000', mode: 'async' });
    await post(daemon, `/v2/commands/${id}/kill`, { signal: 'SIGKILL' });
    return expectLast(await ask(daemon, 'GET', `/v2/commands/${id}?stream=true`), '"exit_code":137');
  }
  if (n % 20 === 2) {
    const body = { command: 'cat; seq 1000', stdin: { data: `${n}` }, mode: 'async' };
    const { command_id: id } = await post(daemon, '/v2/commands', body);
    return expectLast(await ask(daemon, 'GET', `/v2/commands/${id}?stream=true`), '"exit_code":0');
  }
  const id = n % 20 === 3 ? { command_id: `soak-${n}` } : {};
  const result = await post(daemon, '/v2/commands', { command: `exit ${code}`, shell: 'sh', ...id });
  if (result.exit_code !== code) throw new Error(`exit ${code} was reported as ${JSON.stringify(result)}`);
}

async function post(daemon, path, body) {
  const text = await ask(daemon, 'POST', path, JSON.stringify(body));
  const { success, data } = JSON.parse(text);
  if (!success) throw new Error(`POST ${path}: ${text}`);
  return data;
}

function ask({ url, agent }, method, path, body = '') {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { method, agent, headers: { 'content-length': Buffer.byteLength(body) } });
    asked.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => (text += piece));
      response.on('end', () => resolve(text)).on('error', reject);
    });
    asked.end(body);
  });
}

function expectLast(stream, part) {
  const last = stream.trimEnd().split('\n').at(-1) ?? '';
  if (!last.includes('"type":"exit"') || !last.includes(part)) throw new Error(`the last line is ${last}`);
}

/** A keeper stays for a moment after its command, so this counts only when no more keepers leave. */
async function settled(daemon) {
  for (let looks = 0; looks < 100 && look(daemon).processes > idleProcesses; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return look(daemon);
}

function rssMibOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

function look({ init, pid, runtime }) {
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: readFileSync(`/proc/${init.pid}/task/${init.pid}/children`, 'utf8').trim().split(' ').length,
    directories: readdirSync(join(runtime, 'commands')).length,
  };
}

function judge(rows) {
  const slopes = Object.entries(budgets).map(([name, budget]) => {
    const slope = slopeOf(rows.map((row) => [row.commands, row[name]])) * per;
    const isKept = slope <= budget;
    console.log(`${isKept ? 'ok    ' : 'failed'} ${name}: ${slope.toFixed(2)} per ${per} commands, at most ${budget}`);
    return isKept;
  });
  return slopes.every(Boolean);
}

/** The slope of the least-squares line. */
function slopeOf(points) {
  const [x, y] = [0, 1].map((at) => mean(points.map((point) => point[at])));
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
