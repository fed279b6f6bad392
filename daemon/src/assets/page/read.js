/** Reads a document as Markdown, as plain text or as its links, shadow trees included, in the order of the page. */
const boxkeep = globalThis.boxkeep;
const { dom, shadowRootOf } = boxkeep;
boxkeep.read = read;

const words = (text) => new Set(text.split(' '));
const skippedTags = words('script style template noscript head svg math canvas iframe frame object select datalist');
/** Elements with an empty line before and after them in Markdown. */
const spacedTags = words('p ul ol dl blockquote pre table figure h1 h2 h3 h4 h5 h6 hr section article form fieldset');
const marks = { strong: '**', b: '**', em: '_', i: '_', code: '`' };
/** The parser of HTML nests at most 512 elements; deeper trees would overflow the stack. */
const maxLevel = 600;

/**
 * `text` has the document in the given form; `isCut` is true when it was longer.
 * @param {{form: 'markdown' | 'text' | 'links', maxCharacters: number}} argument
 */
function read({ form, maxCharacters }) {
  const root = dom.documentElement();
  // A script may have removed the root element.
  if (root === null) return { links: [], text: '', isCut: false };
  if (form === 'links') return linksOf(root, maxCharacters);
  const page = new Text(form === 'markdown', maxCharacters);
  page.visit(root);
  return { text: page.end(), isCut: page.isFull };
}

function* elementsBelow(node, level = 0) {
  for (let child = dom.firstChild(node); child !== null; child = dom.nextSibling(child)) {
    if (dom.nodeType(child) !== Node.ELEMENT_NODE) continue;
    yield child;
    if (level >= maxLevel) continue;
    const shadow = shadowRootOf(child);
    if (shadow !== null) yield* elementsBelow(shadow, level + 1);
    yield* elementsBelow(child, level + 1);
  }
}

function linksOf(root, maxCharacters) {
  const links = [];
  let characters = 0;
  for (const element of elementsBelow(root)) {
    const tag = dom.localName(element);
    if ((tag !== 'a' && tag !== 'area') || !dom.attribute(element, 'href')) continue;
    const text = element.innerText || dom.attribute(element, 'aria-label') || dom.attribute(element, 'alt') || '';
    const link = { text: text.trim(), href: absolute(dom.attribute(element, 'href')) };
    characters += link.text.length + link.href.length;
    if (characters > maxCharacters) return { links, isCut: true };
    links.push(link);
  }
  return { links, isCut: false };
}

function absolute(url) {
  return URL.parse(url, document.baseURI)?.href ?? url;
}

/** A text that grows line by line. */
class Text {
  #lines = [];
  #line = '';
  #indent = '';
  /** Stands in place of the indent before the next line. */
  #marker = null;
  #isPre = false;
  #level = 0;
  #left;
  #isMarkdown;
  #isInline;

  constructor(isMarkdown, maxCharacters, isInline = false) {
    this.#isMarkdown = isMarkdown;
    this.#left = maxCharacters;
    this.#isInline = isInline;
  }

  get isFull() {
    return this.#left <= 0;
  }

  end() {
    this.#break();
    return this.#lines.join('\n').trim();
  }

  visit(element) {
    if (this.isFull || this.#level >= maxLevel) return;
    const tag = dom.localName(element);
    if (skippedTags.has(tag)) return;
    if (tag === 'br') return this.#isInline ? this.#add(' ') : this.#break();
    const style = getComputedStyle(element);
    if (style.display === 'none') return;
    const isBlock = !this.#isInline && style.display !== 'contents' && !style.display.startsWith('inline');
    if (isBlock) this.#break(spacedTags.has(tag));
    this.#level++;
    this.#element(element, tag, style.visibility === 'visible');
    this.#level--;
    if (isBlock) this.#break(spacedTags.has(tag));
  }

  #element(element, tag, isVisible) {
    if (tag === 'tr') return this.#row(element);
    if (!this.#isMarkdown) return this.#content(element, tag, isVisible);
    if (tag === 'hr') return this.#add('---');
    if (tag === 'img') return this.#image(element);
    if (tag === 'a') return this.#link(element);
    if (tag === 'pre') return this.#pre(element, isVisible);
    if (tag === 'li') return this.#item(element, isVisible);
    const heading = /^h([1-6])$/.exec(tag);
    const mark = marks[tag];
    if (mark !== undefined && !this.#isPre) return this.#marked(element, mark);
    if (heading) this.#line += `${'#'.repeat(Number(heading[1]))} `;
    else if (tag === 'blockquote') return this.#nested('> ', null, () => this.#content(element, tag, isVisible));
    this.#content(element, tag, isVisible);
  }

  #content(element, tag, isVisible) {
    if (tag === 'textarea' || tag === 'input') return;
    if (tag === 'slot') {
      const assigned = element.assignedNodes();
      return this.#nodes(assigned.length > 0 ? assigned : [...dom.childNodes(element)], isVisible);
    }
    const isClosed = tag === 'details' && !element.open;
    const nodes = [...dom.childNodes(shadowRootOf(element) ?? element)];
    this.#nodes(isClosed ? nodes.filter((node) => node.localName === 'summary') : nodes, isVisible);
  }

  #nodes(nodes, isVisible) {
    for (const node of nodes) {
      const type = dom.nodeType(node);
      if (type === Node.ELEMENT_NODE) this.visit(node);
      else if (type === Node.TEXT_NODE && isVisible) this.#add(node.data);
    }
  }

