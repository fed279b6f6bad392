/** Makes a page of each document, with the documents unchanged: links between them become links between pages. */
import { Anchors, resolveLink } from '../tools/documents.mjs';
import { addressFrom, grouped, readDocuments } from './documents.mjs';

const { documents, files } = readDocuments();
const groups = grouped(documents);
const pages = new Map(documents.map(({ path, folder, page }) => [folder ?? path, page]));

export default function configure(eleventy) {
  for (const document of documents) {
    const data = { layout: 'page.11ty.mjs', permalink: document.page, document, groups };
    eleventy.addTemplate(document.path, document.text, data);
  }
  // Programs read the documents themselves, to which llms.txt leads.
  const sources = documents.filter(({ folder }) => folder === undefined).map(({ path }) => path);
  const copied = [...files, ...sources].map((path) => [`../${path}`, path]);
  eleventy.addPassthroughCopy({ 'style.css': 'style.css', ...Object.fromEntries(copied) });
  eleventy.addTemplate('llms.11ty.js', { data: () => ({ permalink: 'llms.txt' }), render: () => llmsText() });
  eleventy.amendLibrary('md', (markdown) => markdown.use(anchors).use(links).use(wideBlocks));
  return {
    dir: { input: '.', includes: '_includes', output: '../dist/site' },
    templateFormats: ['md', '11ty.js'],
    markdownTemplateEngine: false, // A document may show braces.
  };
}

function anchors(markdown) {
  markdown.core.ruler.push('anchors', ({ tokens }) => {
    const made = new Anchors();
    tokens.forEach((token, index) => {
      if (token.type !== 'heading_open') return;
      const words = tokens[index + 1].children.map(({ content }) => content);
      token.attrSet('id', made.next(words.join('')));
    });
  });
}

/** A link to a folder without a page keeps its text alone. */
function links(markdown) {
  markdown.core.ruler.push('links', ({ tokens, env }) => {
    const { path, page } = env.document;
    const changed = (address) => {
      if (/^(?:[a-z]+:|#)/.test(address)) return address;
      const [target = '', anchor] = address.split('#');
      const place = resolveLink(path, target);
      const reached = pages.get(place) ?? pages.get(`${place}/README.md`) ?? files.find((file) => file === place);
      return reached && addressFrom(page, reached) + (anchor ? `#${anchor}` : '');
    };
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'image') token.attrSet('src', changed(token.attrGet('src')));
      if (token.type !== 'link_open') continue;
      const address = changed(token.attrGet('href'));
      if (address) token.attrSet('href', address);
      else token.attrs = [];
    }
  });
}

/** What is wider than the window scrolls by itself, also with the keyboard. */
function wideBlocks(markdown) {
  const { rules } = markdown.renderer;
  const { fence } = rules;
  rules.fence = (...all) => fence(...all).replace('<pre', '<pre tabindex="0"');
  rules.table_open = () => '<div class="wide" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
}

function llmsText() {
  const [
    {
      documents: [readme],
    },
  ] = groups;
  const parts = groups.map(({ name, documents: inside }) =>
    [`## ${name}\n`, ...inside.map(({ path, title, sentence }) => `- [${title}](${path}): ${sentence}`)].join('\n'),
  );
  return `# ${readme.title}\n\n> ${readme.sentence}\n\n${parts.join('\n\n')}\n`;
}
