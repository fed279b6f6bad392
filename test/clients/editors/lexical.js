/** Lexical with rich text. */
import { createEmptyHistoryState, registerHistory } from '@lexical/history';
import { registerRichText } from '@lexical/rich-text';
import { $createParagraphNode, $createTextNode, $getRoot, createEditor, UNDO_COMMAND } from 'lexical';

const view = createEditor({
  onError: (error) => {
    throw error;
  },
});
const host = document.querySelector('#host');
host.contentEditable = 'true';
host.role = 'textbox';
view.setRootElement(host);
registerRichText(view);
view.update(
  () => {
    for (const text of ['old', 'text']) $getRoot().append($createParagraphNode().append($createTextNode(text)));
  },
  { discrete: true },
);
registerHistory(view, createEmptyHistoryState(), 300);
globalThis.editor = {
  text: () =>
    view.read(() =>
      $getRoot()
        .getChildren()
        .map((block) => block.getTextContent())
        .join('\n'),
    ),
  undo: () => view.dispatchCommand(UNDO_COMMAND),
};
