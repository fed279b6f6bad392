/**
 * Installs the clients of MCP that tests drive: `node tools/mcp-clients.mjs`.
 *
 * The packages are pinned in `test/clients/mcp/package.json`. They run with a Node that `tools/nodes.mjs` installs.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { runTool, SetupError } from './setup.mjs';

const manifest = join(repositoryRoot, 'test/clients/mcp/package.json');
const directory = join(repositoryRoot, 'node_modules/.cache/mcp-clients');

export async function provideMcpClients() {
  await makeOnce(directory, readFileSync(manifest, 'utf8'), () => {
    console.log(`setup: npm install (test/clients/mcp/package.json, into ${directory})`);
    mkdirSync(directory, { recursive: true });
    copyFileSync(manifest, join(directory, 'package.json'));
    // The engines of the packages are met by the Node that runs them, not by the Node that installs them.
    const args = ['install', '--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, error } = spawnSync('npm', args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
    if (error) throw new SetupError(`npm could not be started: ${error.message}`);
    if (status !== 0) throw new SetupError('npm install of the MCP clients failed; its own message is above');
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runTool(async () => {
    await provideMcpClients();
    return 0;
  });
}
