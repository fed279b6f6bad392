/** Asks a person for the API key that the daemon requires. */
import { element } from '../elements.ts';

/** `isRefused`: the daemon has refused the previous key. */
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
      element('h1', {}, 'boxkeep'),
      element(
        'p',
        {},
        'This daemon needs a key: the value of ',
        element('code', {}, 'SVC_API_KEY'),
        ' with which it was started. The operator of the sandbox has it. This tab keeps the key until it is closed.',
      ),
      ...(isRefused ? [element('p', { class: 'wrong' }, 'That was not the key.')] : []),
      form,
    ),
  );
  input.focus();
}
