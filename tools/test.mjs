/** `npm test`: every tier of tests, from the repository itself to the built binary, and one total at the end. */
import { cpus } from 'node:os';
import { runTiers } from './run-tiers.mjs';
import { runTool, setup } from './setup.mjs';
import { filesOf, tiers } from './test-tiers.mjs';

/**
 * One file per core, and two files that mostly wait. More would save minutes, but tests would miss their time limits.
 * Without long tests there is room for two more.
 */
const filesAtOnce = (isShort) => Math.min(cpus().length, 8) + (isShort ? 2 : 0);

await runTool(async () => {
  const wanted = process.argv.slice(2);
  const chosen = tiers.filter(({ name, onlyByName, exceptWithAll }) =>
    wanted.length === 0
      ? !onlyByName
      : wanted.some((word) => (word === '--all' ? !exceptWithAll : name.includes(word))),
  );
  if (chosen.length === 0) {
    console.error(`no tier is called ${wanted.join(' ')}; there are: ${tiers.map(({ name }) => name).join(', ')}`);
    return 1;
  }
  await setup({ compiler: true });
  const hasBinary = chosen.some(({ name }) => name === 'conformance on binary');
  const withFiles = chosen.map((tier) => ({ ...tier, ...filesOf(tier, hasBinary) }));
  const { passed, failed, reports } = await runTiers(withFiles, filesAtOnce(wanted.length === 0));
  if (reports.length > 0) console.log(`\n== what failed\n${reports.join('\n')}\n`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
