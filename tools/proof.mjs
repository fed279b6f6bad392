/**
 * `npm run proof [-- --seed N] [-- part …]`: proves the promises under load, faults and generated input, in an hour.
 *
 * The parts run one after another, and a part that fails does not stop the others. Names select the parts that contain
 * them. A run of all parts without a failure is kept for `docs/proof.md`.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { circumstances } from './machine.mjs';
import { parts } from './proof-parts.mjs';
import { chosenParts, ProofRun, readProofArguments } from './proof-run.mjs';
import { bunPath, repositoryRoot } from './repository.mjs';
import { runTiers } from './run-tiers.mjs';
import { runTool, setup } from './setup.mjs';

await runTool(async () => {
  const { seed = randomInt(1, 2 ** 31), words } = readProofArguments(process.argv.slice(2));
  const chosen = chosenParts(parts, words);
  console.log(`proof: seed ${seed}; ${chosen.map(({ name }) => name).join(', ')}`);
  await setup({ compiler: true });
  const run = new ProofRun({ runTests, runCommand });
  const { rows, reports, passed, failed } = await run.all(chosen, { BOXKEEP_SEED: String(seed) });
  if (reports.length > 0) console.log(`\n== what failed, with --seed ${seed}\n${reports.join('\n')}\n`);
  if (failed === 0 && words.length === 0) keep({ ...circumstances(), seed, rows });
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});

function runTests(tier) {
  return runTiers([tier], tier.filesAtOnce ?? Math.min(cpus().length, 8));
}

function runCommand(command, env) {
  const { status } = spawnSync(process.execPath, command, {
    cwd: repositoryRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  return status === 0;
}

/** `npm run gen` writes the table of the document from these results. */
function keep(results) {
  writeFileSync(join(repositoryRoot, 'test/soak/proof.json'), `${JSON.stringify(results, null, 2)}\n`);
  spawnSync(bunPath(), ['tools/gen/main.ts'], { cwd: repositoryRoot, stdio: 'inherit' });
}
