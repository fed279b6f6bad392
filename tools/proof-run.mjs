/** Runs the parts of a proof one after another, and keeps what each has shown. */
import { SetupError } from './setup.mjs';

/**
 * `--seed N` and the names of parts, in any order.
 * @param {string[]} args
 * @returns {{seed?: number, words: string[]}}
 */
export function readProofArguments(args) {
  const at = args.indexOf('--seed');
  if (at === -1) return { words: args };
  const seed = Number(args[at + 1]);
  if (!Number.isSafeInteger(seed) || seed < 1 || seed >= 2 ** 31)
    throw new SetupError(`--seed ${args[at + 1] ?? ''} is not a number from 1 to ${2 ** 31 - 1}`);
  return { seed, words: [...args.slice(0, at), ...args.slice(at + 2)] };
}

/**
 * The parts whose name contains one of the words; all of them without a word.
 * @template {{name: string}} Part
 * @param {Part[]} parts
 * @param {string[]} words
 */
export function chosenParts(parts, words) {
  const names = parts.map(({ name }) => name);
  const unknown = words.filter((word) => !names.some((name) => name.includes(word)));
  if (unknown.length > 0)
    throw new SetupError(`no part is called ${unknown.join(', ')}; there are: ${names.join(', ')}`);
  return words.length === 0 ? parts : parts.filter(({ name }) => words.some((word) => name.includes(word)));
}

export class ProofRun {
  #runTests;
  #runCommand;
  #print;
  /** What an earlier part has made, for example the built file. */
  #made = new Set();

  /**
   * @param {{runTests: (tier: object) => Promise<{passed: number, failed: number, reports: string[], figures: object}>,
   * runCommand: (command: string[], env: object) => boolean, print?: (text: string) => void}} deps
   */
  constructor({ runTests, runCommand, print = console.log }) {
    this.#runTests = runTests;
    this.#runCommand = runCommand;
    this.#print = print;
  }

  /**
   * A part that fails does not stop the others.
   * @returns {Promise<{rows: {name: string, proves: string, seconds: number, passed: number, figures: Record<string,
   * number>}[], reports: string[], passed: number, failed: number}>}
   */
  async all(parts, env) {
    const rows = [];
    const total = { reports: [], passed: 0, failed: 0 };
    for (const part of parts) {
      const startedMs = performance.now();
      const { passed, failed, reports, figures } = await this.#run(part, env);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      const { name, proves } = part;
      this.#print(`== ${name}: ${seconds} s, ${passed} passed, ${failed} failed, ${JSON.stringify(figures)}\n`);
      rows.push({ name, proves, seconds, passed, figures });
      total.reports.push(...reports);
      total.passed += passed;
      total.failed += failed;
    }
    return { ...total, rows };
  }

  async #run({ command, ...part }, env) {
    if (command) {
      const isPassed = this.#runCommand(command, env);
      const reports = isPassed ? [] : [`-- ${part.name}: ${command.join(' ')} failed`];
      return { passed: isPassed ? 1 : 0, failed: isPassed ? 0 : 1, reports, figures: {} };
    }
    const { before = [] } = part;
    const needed = before.filter((made) => !this.#made.has(made.join(' ')));
    const total = await this.#runTests({ ...part, env: { ...part.env, ...env }, before: needed });
    if (total.failed === 0) for (const made of before) this.#made.add(made.join(' '));
    return total;
  }
}
