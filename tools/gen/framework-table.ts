/** Makes the table of docs/guide/frameworks.md from the results that the tests of `test/frameworks` keep. */

/** What `keepResult` of test/frameworks/environment.ts writes. */
export interface FrameworkResult {
  readonly framework: string;
  readonly suite: string;
  readonly passed: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly skipped: Readonly<Record<string, string>>;
}

export function frameworkTable(results: readonly FrameworkResult[]): string {
  const rows = results.map(({ framework, suite, passed, versions, skipped }) => {
    const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
    const cells = [framework, packages.join(', '), suite, `${passed} of ${passed}`, skips(skipped)];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| framework | versions | tests | passed | the suite skips |', '|---|---|---|---|---|', ...rows].join('\n');
}

function skips(skipped: FrameworkResult['skipped']): string {
  const all = Object.entries(skipped).map(([test, reason]) => `\`${test}\`: ${reason}`);
  return all.length === 0 ? 'none' : all.join('; ');
}
