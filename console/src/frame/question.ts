/**
 * Asks a person to confirm an irreversible action, or to give a name.
 *
 * Browsers refuse confirm() and prompt() to a page in a foreign frame.
 */
import { element } from '../elements.ts';

/** Resolves with true for the verb, with false for everything else, including the Escape key. */
export async function isAgreed(question: string, verb: string): Promise<boolean> {
  return await answered(element('p', {}, question), verb);
}

/** Resolves with what the person has typed; null for everything but the verb and the Enter key. */
export async function askForText(
  question: string,
  verb: string,
  proposal = '',
  { isOptional = false } = {},
): Promise<string | null> {
  const input = element('input', { type: 'text' });
  input.value = proposal;
  input.required = !isOptional;
  input.autofocus = true;
  input.addEventListener('focus', () => input.select(), { once: true });
  const label = element('label', {}, element('p', {}, question), input);
  return (await answered(label, verb)) ? input.value : null;
}

async function answered(content: HTMLElement, verb: string): Promise<boolean> {
  const dialog = element('dialog');
  const cancel = element('button', { type: 'button', onClick: () => dialog.close() }, 'Cancel');
  const form = element('form', {}, content, element('p', {}, cancel, ' ', element('button', { type: 'submit' }, verb)));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    dialog.close(verb);
  });
  dialog.append(form);
  const closed = new Promise<void>((resolve) => dialog.addEventListener('close', () => resolve(), { once: true }));
  document.body.append(dialog);
  dialog.showModal();
  await closed;
  dialog.remove();
  return dialog.returnValue === verb;
}
