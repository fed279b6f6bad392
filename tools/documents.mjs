/** Reads the Markdown documents of this repository: their headings, first sentences, links and blocks. */
import { posix } from 'node:path';

/** The text without fenced blocks, which have the same number of lines, but empty ones. */
export function proseOf(text) {
  return text.replaceAll(/^( *)```[^]*?^\1```$/gm, (block) => block.replaceAll(/.+/g, ''));
}

export function titleOf(text) {
  return plain(/^# (.+)$/m.exec(proseOf(text))?.[1] ?? '');
}

/** The first sentence of the first paragraph or list entry: what the page is for. */
export function sentenceOf(text) {
  const paragraph = proseOf(text.replaceAll(/<!--[^]*?-->/g, ''))
    .split(/\n\s*\n/)
    .map((part) => part.replace(/^(?:\*\*(?:Context|Decision)\.\*\* ?|- )/, ''))
    .find((part) => /^[\p{L}`[*]/u.test(part));
  const [sentence = ''] = plain(paragraph ?? '')
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?]) /);
  return sentence.replace(/:$/, '.').trim();
}

/** The anchors of the headings, as code hosts make them. */
export function anchorsOf(text) {
  const anchors = new Anchors();
  return [...proseOf(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchors.next(plain(heading)));
}

/** Makes the anchors of one document in order: a repeated heading gets a number. */
export class Anchors {
  #counts = new Map();

  next(heading) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    const count = this.#counts.get(anchor) ?? 0;
    this.#counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  }
}

/** The links of a document to places of the repository: the path from its root, and the anchor or ''. */
export function linksOf(path, text) {
  return [...proseOf(text).matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?[^)]*\)/g)].map(
    ([, target = '', anchor = '']) => ({ path: target === '' ? path : resolveLink(path, target), anchor }),
  );
}

/** The path from the root of the repository, without a slash at its end. */
export function resolveLink(path, target) {
  return posix.join(posix.dirname(path), target).replace(/\/$/, '');
}

/** Markdown of one line as text: without links, emphasis and backticks. */
function plain(text) {
  return text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\*\*|`|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)/g, '');
}
