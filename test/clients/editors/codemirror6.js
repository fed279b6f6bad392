/** CodeMirror 6, an editable element that holds only the visible lines. */
import { basicSetup, EditorView } from 'codemirror';
import { undo } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';

const view = new EditorView({
  doc: 'const old = [1];\n\nold.pop();',
  extensions: [basicSetup, javascript()],
  parent: document.querySelector('#host'),
});
globalThis.editor = { text: () => view.state.doc.toString(), undo: () => undo(view) };
