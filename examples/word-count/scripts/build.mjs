/** Joins the sources into one program, build/word-count.mjs, and has Node check it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';

const parts = ['src/count.mjs', 'src/cli.mjs'];
const target = 'build/word-count.mjs';

const read = (path) => {
  const source = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  console.log(`read ${path}: ${source.split('\n').length - 1} lines`);
  // In one file the parts see each other, so what passed between them goes away.
  return source.replace(/^import .* from '\.\/.*';\n/gm, '').replace(/^export /gm, '');
};

const output = new URL(`../${target}`, import.meta.url);
mkdirSync(new URL('.', output), { recursive: true });
writeFileSync(output, `#!/usr/bin/env node\n${parts.map(read).join('\n')}`);
chmodSync(output, 0o755);
execFileSync(process.execPath, ['--check', output.pathname], { stdio: 'inherit' });
console.log(`wrote ${target}: ${statSync(output).size} bytes`);
