/** Creates page elements in one line. Their content is text, never markup. */

type Child = Node | string;

interface Looks {
  readonly class?: string;
  readonly href?: string;
  readonly type?: string;
  readonly placeholder?: string;
  readonly label?: string;
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
  if (looks.onClick) made.addEventListener('click', looks.onClick);
  made.append(...children);
  return made;
}
