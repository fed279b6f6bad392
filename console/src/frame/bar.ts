/** The navigation at the top of each page: a link to each view, and the button of the palette. */
import { element } from '../elements.ts';
import { addressOf, type View } from './view.ts';

export function bar(views: Readonly<Record<string, View>>, onSearch: () => void): HTMLElement {
  const links = Object.entries(views).flatMap(([name, { title }]) =>
    title === undefined ? [] : [element('a', { href: addressOf(name) }, title)],
  );
  const search = element('button', { type: 'button', onClick: onSearch }, 'Go to… ', element('kbd', {}, 'Ctrl K'));
  const nav = element('nav', { class: 'bar', label: 'Views' }, ...links, search);
  return nav;
}

/** Marks the link of the view that is open. */
export function markCurrent(nav: HTMLElement, view: string): void {
  for (const link of nav.querySelectorAll('a')) {
    if (link.getAttribute('href') === addressOf(view)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}
