/** A live list of what happens in the sandbox, the newest first. */
import type { ActivityEntry, Sandbox } from '../../clients/typescript/src/index.ts';
import { element, keepingFocus } from './elements.ts';

/** Entries of a list that a person may scroll. */
export const allEntries = 1000;
/** What a person waits for a daemon that is away before the page says so, in ms. */
const quietMs = 500;

export class ActivityList {
  readonly place = element('div', { class: 'activity' });
  readonly #rows = element('ol');
  readonly #state = element('p', { class: 'note' });
  readonly #onSeen = () => void this.#follow();
  #closing: AbortController | null = null;
  #cursor: number | undefined;
  #filter = '';

  constructor(
    private readonly box: Sandbox,
    private readonly most: number,
  ) {
    this.place.append(this.#state, this.#rows);
    this.#say('Nothing yet.');
  }

  start(): void {
    document.addEventListener('visibilitychange', this.#onSeen);
    void this.#follow();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onSeen);
    this.#closing?.abort();
  }

  /** Shows only entries that have this text. */
  filter(text: string): void {
    this.#filter = text.toLowerCase();
    for (const row of this.#rows.children) this.#sift(row as HTMLElement);
  }

  /** Asks only while the page is seen, and goes on at its cursor. */
  async #follow(): Promise<void> {
    this.#closing?.abort();
    if (document.hidden) return;
    const closing = new AbortController();
    this.#closing = closing;
    const onAway = ({ message }: Error, sinceMs: number) => {
      if (sinceMs >= quietMs) this.#say(`${message}; trying again`);
    };
    const options = { cursor: this.#cursor, signal: closing.signal, retryMs: Number.POSITIVE_INFINITY, onAway };
    try {
      for await (const event of this.box.activity(options)) {
        if (event.kind === 'lost') this.#rows.prepend(element('li', { class: 'note' }, 'Earlier entries are gone.'));
        else this.#add(event);
        this.#say('');
      }
    } catch (error) {
      if (!closing.signal.aborted) this.#say(error instanceof Error ? error.message : String(error));
    }
  }

  #add(entry: ActivityEntry): void {
    this.#cursor = entry.seq;
    const row = rowOf(entry);
    this.#sift(row);
    // The row of a command changes when the command ends.
    const begun =
      entry.kind === 'ended' && this.#rows.querySelector(`[data-command="${CSS.escape(entry.subject ?? '')}"]`);
    if (begun) keepingFocus(this.#rows, () => begun.replaceWith(row));
    else if (!isToldByCommand(entry)) this.#rows.prepend(row);
    while (this.#rows.childElementCount > this.most) this.#rows.lastElementChild?.remove();
  }

  #sift(row: HTMLElement): void {
    row.hidden = !row.textContent.toLowerCase().includes(this.#filter);
  }

  #say(text: string): void {
    this.#state.textContent = text;
    this.#state.hidden = text === '';
  }
}

/** The call that started a command has nothing to add, unless it failed. */
function isToldByCommand({ kind, outcome, subject }: ActivityEntry): boolean {
  return kind === 'called' && outcome === 'ok' && subject?.startsWith('cmd_') === true;
}

function rowOf(entry: ActivityEntry): HTMLElement {
  const { at, account, kind, subject } = entry;
  const row = element(
    'li',
    { class: kind === 'called' ? 'call' : 'command' },
    element('time', {}, new Date(at).toLocaleTimeString()),
    whatHappened(entry),
    element('span', { class: isBad(entry) ? 'wrong' : 'note' }, howItEnded(entry)),
    element('span', { class: 'note' }, account ?? ''),
  );
  if (kind === 'started' && subject !== null) row.dataset['command'] = subject;
  return row;
}

function whatHappened({ command, operation, subject, tool }: ActivityEntry): HTMLElement {
  if (command !== undefined) {
    const link = element('a', { href: `#/command/${encodeURIComponent(subject ?? '')}` }, command);
    return element('code', {}, link);
  }
  const name = element('b', {}, tool ?? operation);
  if (subject === null || subject === tool) return element('span', {}, name);
  const isTerminal = operation.startsWith('terminals.');
  const about = isTerminal ? element('a', { href: `#/terminal/${encodeURIComponent(subject)}` }, subject) : subject;
  return element('span', {}, name, ' ', about);
}

function howItEnded({ kind, outcome, exit_code: code, duration_ms: ms }: ActivityEntry): string {
  if (kind === 'started') return 'running';
  const result = kind === 'called' || outcome !== 'completed' ? outcome : `exit ${code}`;
  return `${result ?? ''}, ${durationOf(ms ?? 0)}`;
}

function isBad({ kind, outcome, exit_code: code }: ActivityEntry): boolean {
  return kind === 'called' ? outcome !== 'ok' : kind === 'ended' && code !== 0;
}

function durationOf(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
