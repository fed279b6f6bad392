/** Monaco, with a text box of no area (EditContext) or, by `?textarea`, with the hidden text area of its older versions. */
import * as monaco from 'monaco-editor/editor/editor.main.js';

globalThis.MonacoEnvironment = { getWorker: () => new Worker('data:text/javascript,') };
const view = monaco.editor.create(document.querySelector('#host'), {
  value: 'const old = [1];\n\nold.pop();',
  language: 'javascript',
  editContext: !location.search.includes('textarea'),
});
globalThis.editor = { text: () => view.getValue(), undo: () => view.trigger('test', 'undo') };
