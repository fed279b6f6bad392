/** The frame of a page: navigation, text and style, without a script. */
import { posix } from 'node:path';
import { addressFrom } from '../documents.mjs';

export function render({ content, document, groups }) {
  const { title, sentence, page, path } = document;
  const to = (target) => addressFrom(page, target);
  const entry = (other) =>
    `<li><a href="${to(other.page)}"${other.path === path ? ' aria-current="page"' : ''}>${escaped(other.title)}</a></li>`;
  const group = ({ name, documents }) => {
    const isOpen =
      documents.some((other) => other.path === path) || posix.dirname(path) === posix.dirname(documents[1]?.path ?? '');
    return `<details${isOpen ? ' open' : ''}><summary>${name}</summary><ul>${documents.map(entry).join('')}</ul></details>`;
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escaped(sentence)}">
<title>${escaped(title === 'boxkeep' ? title : `${title} · boxkeep`)}</title>
<link rel="stylesheet" href="${to('style.css')}">
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<nav aria-label="Pages">
<a class="home" href="${to('index.html')}">boxkeep</a>
${groups.map(group).join('\n')}
</nav>
<main id="text" tabindex="-1">
${content}</main>
</body>
</html>
`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
