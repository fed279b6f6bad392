/** Runs the files of many tiers of tests, some at once: a tier begins while the last files of the one before still run. */
import { spawn } from 'node:child_process';
import { failuresIn } from './failures.mjs';
import { bunPath, repositoryRoot } from './repository.mjs';

const timeoutMs = 30_000;

export class TestQueue {
  #tiers;
  #files;
  #waitingFiles;
  #prepared = new Map();
  #total = { passed: 0, failed: 0, told: [] };
  #root;
  #print;

  /**
   * @param {{name: string, files: string[], waitingFiles?: string[], env?: Record<string, string>, before?: string[][]}[]} tiers
   * `waitingFiles` hardly work, but wait for long: one of them at a time runs beside the others.
   * @param {{root?: string, print?: (text: string) => void}} [options] `root`: where the files are, and `before` runs
   */
  constructor(tiers, { root = repositoryRoot, print = console.log } = {}) {
    this.#tiers = tiers;
    this.#root = root;
    this.#print = print;
    this.#files = tiers.flatMap((tier) => tier.files.map((file) => ({ tier, file })));
    this.#waitingFiles = tiers.flatMap((tier) => (tier.waitingFiles ?? []).map((file) => ({ tier, file })));
    const empty = tiers.filter(({ files, waitingFiles = [] }) => files.length + waitingFiles.length === 0);
    for (const { name } of empty) this.#fail(name, 'it has no tests');
  }

  /** @returns {Promise<{passed: number, failed: number, told: string[]}>} `told` has a text for each failure. */
  async run(filesAtOnce) {
    const workers = Array.from({ length: filesAtOnce }, (_, index) => index + 1);
    const anyFile = () => this.#files.shift() ?? this.#waitingFiles.shift();
    await Promise.all([
      this.#prepareAll(),
      ...workers.map((place) => this.#work(place, anyFile)),
      this.#work(filesAtOnce + 1, () => this.#waitingFiles.shift()),
    ]);
    return this.#total;
  }

  /** Runs one file after the other; `place` tells those that run at the same time apart. */
  async #work(place, nextFile) {
    for (let next = nextFile(); next; next = nextFile()) {
      if (await this.#isPrepared(next.tier)) await this.#runFile(next, place);
    }
  }

  async #isPrepared({ before = [] }) {
    const made = await Promise.all(before.map((command) => this.#prepared.get(command.join(' '))));
    return made.every(Boolean);
  }

  /** What several tiers need is made once, and nothing beside something else; tests that need none of it run meanwhile. */
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
    const { status } = await this.#collect(process.execPath, command, {
      onOutput: (text) => this.#print(text.trimEnd()),
    });
    if (status !== 0) this.#fail(tier, `${command.join(' ')} failed`);
    return status === 0;
  }

  async #runFile({ tier, file }, place) {
    // By this number test files that run at the same time choose different accounts (test/harness/test-account.ts).
    const env = { ...tier.env, JEST_WORKER_ID: String(place) };
    const { status, output } = await this.#collect(bunPath(), ['test', `./${file}`, `--timeout=${timeoutMs}`], { env });
    this.#print(`\n== ${tier.name}\n${output.replace(/^bun test v.*\n+/, '').trimEnd()}`);
    const [passed, failed, skipped] = ['pass', 'fail', 'skip'].map((word) => count(output, word));
    this.#total.passed += passed;
    this.#total.failed += failed;
    if (passed + failed + skipped === 0) this.#fail(tier.name, `no test ran in ${file}`);
    else if (status !== 0 && failed === 0) this.#fail(tier.name, `the runner of ${file} ended with ${status}`);
    for (const failure of failuresIn(output))
      this.#total.told.push([`-- ${tier.name}: ${failure.file}: ${failure.title}`, ...failure.lines].join('\n'));
  }

  /** What goes wrong outside a test counts as one failure, so that the total can never hide it. */
  #fail(tier, what) {
    this.#print(`${tier}: ${what}`);
    this.#total.failed += 1;
    this.#total.told.push(`-- ${tier}: ${what}`);
  }

  /** Runs a program to its end; answers all that it has printed, which `onOutput` is told as it comes. */
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

/** Bun ends a run with lines such as ` 12 pass`; a test may print one too, so the last one counts. */
function count(output, word) {
  const lines = [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))];
  return Number(lines.at(-1)?.[1] ?? 0);
}
