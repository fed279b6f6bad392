/** Slate in React. */
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createEditor, Node } from 'slate';
import { withHistory } from 'slate-history';
import { Editable, Slate, withReact } from 'slate-react';

const view = withHistory(withReact(createEditor()));
const initialValue = ['old', 'text'].map((text) => ({ type: 'paragraph', children: [{ text }] }));
const editable = createElement(Editable, { placeholder: 'Write here', id: 'editable' });
createRoot(document.querySelector('#host')).render(createElement(Slate, { editor: view, initialValue }, editable));
globalThis.editor = {
  text: () => view.children.map((block) => Node.string(block)).join('\n'),
  undo: () => view.undo(),
};
