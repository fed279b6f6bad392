/** Prints the ten largest handwritten files and functions, for information and not as a limit. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import typescript from 'typescript';
import { repositoryRoot } from '../repository.mjs';

const shown = 10;
const skipped = /(^|\/)node_modules$|^(\.git|dist|spec|native\/build|test\/contract|examples\/[^/]+\/build)$/;

function sources(folder = '') {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (skipped.test(path)) return [];
    if (entry.isDirectory()) return sources(path);
    return /\.(ts|mjs|cjs|c|h)$/.test(path) ? [path] : [];
  });
}

const lineCount = (text) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/** Functions with a body. Test files are skipped, because a test's callback belongs to its title. */
function functionsOf(path, text) {
  if (path.endsWith('.test.ts')) return [];
  if (/\.[ch]$/.test(path)) return cFunctions(path, text);
  const file = typescript.createSourceFile(path, text, typescript.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    if (typescript.isFunctionLike(node) && node.body) {
      const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
      const last = file.getLineAndCharacterOfPosition(node.end).line;
      const name = node.name?.getText(file) ?? node.parent?.name?.getText?.(file) ?? '(callback)';
      found.push({ lines: last - first + 1, what: `${path}:${first + 1} ${name}` });
    }
    typescript.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** A C function in this repository begins in the first column and ends with a brace there. */
function cFunctions(path, text) {
  const found = [];
  let first = 0;
  text.split('\n').forEach((line, index) => {
    if (/^[A-Za-z_].*\b\w+\(/.test(line) && !line.endsWith(';')) first = index + 1;
    if (line !== '}' || first === 0) return;
    const name = /(\w+)\(/.exec(text.split('\n')[first - 1])?.[1] ?? '';
    found.push({ lines: index + 2 - first, what: `${path}:${first} ${name}` });
    first = 0;
  });
  return found;
}

function print(title, rows) {
  console.log(title);
  const largest = rows.sort((a, b) => b.lines - a.lines).slice(0, shown);
  for (const { lines, what } of largest) console.log(`${String(lines).padStart(5)}  ${what}`);
}

const files = sources().map((path) => ({ path, text: readFileSync(join(repositoryRoot, path), 'utf8') }));
print(
  'largest files',
  files.map(({ path, text }) => ({ lines: lineCount(text), what: path })),
);
print(
  'largest functions',
  files.flatMap(({ path, text }) => functionsOf(path, text)),
);
