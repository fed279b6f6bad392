/** `npm run check`: runs every check that needs no running daemon, and prints one line per stage. */
import { spawnSync } from 'node:child_process';
import { binary, bunPath, repositoryRoot } from './repository.mjs';
import { runTool, setup, SetupError } from './setup.mjs';

const stages = [
  { name: 'types', run: [binary('typescript/bin/tsc'), '--project', '.'] },
  { name: 'page types', run: [binary('typescript/bin/tsc'), '--project', 'console'] },
  { name: 'client types', run: [binary('typescript/bin/tsc'), '--project', 'clients/typescript'] },
  { name: 'lint', run: [binary('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings'] },
  { name: 'format', run: [binary('oxfmt/bin/oxfmt'), '--check'] },
  { name: 'imports', run: ['tools/tidy/imports.mjs'], say: lastLine },
  { name: 'generated', run: ['tools/gen/main.ts', '--check'] },
  { name: 'sizes', run: ['tools/tidy/sizes.mjs'], show: true },
];

/** npm omits the programs of oxlint and oxfmt on an unsupported Node, although they run on Bun here. */
const oldestNode = [20, 19];

await runTool(async () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
    throw new SetupError(`npm run check needs Node ${oldestNode.join('.')} or newer; this is ${process.version}`);
  }
  await setup({ compiler: false });
  const failed = stages.filter((stage) => !passes(stage));
  console.log(failed.length === 0 ? 'check: ok' : `check: failed (${failed.map(({ name }) => name).join(', ')})`);
  return failed.length === 0 ? 0 : 1;
});

/** All stages run, so that one run shows every problem. */
function passes({ name, run, show = false, say = () => '' }) {
  const started = Date.now();
  const { status, stdout, stderr } = spawnSync(bunPath(), run, {
    cwd: repositoryRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const output = `${stdout}${stderr}`.trimEnd();
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(
    `${name.padEnd(10)} ${status === 0 ? 'ok' : 'failed'} ${seconds} s ${status === 0 ? say(output) : ''}`.trimEnd(),
  );
  if (status !== 0 || show) console.log(output.replaceAll(/^/gm, '  '));
  return status === 0;
}

function lastLine(output) {
  return output.split('\n').at(-1) ?? '';
}
