/**
 * `npm run capacity`: how many idle sandboxes a machine holds, and how fast it starts them. Needs root.
 *
 * `npm run capacity -- 200 8` starts 200 daemons, eight at a time, each in a network namespace of its own, waits until
 * they rest, and prints memory, processor time and the rate of starts.
 */
import { spawn } from 'node:child_process';
import { cpus, totalmem, tmpdir } from 'node:os';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repositoryRoot } from './repository.mjs';
import { runTool, SetupError } from './setup.mjs';

const binary = join(repositoryRoot, 'dist/boxkeep');
/** A daemon returns the memory of its start 10 to 20 s after its last request. */
const restMs = 40_000;
const idleMs = 30_000;
const ticksPerSecond = 100;
const startLimitMs = 120_000;

/** The time of each start in milliseconds, until the daemon says that it serves. */
async function startAll(sandboxes, count, atOnce, folder) {
  const times = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const directory = join(folder, String(next++));
      mkdirSync(directory);
      const startedMs = performance.now();
      sandboxes.push(await start(directory));
      times.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return times;
}

/** In a namespace of its own, so that each daemon has the same port, as in a pod. */
function start(directory) {
  const flags = ['start', '--host', '127.0.0.1', '--port', '8080', '--runtime-dir', join(directory, 'runtime')];
  const script = 'ip link set lo up && exec "$@"';
  const child = spawn('unshare', ['--net', 'sh', '-c', script, 'sh', binary, ...flags], {
    ...{ cwd: directory, stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env.PATH, HOME: directory } },
  });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new SetupError(`no daemon within ${startLimitMs} ms`)), startLimitMs);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      const pid = /"message":"serving".*?"pid":(\d+)/.exec(output)?.[1];
      if (!pid) return;
      clearTimeout(late);
      child.stdout.removeAllListeners('data').resume();
      resolve({ child, daemon: Number(pid) });
    });
    child.on('exit', (code) => reject(new SetupError(`a daemon ended with ${code}: ${output}`)));
  });
}

function stop({ child }) {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.removeAllListeners('exit').on('exit', resolve).kill('SIGTERM');
  });
}

function report(sandboxes, freeBefore) {
  const daemons = sandboxes.map(({ daemon }) => daemon);
  const inits = sandboxes.map(({ child }) => child.pid);
  const keepers = inits.flatMap(childrenOf).filter((pid) => !daemons.includes(pid));
  for (const [name, pids] of Object.entries({ daemons, inits, keepers })) {
    const rows = pids.map(memory);
    const each = (key) => (rows.reduce((sum, row) => sum + row[key], 0) / rows.length / 1024).toFixed(1);
    console.log(
      `${name}: ${pids.length}; each RSS ${each('Rss')} MiB, PSS ${each('Pss')} MiB, private ${each('Private')} MiB`,
    );
  }
  const used = (freeBefore - available()) / 1024 / sandboxes.length;
  console.log(`memory of the machine: ${used.toFixed(1)} MiB for each sandbox (MemAvailable before and after)`);
}

async function reportIdle(sandboxes) {
  const ticks = () =>
    sandboxes
      .flatMap(({ child, daemon }) => [child.pid, daemon])
      .map(cpuTicks)
      .reduce((a, b) => a + b);
  const before = ticks();
  await sleep(idleMs);
  const used = (ticks() - before) / ticksPerSecond / (idleMs / 1000);
  console.log(`processor time of all when idle: ${(used * 100).toFixed(1)} % of a core`);
}

const share = (values, part) => Math.round(values.toSorted((a, b) => a - b)[Math.floor(part * (values.length - 1))]);
const available = () => Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]);

/** In KiB. */
function memory(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return { Rss: of('Rss'), Pss: of('Pss'), Private: of('Private_Clean') + of('Private_Dirty') };
}

function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter((word) => word.trim() !== '')
    .map(Number);
}

function cpuTicks(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

await runTool(async () => {
  const [count = 200, atOnce = 8] = process.argv.slice(2).map(Number);
  if (process.getuid?.() !== 0) throw new SetupError('network namespaces need root');
  if (!existsSync(binary)) throw new SetupError('dist/boxkeep is missing: npm run build');
  const folder = mkdtempSync(join(tmpdir(), 'boxkeep-capacity-'));
  const sandboxes = [];
  try {
    const freeBefore = available();
    const startedMs = performance.now();
    const times = await startAll(sandboxes, count, atOnce, folder);
    const seconds = (performance.now() - startedMs) / 1000;
    console.log(`machine: ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB; ${count} daemons`);
    console.log(
      `starts: ${(count / seconds).toFixed(1)}/s, ${atOnce} at a time; p50 ${share(times, 0.5)} ms, p99 ${share(times, 0.99)} ms`,
    );
    await sleep(restMs);
    report(sandboxes, freeBefore);
    await reportIdle(sandboxes);
  } finally {
    await Promise.all(sandboxes.map(stop));
    rmSync(folder, { recursive: true, force: true });
  }
  return 0;
});
