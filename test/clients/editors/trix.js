/** Trix. */
import 'trix';
import 'trix/dist/trix.css';

document.querySelector('#host').innerHTML =
  '<input id=x type=hidden value="<div>old<br>text</div>"><trix-editor input=x></trix-editor>';
globalThis.editor = {
  text: () => document.querySelector('trix-editor').editor.getDocument().toString().replace(/\n$/, ''),
  undo: () => document.querySelector('trix-editor').editor.undo(),
};
