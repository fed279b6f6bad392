/** Which documents are pages of the site, and how they are grouped in its navigation. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { linksOf, sentenceOf, titleOf } from '../tools/documents.mjs';
import { repositoryRoot } from '../tools/repository.mjs';

/** In the order of the navigation. A document belongs to the first group that has its path or the folder it is in. */
const groups = [
  { name: 'Guides', paths: ['README.md', 'docs/guide'] },
  { name: 'Recipes', paths: ['docs/recipes'] },
  { name: 'Clients', paths: ['clients'] },
  { name: 'Reference', paths: ['docs/reference', 'docs/interface.md', 'docs/glossary.md'] },
  { name: 'Protocols', paths: ['docs/protocols'] },
  { name: 'Design', paths: ['ARCHITECTURE.md', 'docs/walks.md', 'native', 'console'] },
  { name: 'Decisions', paths: ['docs/decisions'] },
  { name: 'Project', paths: [''] },
];

/**
 * Every document of `docs/`, and every document that one of them or the README leads to.
 * @returns the documents, and the other files that they show or lead to
 */
export function readDocuments() {
  const documents = new Map();
  const files = new Set();
  const waiting = ['README.md', ...documentsIn('docs')];
  for (const path of waiting) {
    if (documents.has(path)) continue;
    const text = readFileSync(join(repositoryRoot, path), 'utf8');
    documents.set(path, { path, text, title: titleOf(text), sentence: sentenceOf(text), page: pageOf(path) });
    for (const link of linksOf(path, text)) {
      if (link.path.endsWith('.md')) waiting.push(link.path);
      else if (statSync(join(repositoryRoot, link.path)).isFile()) files.add(link.path);
    }
  }
  return { documents: [...documents.values(), ...folderPages([...documents.values()])], files: [...files] };
}

/** The README leads to folders of `docs/`. The page of a folder lists its documents. */
function folderPages(documents) {
  const folders = new Set(documents.map(({ path }) => posix.dirname(path)).filter((path) => path.startsWith('docs/')));
  return [...folders].map((folder) => {
    const inside = sorted(documents.filter(({ path }) => posix.dirname(path) === folder));
    const { name } = groups.find(({ paths }) => paths.includes(folder)) ?? { name: folder };
    const lines = inside.map(({ path, title, sentence }) => `- [${title}](${posix.basename(path)}): ${sentence}\n`);
    const path = `${folder}/index.md`;
    return { path, folder, text: `# ${name}\n\n${lines.join('')}`, title: name, sentence: '', page: pageOf(path) };
  });
}

/** The groups with their documents, without the pages of folders. */
export function grouped(documents) {
  const isIn = ({ path }, start) => start === '' || path === start || path.startsWith(`${start}/`);
  const groupOf = (document) => groups.find(({ paths }) => paths.some((start) => isIn(document, start)));
  const readable = documents.filter(({ folder }) => folder === undefined);
  return groups.map((group) => ({
    name: group.name,
    documents: sorted(readable.filter((document) => groupOf(document) === group)),
  }));
}

/** Numbered documents stand in their order, others by their title, and the README first. */
function sorted(documents) {
  const key = ({ path, title }) =>
    path === 'README.md' ? '' : (/\/(\d{4})-/.exec(path)?.[1] ?? title.toLowerCase().replace('`', ''));
  return [...documents].sort((one, other) => key(one).localeCompare(key(other), 'en'));
}

function documentsIn(folder) {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return documentsIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** A README is the index of its folder, as on a code host. */
function pageOf(path) {
  return path.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html');
}

/** The address of a file of the site in one of its pages. */
export function addressFrom(page, file) {
  return posix.relative(posix.dirname(page), file);
}
