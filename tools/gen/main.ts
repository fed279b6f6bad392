/** Writes the generated files and sections of documents that are committed. With --check it only compares. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  describeAgentSandbox,
  describeBrowserTools,
  describeE2b,
  describeSurface,
  describeTools,
  surfaceNames,
} from '../../daemon/src/api.ts';
import { clientVerbs } from '../../daemon/src/cli/index.ts';
import { localPages } from '../../daemon/src/cli/local-pages.ts';
import { describeSettings } from '../../daemon/src/config.ts';
import { localTerminal } from '../../daemon/src/platform/terminal/local-terminal.ts';
import { referenceOfAgentSandbox, type AgentSandboxCalls } from './agent-sandbox-calls.ts';
import { typesOfOperations } from './answer-types.ts';
import { benchRun, benchSentence, benchTables } from './bench-tables.ts';
import { referenceOfCalls, type CallTable } from './e2b-calls.ts';
import { frameworkTable, type FrameworkResult } from './framework-table.ts';
import { manualOf } from './manual.ts';
import { generatedMessages } from './messages.ts';
import { withSection } from './marked-section.ts';
import { proofTable, type ProofResults } from './proof-table.ts';
import { pythonClient } from './python/client.ts';
import { referenceOfRoutes, referenceOfSettings } from './reference.ts';
import { routeList } from './route-list.ts';
import { withVersion } from './version.ts';

const root = dirname(dirname(import.meta.dirname));
const isCheck = process.argv.includes('--check');

const files = new Map<string, string>([['spec/config.json', asJson(describeSettings())]]);
files.set('spec/mcp-tools.json', asJson(await describeTools()));
files.set('spec/browser-mcp-tools.json', asJson(await describeBrowserTools()));
files.set('docs/reference/settings.md', referenceOfSettings(describeSettings()));
const nowhere = { places: () => [], request: async () => null, requestStop: async () => null };
const verbs = clientVerbs({ upgrade: nowhere, stop: nowhere, terminal: localTerminal });
files.set('docs/boxkeep.1', manualOf({ ...localPages, ...verbs }));
for (const surface of surfaceNames) {
  const document = await describeSurface(surface);
  files.set(`spec/${surface}.json`, asJson(document));
  files.set(`docs/reference/${surface}.md`, referenceOfRoutes(document));
  files.set(`daemon/src/assets/tables/routes-${surface}.txt`, routeList(document));
  if (surface === 'v2') {
    files.set('clients/typescript/src/wire.ts', typesOfOperations(document));
    for (const [path, content] of pythonClient(document)) files.set(path, content);
  }
}

// An archive of the package needs the file, and would keep a link as a link.
files.set('clients/python/LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8'));

const { version } = JSON.parse(readFileSync(join(root, 'daemon/package.json'), 'utf8')) as { version: string };
for (const path of [
  ...['package-lock.json', 'clients/typescript/package.json'],
  ...new Bun.Glob('deploy/kubernetes/**/*.yaml').scanSync(root),
])
  files.set(path, withVersion(readFileSync(join(root, path), 'utf8'), version));

const e2b = await describeE2b();
files.set('spec/e2b.json', asJson(e2b));
files.set('docs/reference/e2b-routes.md', referenceOfRoutes(e2b));
const calls = readFileSync(join(root, 'test/clients/e2b/results.json'), 'utf8');
files.set('docs/reference/e2b.md', referenceOfCalls(JSON.parse(calls) as CallTable));

const agentSandbox = await describeAgentSandbox();
files.set('spec/agent-sandbox.json', asJson(agentSandbox));
files.set('docs/reference/agent-sandbox-routes.md', referenceOfRoutes(agentSandbox));
const agentSandboxCalls = readFileSync(join(root, 'test/clients/agent-sandbox/results.json'), 'utf8');
files.set(
  'docs/reference/agent-sandbox.md',
  referenceOfAgentSandbox(JSON.parse(agentSandboxCalls) as AgentSandboxCalls),
);
for (const [path, content] of generatedMessages('daemon/src/surfaces/agent-sandbox/wire', ['process.proto']))
  files.set(path, content);
for (const [path, content] of generatedMessages('daemon/src/surfaces/e2b/wire', ['process.proto', 'filesystem.proto']))
  files.set(path, content);

const run = benchRun(readFileSync(join(root, 'bench/results/latest.json'), 'utf8'));
setSection('bench/README.md', benchTables(run));
setSection('README.md', benchSentence(run));
setSection('docs/guide/frameworks.md', frameworkTable(frameworkResults()));
setSection('docs/proof.md', proofTable(JSON.parse(current('test/soak/proof.json') ?? 'null') as ProofResults | null));

const stale = [...files].filter(([path, content]) => current(path) !== content).map(([path]) => path);
if (!isCheck) {
  for (const path of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), files.get(path) ?? '');
    console.log(`wrote ${path}`);
  }
} else if (stale.length > 0) {
  console.error(`out of date: ${stale.join(', ')}; run npm run gen and commit what it changes`);
  process.exitCode = 1;
}

/** In the order of the names of their files. */
function frameworkResults(): FrameworkResult[] {
  const folder = join(root, 'test/frameworks/results');
  const names = readdirSync(folder).toSorted();
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as FrameworkResult);
}

/** The rest of the document is written by hand. */
function setSection(path: string, content: string): void {
  files.set(path, withSection(path, readFileSync(join(root, path), 'utf8'), content));
}

function current(path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
