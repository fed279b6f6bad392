/** Quill. */
import Quill from 'quill';
import 'quill/dist/quill.snow.css';

const view = new Quill('#host', { theme: 'snow', placeholder: 'Write here' });
view.setContents([{ insert: 'old' }, { insert: '\n', attributes: { header: 1 } }, { insert: 'text\n' }]);
view.history.clear();
globalThis.editor = { text: () => view.getText().replace(/\n$/, ''), undo: () => view.history.undo() };
