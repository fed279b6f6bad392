/**
 * Asks a person to confirm an irreversible action.
 *
 * Browsers refuse confirm() to a page in a foreign frame.
 */
import { element } from '../elements.ts';

/** Resolves with true for the verb, with false for everything else, including the Escape key. */
export async function isAgreed(question: string, verb: string): Promise<boolean> {
  const dialog = element('dialog', {}, element('p', {}, question));
  dialog.append(
    element('button', { onClick: () => dialog.close() }, 'Cancel'),
    ' ',
    element('button', { onClick: () => dialog.close(verb) }, verb),
  );
  const closed = new Promise<void>((resolve) => dialog.addEventListener('close', () => resolve(), { once: true }));
  document.body.append(dialog);
  dialog.showModal();
  await closed;
  dialog.remove();
  return dialog.returnValue === verb;
}
