/** The text editor of the files view, which the page loads on demand because CodeMirror is large. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars } from '@codemirror/view';
import { keymap, lineNumbers } from '@codemirror/view';
import { provideView } from '../frame/loaded-view.ts';
import { highlightStyle, languageOf, theme } from './editor-style.ts';

export interface EditorOptions {
  /** Its extension chooses the colours. */
  readonly path: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: () => void;
  readonly onSave: () => void;
}

export class Editor {
  readonly #view: EditorView;
  readonly #comparison = new Compartment();

  constructor(place: HTMLElement, { path, text, isReadOnly, onChange, onSave }: EditorOptions) {
    // In a shadow root CodeMirror makes its styles without style elements, which the policy of the page refuses.
    const root = place.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        // Other line ends are characters of the text, so that lines without an edit stay as they are.
        EditorState.lineSeparator.of(hasOnlyCrLf(text) ? '\r\n' : '\n'),
        [lineNumbers(), highlightSpecialChars(), history(), drawSelection(), highlightActiveLine()],
        [indentOnInput(), bracketMatching(), highlightSelectionMatches(), search({ top: true })],
        [syntaxHighlighting(highlightStyle), theme, languageOf(path)],
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': path }),
        EditorView.updateListener.of(({ docChanged }) => docChanged && onChange()),
        keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => (onSave(), true) }]),
        // Escape, then Tab, leaves the editor.
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        this.#comparison.of([]),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
  }

  get text(): string {
    return this.#view.state.sliceDoc();
  }

  set text(text: string) {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
  }

  /** Marks where the text differs from another one; null ends the comparison. */
  compareWith(other: string | null): void {
    const original = other === null ? null : this.#view.state.toText(other);
    const marks = original === null ? [] : unifiedMergeView({ original, mergeControls: false });
    this.#view.dispatch({ effects: this.#comparison.reconfigure(marks) });
  }

  focus(): void {
    this.#view.focus();
  }

  close(): void {
    this.#view.destroy();
  }
}

function hasOnlyCrLf(text: string): boolean {
  return text.includes('\r\n') && !/\r(?!\n)|(?<!\r)\n/.test(text);
}

provideView('editor', Editor);
