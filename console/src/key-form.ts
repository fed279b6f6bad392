/** Asks for the API key, which the daemon wants of whoever comes. */
import { element } from './elements.ts';

/** `isRefused`: the one that was given is not it. */
export function askForKey(place: HTMLElement, isRefused: boolean, onKey: (key: string) => void): void {
  const input = element('input', { type: 'password', placeholder: 'API key', label: 'API key' });
  const form = element('form', {}, input, ' ', element('button', { type: 'submit' }, 'Go on'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (input.value !== '') onKey(input.value);
  });
  place.replaceChildren(
    element(
      'main',
      { class: 'home' },
      element('h1', {}, 'sandboxd'),
      element('p', {}, 'This daemon has a key. This tab keeps it until it is closed.'),
      ...(isRefused ? [element('p', { class: 'wrong' }, 'That was not the key.')] : []),
      form,
    ),
  );
  input.focus();
}
