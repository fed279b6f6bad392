/** Creates page elements in one line. Their content is text, never markup. */

type Child = Node | string;

interface Looks {
  readonly class?: string;
  readonly href?: string;
  readonly type?: string;
  readonly placeholder?: string;
  readonly label?: string;
  /** What `keepingFocus` knows the element by when it is drawn again. */
  readonly key?: string;
  readonly onClick?: () => void;
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  looks: Looks = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (looks.class) made.className = looks.class;
  for (const attribute of ['href', 'type', 'placeholder'] as const) {
    const value = looks[attribute];
    if (value !== undefined) made.setAttribute(attribute, value);
  }
  if (looks.label) made.setAttribute('aria-label', looks.label);
  if (looks.key) made.dataset['key'] = looks.key;
  if (looks.onClick) made.addEventListener('click', looks.onClick);
  made.append(...children);
  return made;
}

/** Draws a part of the page again. A link or a button of it that has the focus passes it to the one with the same key, target or label. */
export function keepingFocus(part: HTMLElement, draw: () => void): void {
  const focused = part.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
  draw();
  if (focused === undefined || part.contains(document.activeElement)) return;
  const next = [...part.querySelectorAll<HTMLElement>('a, button')].find((each) => keyOf(each) === focused);
  next?.focus({ preventScroll: true });
}

function keyOf(part: Element | null): string | undefined {
  const { key } = part instanceof HTMLElement ? part.dataset : {};
  return key ?? part?.getAttribute('href') ?? part?.getAttribute('aria-label') ?? undefined;
}
