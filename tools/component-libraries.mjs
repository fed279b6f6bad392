/**
 * Installs the component libraries of `test/fixtures/component-libraries/package.json` and bundles the demo pages beside it.
 * Answers the directory with the bundles: `<page>.js`, and `<page>.css` where the page has styles of its own.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from './make-once.mjs';
import { repositoryRoot } from './repository.mjs';
import { SetupError } from './setup.mjs';

const folder = join(repositoryRoot, 'test/fixtures/component-libraries');
const directory = join(repositoryRoot, 'node_modules/.cache/component-libraries');
/** Files that are not pages of their own. */
const besidePages = ['jquery.ts', 'ui5-components.ts', 'package.json'];
const assets = ['.woff', '.woff2', '.ttf', '.eot', '.svg', '.png', '.gif'];

/** The names of the pages. */
export const componentPages = readdirSync(folder)
  .filter((file) => !besidePages.includes(file))
  .map((file) => file.replace(/\.tsx?$/, ''));

/** Needs Bun, whose bundler reads the sources of all these libraries. */
export async function bundleComponentPages() {
  const manifest = join(folder, 'package.json');
  await makeOnce(directory, readFileSync(manifest, 'utf8'), () => {
    console.log(`setup: npm install (test/fixtures/component-libraries/package.json, 2.4 GB in ${directory})`);
    mkdirSync(directory, { recursive: true });
    copyFileSync(manifest, join(directory, 'package.json'));
    // The libraries name different versions of React as peers, and all of them work with the one that is pinned.
    const args = ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-package-lock', '--no-audit', '--no-fund'];
    const { status } = spawnSync('npm', [...args, '--loglevel=error'], { cwd: directory, stdio: 'inherit' });
    if (status !== 0) throw new SetupError('npm install of the component libraries failed; its own message is above');
  });
  const pages = join(directory, 'pages');
  const bundles = join(directory, 'bundles');
  for (const place of [pages, bundles]) rmSync(place, { recursive: true, force: true });
  cpSync(folder, pages, { recursive: true }); // Beside the packages, where the imports find them.
  for (const file of readdirSync(pages).filter((name) => !besidePages.includes(name)))
    await bundle(join(pages, file), bundles);
  return bundles;
}

async function bundle(entrypoint, outdir) {
  await Bun.build({
    entrypoints: [entrypoint],
    outdir,
    target: 'browser',
    naming: '[name].[ext]',
    define: {
      'process.env': '{}',
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    jsx: { runtime: 'automatic', development: false },
    loader: Object.fromEntries(assets.map((extension) => [extension, 'dataurl'])),
  });
}
