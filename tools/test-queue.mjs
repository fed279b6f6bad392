/** Runs the test files of several tiers in parallel, and starts a tier while the previous tier's last files run. */
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { failuresIn, shownLines } from './failures.mjs';
import { bunPath, repositoryRoot } from './repository.mjs';

/** How many of the files that mostly wait run beside the others. */
const waitingPlaces = [1, 2];

export class TestQueue {
  #tiers;
  #files;
  #waitingFiles;
  #prepared = new Map();
  #total = { passed: 0, failed: 0, reports: [], figures: {} };
  #ended = 0;
  #count;
  #root;
  #print;
  #env = {};

  /**
   * @param {{name: string, files: string[], waitingFiles?: string[], env?: Record<string, string>, before?:
   * string[][]}[]} tiers `waitingFiles` use little processor time and wait long: two of them at a time run beside the
   * others.
   * @param {{root?: string, print?: (text: string) => void}} [options] `root`: the directory of the files, where
   * `before` also runs
   */
  constructor(tiers, { root = repositoryRoot, print = console.log } = {}) {
    this.#tiers = tiers;
    this.#root = root;
    this.#print = print;
    this.#files = tiers.flatMap((tier) => tier.files.map((file) => ({ tier, file })));
    this.#waitingFiles = tiers.flatMap((tier) => (tier.waitingFiles ?? []).map((file) => ({ tier, file })));
    this.#count = this.#files.length + this.#waitingFiles.length;
    const empty = tiers.filter(({ files, waitingFiles = [] }) => files.length + waitingFiles.length === 0);
    for (const { name } of empty) this.#fail(name, 'it has no tests');
  }

  /**
   * @param {number} filesAtOnce
   * @param {Record<string, string>} [env] the variables of each file, besides those of its tier
   * @returns {Promise<{passed: number, failed: number, reports: string[], figures: Record<string, number>}>} `reports` has
   * a text for each failure; `figures` are the sums of what the tests have counted.
   */
  async run(filesAtOnce, env = {}) {
    this.#env = env;
    const workers = Array.from({ length: filesAtOnce }, (_, index) => index + 1);
    const anyFile = () => this.#files.shift() ?? this.#waitingFiles.shift();
    await Promise.all([
      this.#prepareAll(),
      ...workers.map((place) => this.#work(place, anyFile)),
      ...waitingPlaces.map((place) => this.#work(filesAtOnce + place, () => this.#waitingFiles.shift())),
    ]);
    return this.#total;
  }

  /** Runs one file after the other. `place` distinguishes files that run at the same time. */
  async #work(place, nextFile) {
    for (let next = nextFile(); next; next = nextFile()) {
      if (await this.#isPrepared(next.tier)) await this.#runFile(next, place);
      else this.#ended += 1;
    }
  }

  async #isPrepared({ before = [] }) {
    const made = await Promise.all(before.map((command) => this.#prepared.get(command.join(' '))));
    return made.every(Boolean);
  }

  /**
   * A command that several tiers need runs once, and these commands run one after another. Tests without such a need
   * run meanwhile.
   */
  async #prepareAll() {
    const commands = this.#tiers.flatMap(({ name, before = [] }) => before.map((command) => ({ name, command })));
    let last = Promise.resolve();
    for (const { name, command } of commands) {
      const key = command.join(' ');
      if (this.#prepared.has(key)) continue;
      last = last.then(() => this.#prepare(name, command));
      this.#prepared.set(key, last);
    }
    await last;
  }

  async #prepare(tier, command) {
    const { status, output } = await this.#collect(process.execPath, command, {
      onOutput: (text) => this.#print(text.trimEnd()),
    });
    if (status !== 0) this.#fail(tier, `${command.join(' ')} failed`, output.trimEnd().split('\n').slice(-shownLines));
    return status === 0;
  }

  async #runFile({ tier, file }, place) {
    // The number lets test files that run at the same time choose different accounts (test/harness/test-account.ts).
    const env = { ...this.#env, ...tier.env, JEST_WORKER_ID: String(place) };
    const startedMs = performance.now();
    const { status, output } = await this.#collect(bunPath(), ['test', `./${file}`], { env });
    const [passed, failed, skipped] = ['pass', 'fail', 'skip'].map((word) => count(output, word));
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    this.#ended += 1;
    const counts = `${passed} passed${failed > 0 ? `, ${failed} failed` : ''}${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    this.#print(`[${this.#ended}/${this.#count}] ${basename(file, '.test.ts')} ${seconds} s, ${counts} (${tier.name})`);
    if (status !== 0) this.#print(output.replace(/^bun test v.*\n+/, '').trimEnd());
    else for (const line of output.split('\n').filter((text) => text.startsWith('(skip)'))) this.#print(`  ${line}`);
    this.#total.passed += passed;
    this.#total.failed += failed;
    addFigures(this.#total.figures, output);
    if (passed + failed + skipped === 0) this.#fail(tier.name, `no test ran in ${file}`);
    else if (status !== 0 && failed === 0) this.#fail(tier.name, `the runner of ${file} ended with ${status}`);
    for (const failure of failuresIn(output))
      this.#total.reports.push([`-- ${tier.name}: ${failure.file}: ${failure.title}`, ...failure.lines].join('\n'));
  }

  /** A problem outside a test counts as one failure, so that the total never hides it. */
  #fail(tier, what, lines = []) {
    this.#print(`${tier}: ${what}`);
    this.#total.failed += 1;
    this.#total.reports.push([`-- ${tier}: ${what}`, ...lines].join('\n'));
  }

  /** Runs a program to its end. Returns all its output, which is also passed to `onOutput` as it arrives. */
  #collect(program, args, { env = {}, onOutput = () => {} } = {}) {
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        cwd: this.#root,
        env: { ...process.env, NO_COLOR: '1', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk) => {
          output += chunk;
          onOutput(chunk);
        });
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ status: code ?? signal, output }));
    });
  }
}

/** A test prints what it has counted with `test/harness/figures.ts`. */
function addFigures(sums, output) {
  for (const [line] of output.matchAll(/^\{"figures":.*\}$/gm))
    for (const [name, value] of Object.entries(JSON.parse(line).figures)) sums[name] = (sums[name] ?? 0) + value;
}

/** Bun ends a run with lines such as ` 12 pass`. A test may print such a line too, so the last one counts. */
function count(output, word) {
  const lines = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))];
  return Number(lines.at(-1)?.[1] ?? 0);
}
