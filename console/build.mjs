/** Builds the console page, one file with its style and its script in it: `node console/build.mjs`. Plain Node 18. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const target = join(folder, 'dist/console.html');
const stamp = `${target}.stamp`;
const terminalStyle = join(folder, '../node_modules/@xterm/xterm/css/xterm.css');

/** Builds when a source or a package has changed, and returns the page's path. */
export function buildConsole(bun) {
  const print = fingerprint();
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === print) return target;
  mkdirSync(dirname(target), { recursive: true });
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, page(bundle(bun), style()));
  renameSync(draft, target);
  writeFileSync(stamp, print);
  return target;
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

function bundle(bun) {
  const args = ['build', '--target=browser', '--minify', join(folder, 'src/main.ts')];
  const { status, stdout, stderr } = spawnSync(bun, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`bun build failed for the console:\n${stderr}`);
  // Where the text of the script would end the element that it is in.
  return stdout.trim().replaceAll('</script', '<\\/script');
}

function style() {
  return `${readFileSync(terminalStyle, 'utf8')}\n${readFileSync(join(folder, 'page.css'), 'utf8')}`;
}

/** Nothing but this script runs in the page, and it speaks with its own daemon alone; the terminal makes styles as it draws. */
function page(script, style) {
  const digest = createHash('sha256').update(script).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${digest}'`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    'img-src data:',
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