  /** The content of an element in one line. */
  #inline(element) {
    const inner = new Text(this.#isMarkdown, this.#left, true);
    inner.#level = this.#level;
    inner.#content(element, dom.localName(element), true);
    return inner.end();
  }

  #row(element) {
    const cells = [...dom.childNodes(element)].filter(({ localName }) => localName === 'td' || localName === 'th');
    const text = cells.map((cell) => this.#inline(cell));
    if (!this.#isMarkdown) return this.#add(text.join('\t'), true);
    this.#add(`| ${text.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`, true);
    if (element.rowIndex !== 0 || this.#isInline) return;
    this.#break();
    this.#add(`|${' --- |'.repeat(cells.length)}`);
  }

  #image(element) {
    const alt = dom.attribute(element, 'alt');
    const source = dom.attribute(element, 'src') ?? '';
    if (alt) this.#add(`![${alt}](${/^data:/i.test(source) ? '' : absolute(source)})`);
  }

  #link(element) {
    const text = this.#inline(element);
    const href = dom.attribute(element, 'href');
    if (text !== '') this.#add(href === null || /^javascript:/i.test(href) ? text : `[${text}](${absolute(href)})`);
  }

  #marked(element, mark) {
    const text = this.#inline(element);
    if (text !== '') this.#add(`${mark}${text}${mark}`);
  }

  #pre(element, isVisible) {
    this.#add('```');
    this.#break();
    this.#isPre = true;
    this.#content(element, 'pre', isVisible);
    this.#isPre = false;
    this.#break();
    this.#add('```');
  }

  #item(element, isVisible) {
    const list = dom.parentNode(element);
    const number = list?.localName === 'ol' ? [...list.children].indexOf(element) + (Number(list.start) || 1) : null;
    const marker = `${this.#indent}${number === null ? '- ' : `${number}. `}`;
    this.#nested('  ', marker, () => this.#content(element, 'li', isVisible));
  }

  #nested(indent, marker, work) {
    const outer = this.#indent;
    this.#marker = marker;
    this.#indent += indent;
    work();
    this.#break();
    this.#marker = null;
    this.#indent = outer;
  }

  /** `isRaw` keeps white space, as text in `pre` does. */
  #add(text, isRaw = false) {
    if (this.isFull) return;
    const kept = text.length > this.#left ? text.slice(0, this.#left) : text;
    this.#left -= text.length;
    if (!this.#isPre) {
      const tidy = isRaw ? kept : kept.replace(/\s+/g, ' ');
      this.#line += /(^|\s)$/.test(this.#line) ? tidy.replace(/^ /, '') : tidy;
      return;
    }
    const [first, ...rest] = kept.split('\n');
    this.#line += first;
    for (const line of rest) {
      this.#push(this.#line);
      this.#line = line;
    }
  }

  /** Ends the line. `isSpaced` leaves an empty line. */
  #break(isSpaced = false) {
    const line = this.#isPre ? this.#line : this.#line.trim();
    this.#line = '';
    if (line !== '') this.#push(line);
    if (isSpaced && this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('');
  }

  #push(line) {
    this.#lines.push(`${this.#marker ?? this.#indent}${line}`);
    this.#marker = null;
  }
}
