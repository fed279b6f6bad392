/** Shows what a route or a tool answers: JSON indented, a picture as a picture, and a stream as it comes. */
import type { Result } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';

const maxCharacters = 200_000;

export class AnswerView {
  readonly place = element('section', { class: 'answer', label: 'Answer' });

  constructor(private readonly closing: AbortSignal) {}

  /** `call` may throw for a field that cannot be sent. */
  async show(call: (signal: AbortSignal) => Promise<Result<Response | readonly HTMLElement[]>>): Promise<void> {
    this.place.replaceChildren(element('p', { class: 'note' }, 'waiting for the answer'));
    try {
      const answer = await call(this.closing);
      if (!answer.ok) this.showError(answer.error);
      else if (answer.body instanceof Response) await this.#showResponse(answer.body);
      else this.place.replaceChildren(...answer.body);
    } catch (error) {
      if (!this.closing.aborted) this.showError(error);
    }
  }

  /** Shows why `action` throws. */
  showFailure(action: () => void): void {
    try {
      action();
      this.place.replaceChildren();
    } catch (error) {
      this.showError(error);
    }
  }

  showError(error: unknown): void {
    const { message, data, hint } = error as Partial<Record<'message' | 'data' | 'hint', unknown>>;
    const text = element('p', { class: 'wrong' }, String(message ?? error));
    const more = typeof hint === 'string' ? [element('p', {}, hint)] : [];
    const facts = data === undefined ? [] : [scrollable(JSON.stringify(data, null, 2))];
    this.place.replaceChildren(text, ...more, ...facts);
  }

  async #showResponse(response: Response): Promise<void> {
    const type = response.headers.get('content-type') ?? '';
    const status = element('p', { class: 'note' }, `${response.status} ${type}`);
    if (type.startsWith('image/')) {
      this.place.replaceChildren(status, picture(await response.blob()));
      return;
    }
    const shown = scrollable('');
    this.place.replaceChildren(status, shown);
    if (type.includes('json') && !type.includes('ndjson')) shown.textContent = indented(await response.text());
    else await stream(response, shown);
  }
}

/** The text of a picture cannot run anything, not even that of an SVG, because it is the source of an image. */
export function picture(content: Blob, name = 'The picture'): HTMLElement {
  const url = URL.createObjectURL(content);
  const image = element('img', { class: 'picture' });
  image.alt = name;
  image.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
  image.src = url;
  return image;
}

export function scrollable(text: string): HTMLElement {
  const shown = element('pre', {}, text);
  shown.tabIndex = 0; // It may be wider than the window, and keys scroll only what has the focus.
  return shown;
}

function indented(text: string): string {
  return cut(JSON.stringify(JSON.parse(text), null, 2));
}

function cut(text: string): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}\n[${text.length} characters in all]` : text;
}

async function stream(response: Response, shown: HTMLElement): Promise<void> {
  if (!response.body) return;
  let length = 0;
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    length += text.length;
    shown.append(text);
    if (length < maxCharacters) continue;
    shown.append('\n[the rest is left out]');
    return;
  }
}
