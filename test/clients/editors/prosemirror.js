/** ProseMirror with its basic schema. */
import { baseKeymap } from 'prosemirror-commands';
import { history, undo } from 'prosemirror-history';
import { keymap } from 'prosemirror-keymap';
import { DOMParser } from 'prosemirror-model';
import { schema } from 'prosemirror-schema-basic';
import { EditorState } from 'prosemirror-state';
import { EditorView } from 'prosemirror-view';
import 'prosemirror-view/style/prosemirror.css';

const content = document.createElement('div');
content.innerHTML = '<p>old</p><p>text</p>';
const view = new EditorView(document.querySelector('#host'), {
  state: EditorState.create({
    doc: DOMParser.fromSchema(schema).parse(content),
    plugins: [history(), keymap({ 'Mod-z': undo }), keymap(baseKeymap)],
  }),
});
globalThis.editor = {
  text: () => view.state.doc.textBetween(0, view.state.doc.content.size, '\n', '\n'),
  undo: () => undo(view.state, view.dispatch),
};
