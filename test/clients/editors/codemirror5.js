/** CodeMirror 5, which reads a hidden text area. */
import CodeMirror from 'codemirror5';
import 'codemirror5/mode/javascript/javascript.js';
import 'codemirror5/addon/edit/closebrackets.js';
import 'codemirror5/addon/edit/matchbrackets.js';
import 'codemirror5/lib/codemirror.css';

const view = CodeMirror(document.querySelector('#host'), {
  value: 'const old = [1];\n\nold.pop();',
  mode: 'javascript',
  autoCloseBrackets: true,
  matchBrackets: true,
  lineNumbers: true,
});
globalThis.editor = { text: () => view.getValue(), undo: () => view.undo() };
