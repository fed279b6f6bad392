/** Shows the outputs of a cell as a notebook does. */
import type { NotebookOutput } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { picture, scrollable } from '../forms/answer-view.ts';

type Bundle = Readonly<Record<string, unknown>>;

/** Colours and the like, which tracebacks have for terminals. */
// oxlint-disable-next-line no-control-regex -- the escape character begins each of them
const escapes = /\u001b\[[\d;]*[A-Za-z]/g;
/** By their type, the best first. */
const pictures = ['image/png', 'image/jpeg', 'image/svg+xml'] as const;

export function shown(output: NotebookOutput): HTMLElement {
  if (output.output_type === 'stream') {
    const text = scrollable(output.text.replaceAll(escapes, ''));
    text.className = output.name === 'stderr' ? 'output wrong' : 'output';
    return text;
  }
  if (output.output_type !== 'error') return ofBundle(output.data);
  const lines = output.traceback.length > 0 ? output.traceback.join('\n') : `${output.ename}: ${output.evalue}`;
  const traceback = scrollable(lines.replaceAll(escapes, ''));
  traceback.className = 'output wrong';
  return traceback;
}

/** The same value in several types: a picture, else a table or other markup, else text. */
function ofBundle(data: Bundle): HTMLElement {
  const type = pictures.find((one) => typeof data[one] === 'string');
  if (type !== undefined)
    return picture(new Blob([contentOf(type, String(data[type]))], { type }), 'Output of the cell');
  const { 'text/html': html, 'text/plain': plain } = data;
  if (typeof html === 'string') return markup(html, plain);
  return scrollable(typeof plain === 'string' ? plain : JSON.stringify(data, null, 2));
}

function contentOf(type: string, text: string): Uint8Array<ArrayBuffer> | string {
  return type === 'image/svg+xml' ? text : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/**
 * Markup of the sandbox, in a frame of an origin of its own. The frame has no scripts, and the policy of the page is
 * also that of the frame: no styles, and nothing from elsewhere. `plain` is the same as text.
 */
function markup(html: string, plain: unknown): HTMLElement {
  const frame = element('iframe', { class: 'markup', label: 'Output of the cell' });
  frame.setAttribute('sandbox', '');
  frame.srcdoc = `<meta name="color-scheme" content="light dark"><font face="system-ui, sans-serif">${html}`;
  // The page cannot measure what is in the frame. The text of a table has a line for each row.
  if (typeof plain === 'string') frame.style.height = `min(20rem, ${1.7 * plain.split('\n').length + 2}rem)`;
  return frame;
}
