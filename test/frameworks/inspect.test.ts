/** The suite that Inspect AI publishes for sandbox environments, on the adapter and the built file. */
import { beforeAll } from 'bun:test';
import { expect, test } from '../harness/sandbox.ts';
import { besideFrameworks, keepResult, needFramework, passSuite, rounds, suites } from './environment.ts';
import { showFigures } from '../harness/figures.ts';
import { whileKilled } from '../harness/while-killed.ts';

const framework = 'inspect';

beforeAll(() => {
  needFramework(framework);
});

test(
  'FRAME-SUITES Inspect AI passes its own suite as a whole',
  async ({ sandbox }) => {
    await passSuite(framework, sandbox);
    keepResult(framework, {
      framework: 'Inspect AI',
      packages: ['inspect-ai'],
      suite: '`self_check` of inspect-ai',
      passed: suites[framework].tests,
    });
  },
  besideFrameworks(),
);

for (let round = 1; round <= rounds; round++) {
  test(
    `FRAME-KILLS Inspect AI passes its own suite while the daemon is killed, round ${round}`,
    async ({ sandbox }) => {
      const [, kills] = await whileKilled(sandbox, () => passSuite(framework, sandbox));
      expect(kills).toBeGreaterThan(0);
      showFigures({ tests: suites[framework].tests, kills });
    },
    besideFrameworks(),
  );
}
