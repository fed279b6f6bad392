/** The suite that Pydantic AI publishes for workspace backends, on the adapter and the built file. */
import { beforeAll } from 'bun:test';
import { expect, test } from '../harness/sandbox.ts';
import { besideFrameworks, keepResult, needFramework, passSuite, rounds, suites } from './environment.ts';
import { showFigures } from '../harness/figures.ts';
import { whileKilled } from '../harness/while-killed.ts';

const framework = 'pydantic-ai';

beforeAll(() => {
  needFramework(framework);
});

test(
  'FRAME-SUITES Pydantic AI passes its own suite as a whole',
  async ({ sandbox }) => {
    await passSuite(framework, sandbox);
    keepResult(framework, {
      framework: 'Pydantic AI',
      packages: ['pydantic-ai-slim'],
      suite: '`WorkspaceBackendSuite` of pydantic-ai-slim',
      passed: suites[framework].tests,
    });
  },
  besideFrameworks(),
);

for (let round = 1; round <= rounds; round++) {
  test(
    `FRAME-KILLS Pydantic AI passes its own suite while the daemon is killed, round ${round}`,
    async ({ sandbox }) => {
      const [, kills] = await whileKilled(sandbox, () => passSuite(framework, sandbox));
      expect(kills).toBeGreaterThan(0);
      showFigures({ tests: suites[framework].tests, kills });
    },
    besideFrameworks(),
  );
}
