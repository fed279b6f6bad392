/** Builds the console page and the views that it loads on demand: `node console/build.mjs`. Plain Node 18. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const dist = join(folder, 'dist');
const stamp = join(dist, 'console.html.stamp');
const terminalStyle = join(folder, '../node_modules/@xterm/xterm/css/xterm.css');

/** Scripts that the page fetches when a person first opens the view, because a library makes them large. */
const loadedViews = { editor: 'src/files/editor.ts', terminal: 'src/terminal/terminal-page.ts' };

/** Builds when a source or a package has changed. */
export function buildConsole(bun) {
  const print = fingerprint();
  const targets = ['console.html', ...Object.keys(loadedViews).map(fileOf)];
  const isBuilt = targets.every((name) => existsSync(join(dist, name)));
  if (isBuilt && existsSync(stamp) && readFileSync(stamp, 'utf8') === print) return;
  mkdirSync(dist, { recursive: true });
  const views = Object.entries(loadedViews).map(([name, entry]) => [name, bundle(bun, entry, 'iife')]);
  for (const [name, script] of views) put(fileOf(name), script);
  const scripts = views.map(([, script]) => script);
  put('console.html', page(bundle(bun, 'src/main.ts', 'esm'), scripts, style()));
  writeFileSync(stamp, print);
}

/** The daemon's bundler takes a script for a module, and a text for a file. */
const fileOf = (view) => `${view}.js.txt`;

function put(name, content) {
  const draft = join(dist, `${name}.${process.pid}`);
  writeFileSync(draft, content);
  renameSync(draft, join(dist, name));
}

/** Content, not times: a fresh checkout has new times and the same page. */
function fingerprint() {
  const hash = createHash('sha256');
  const sources = ['src', '../clients/typescript/src'];
  const names = sources.flatMap((place) =>
    readdirSync(join(folder, place), { recursive: true }).map((name) => `${place}/${name}`),
  );
  const own = [...names, ...readdirSync(folder)]
    .filter((name) => /\.(ts|mjs|css|html)$/.test(name))
    .map((name) => join(folder, name));
  for (const path of [...own.sort(), join(folder, '../package-lock.json')]) {
    hash.update(path.slice(folder.length)).update('\0').update(readFileSync(path));
  }
  return hash.digest('hex');
}

function bundle(bun, entry, format) {
  const args = ['build', '--target=browser', `--format=${format}`, '--minify', join(folder, entry)];
  const { status, stdout, stderr } = spawnSync(bun, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`bun build failed for the console:\n${stderr}`);
  // Where the text of the script would end the element that it is in.
  return stdout.trim().replaceAll('</script', '<\\/script');
}

function style() {
  return `${readFileSync(terminalStyle, 'utf8')}\n${readFileSync(join(folder, 'page.css'), 'utf8')}`;
}

/** Only these scripts and this style apply in the page, and it speaks with its own daemon alone. */
function page(script, views, style) {
  const policy = [
    "default-src 'none'",
    `script-src ${[script, ...views].map(digestOf).join(' ')}`,
    `style-src ${digestOf(style)}`,
    "connect-src 'self'",
    'img-src data: blob:',
    'media-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const parts = { policy, style, script };
  return readFileSync(join(folder, 'page.html'), 'utf8').replaceAll(
    /%(policy|style|script)%/g,
    (_, name) => parts[name],
  );
}

function digestOf(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  buildConsole(join(folder, '../node_modules/.bin/bun'));
}
