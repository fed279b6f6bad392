/** A text file in the editor. A save replaces only the version that was opened; after another change, the page shows the difference. */
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { element } from '../elements.ts';
import { loadView } from '../frame/loaded-view.ts';
import { keepDraft, keptDraft } from './draft.ts';
import type { Editor } from './editor.ts';

/** What the daemon has of a file; `etag` is null where there is no file. */
interface Stored {
  readonly text: string;
  readonly etag: string | null;
}

export class TextView {
  readonly #state = element('span', { class: 'note' });
  readonly #save = element('button', { type: 'button', onClick: () => void this.#try(() => this.#store()) }, 'Save');
  readonly #conflict = element('div', { class: 'lacking' });
  readonly #place = element('div', { class: 'editor' });
  #editor: Editor | null = null;
  /** What the text is compared with: the file as it was last read or written. */
  #stored: Stored = { text: '', etag: null };

  constructor(
    private readonly box: Sandbox,
    private readonly path: string,
    /** Called when the file is known to have changed. */
    private readonly onStored: () => void,
  ) {
    this.#state.setAttribute('role', 'status');
    this.#conflict.setAttribute('role', 'alert');
    this.#conflict.hidden = true;
    this.#save.disabled = true;
  }

  async show(place: HTMLElement): Promise<void> {
    const { content, etag, encoding, truncated } = (await this.box.orThrow.files.read(this.path)).data;
    const Loaded = await loadView<typeof Editor>(this.box, 'editor');
    // A text in another encoding, or a part of one, would not be the file after a save.
    const isReadOnly = encoding !== 'utf-8' || truncated;
    const draft = keptDraft(this.path);
    this.#stored = { text: content, etag: draft?.etag ?? etag };
    place.append(element('p', {}, this.#save, ' ', this.#state), this.#conflict, this.#place);
    this.#editor = new Loaded(this.#place, {
      path: this.path,
      text: draft?.text ?? content,
      isReadOnly,
      onChange: () => this.#edited(),
      onSave: () => void this.#try(() => this.#store()),
    });
    if (isReadOnly) this.#say(truncated ? 'only the beginning is shown' : `${encoding}: can be read here only`);
    else if (draft) this.#edited('your text of before, not saved');
  }

  close(): void {
    this.#editor?.close();
  }

  #edited(state = 'not saved'): void {
    const text = this.#editor?.text ?? '';
    const isSaved = text === this.#stored.text;
    this.#save.disabled = isSaved;
    const isKept = keepDraft(this.path, isSaved ? null : { text, etag: this.#stored.etag });
    this.#say(isSaved ? '' : `${state}${isKept ? '' : '; too long for this tab to keep'}`);
  }

  async #store(): Promise<void> {
    const text = this.#editor?.text ?? '';
    const { etag } = this.#stored;
    const condition = etag === null ? { if_none_match: '*' as const } : { if_match: etag };
    const written = await this.box.files.write(this.path, text, condition);
    if (written.ok) return this.#adopt({ text, etag: written.body.data.etag }, 'saved');
    const { code } = written.error;
    if (code !== 'precondition_failed' && code !== 'file_exists') throw written.error;
    this.#ask(text, await this.#read());
  }

  /** The file as it is now. It may have been deleted. */
  async #read(): Promise<Stored> {
    const read = await this.box.files.read(this.path);
    if (read.ok) return { text: read.body.data.content, etag: read.body.data.etag };
    if (read.error.code !== 'file_not_found') throw read.error;
    return { text: '', etag: null };
  }

  /** Shows the other change, and lets the person choose. */
  #ask(mine: string, theirs: Stored): void {
    if (mine === theirs.text && theirs.etag !== null)
      return this.#adopt(theirs, 'saved: the file had this text already');
    const what = theirs.etag === null ? 'has been deleted' : 'has changed since it was opened';
    const keepMine = () => {
      this.#endQuestion();
      this.#stored = theirs;
      void this.#try(() => this.#store());
    };
    const takeTheirs = () => {
      if (this.#editor) this.#editor.text = theirs.text;
      this.#adopt(theirs, 'the text of the file');
    };
    this.#conflict.replaceChildren(
      element('p', {}, `The file ${what}. Green is only in your text, red only in the file.`),
      element('button', { type: 'button', onClick: keepMine }, 'Save my text over it'),
      ' ',
      element('button', { type: 'button', onClick: takeTheirs }, 'Take the text of the file'),
    );
    this.#conflict.hidden = false;
    this.#editor?.compareWith(theirs.text);
    this.#say('not saved');
  }

  #adopt(stored: Stored, state: string): void {
    this.#stored = stored;
    this.#endQuestion();
    this.#edited();
    if (this.#save.disabled) this.#say(state);
    this.onStored();
  }

  #endQuestion(): void {
    this.#conflict.hidden = true;
    this.#editor?.compareWith(null);
  }

  #say(text: string): void {
    this.#state.textContent = text;
  }

  async #try(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#say(error instanceof Error ? `not saved: ${error.message}` : String(error));
    }
  }
}
