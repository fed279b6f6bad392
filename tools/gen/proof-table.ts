/** Makes the section of docs/proof.md from the results of the last `npm run proof` that passed. */

/** What `tools/proof.mjs` keeps. */
export interface ProofResults {
  readonly date: string;
  readonly commit: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memoryMib: number;
  readonly kernel: string;
  readonly seed: number;
  readonly rows: readonly {
    readonly name: string;
    readonly proves: string;
    readonly seconds: number;
    readonly passed: number;
    readonly figures: Readonly<Record<string, number>>;
  }[];
}

export function proofTable(results: ProofResults | null): string {
  if (results === null) return 'No run is recorded yet.';
  const { date, commit, seed, cores, cpu, memoryMib, kernel, rows } = results;
  const passed = rows.reduce((sum, row) => sum + row.passed, 0);
  const minutes = Math.round(rows.reduce((sum, row) => sum + row.seconds, 0) / 60);
  const cells = rows.map((row) => [
    row.name,
    row.proves,
    spent(row.seconds),
    figuresOf(row.figures),
    numbered(row.passed),
  ]);
  return [
    `All ${numbered(passed)} tests passed in ${minutes} minutes on ${date.slice(0, 10)}: commit ${commit}, seed ${seed}, ` +
      `${cores} cores, ${cpu}, ${numbered(memoryMib)} MiB of memory, Linux ${kernel}.`,
    '',
    '| part | what it proves | time | figures | tests passed |',
    '|---|---|---|---|---|',
    ...cells.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n');
}

function spent(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function figuresOf(figures: Readonly<Record<string, number>>): string {
  const all = Object.entries(figures);
  return all.map(([name, value]) => `${numbered(value)} ${name}`).join(', ');
}

/** Thousands are apart. */
function numbered(value: number): string {
  return value.toLocaleString('en').replaceAll(',', ' ');
}
