/** TinyMCE, whose editable element is the body of a frame. */
import tinymce from 'tinymce';
import 'tinymce/icons/default';
import 'tinymce/models/dom';
import 'tinymce/skins/ui/oxide/skin.css';
import 'tinymce/themes/silver';

document.querySelector('#host').innerHTML = '<p>old</p><p>text</p>';
const [view] = await tinymce.init({
  target: document.querySelector('#host'),
  license_key: 'gpl',
  skin: false,
  content_css: false,
});
globalThis.editor = {
  text: () => Array.from(view.getBody().children, (block) => block.textContent.replaceAll('\u00a0', ' ')).join('\n'),
  undo: () => view.undoManager.undo(),
};
