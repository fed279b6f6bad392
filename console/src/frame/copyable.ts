/** A text with a button that copies it. */
import { element } from '../elements.ts';
import { scrollable } from '../forms/answer-view.ts';

/** `label`: what the button copies, such as `curl`. */
export function copyable(label: string, text: string): HTMLElement {
  const shown = scrollable(text);
  const state = element('span', { class: 'note' });
  state.setAttribute('role', 'status');
  const copy = async () => {
    state.textContent = (await hasCopied(text)) ? 'copied' : 'selected; press Ctrl-C';
    if (state.textContent !== 'copied') getSelection()?.selectAllChildren(shown);
  };
  const button = element('button', { type: 'button', onClick: () => void copy() }, `Copy ${label}`);
  return element('div', {}, shown, button, ' ', state);
}

/** Browsers give no clipboard to a page of an unsafe address, or without the permission. */
async function hasCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // The person copies the selection.
  }
}
