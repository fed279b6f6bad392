/** Asks for the API key, which the daemon wants of whoever comes. */
import { element } from './elements.ts';

export function askForKey(place: HTMLElement, onKey: (key: string) => void): void {
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
      form,
    ),
  );
  input.focus();
}
