/** Runs the import rules of .dependency-cruiser.cjs, and fails if the checker saw too few files. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { binary, bunPath, repositoryRoot } from '../repository.mjs';

const sources = 'daemon/src';
const roots = [sources, 'console/src', 'clients/typescript/src', 'test', 'bench'];

/**
 * Lists the files without the checker, so that a checker that misses files is noticed.
 * @returns {string[]}
 */
export function typescriptFiles(root, folder = sources) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : typescriptFiles(root, path);
      return entry.name.endsWith('.ts') ? [path] : [];
    })
    .sort();
}

/**
 * The checker's report on one tree.
 * @returns {{modules: {source: string}[], summary: {violations: {rule: {name: string}, from: string, to: string}[]}}}
 */
export function cruise(root) {
  const present = roots.filter((folder) => typescriptFiles(root, folder).length > 0);
  const run = spawnSync(
    bunPath(),
    [
      binary('dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      join(repositoryRoot, '.dependency-cruiser.cjs'),
      '--output-type',
      'json',
      ...present,
    ],
    { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
  );
  try {
    return JSON.parse(run.stdout);
  } catch {
    // The checker prints its own failures as plain text.
    throw new Error(`the import checker did not run:\n${run.stdout}${run.stderr}`);
  }
}

/**
 * One line per broken rule, and one line when the report covers fewer files than exist.
 * @param {ReturnType<typeof cruise>} report
 * @param {string[]} expected
 */
export function judge(report, expected) {
  const seen = new Set(report.modules.map((module) => module.source));
  const unseen = expected.filter((file) => !seen.has(file));
  const broken = report.summary.violations.map(
    (violation) => `${violation.rule.name}: ${violation.from} -> ${violation.to}`,
  );
  if (expected.length === 0) broken.push(`nothing to check: no .ts file under ${sources}`);
  if (unseen.length > 0) {
    broken.push(
      `the checker saw ${expected.length - unseen.length} of ${expected.length} files and missed ${unseen.slice(0, 3).join(', ')}: ` +
        'it cannot read this version of TypeScript, or the rules exclude them',
    );
  }
  return { seen: expected.length - unseen.length, broken: [...new Set(broken)].sort() };
}

function main() {
  const rootFlag = process.argv.indexOf('--root');
  const root = rootFlag === -1 ? repositoryRoot : resolve(process.argv[rootFlag + 1] ?? '.');
  const expected = typescriptFiles(root);
  const { seen, broken } = judge(cruise(root), expected);
  for (const line of broken) console.log(line);
  console.log(`${seen} of ${expected.length} modules checked, ${broken.length} violations`);
  return broken.length === 0 ? 0 : 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = main();
