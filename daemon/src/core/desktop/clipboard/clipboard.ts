/** Reads and sets the clipboard of a display, and lends it to a text that is pasted. */
import { Deadline } from '../../../kit/deadline.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { SelectionContent, SelectionOwner } from '../../../platform/x11/selection-owner.ts';
import type { SelectionPart, SelectionQuery } from '../../../platform/x11/selection-reader.ts';
import type { CallOptions } from '../desktop.ts';

/** Reads a selection of the display. */
export interface SelectionReader {
  read(query: SelectionQuery): Promise<SelectionPart | null>;
  targets(selection: string, signal: AbortSignal): Promise<string[]>;
}

export type SelectionName = 'CLIPBOARD' | 'PRIMARY';

const maxTextBytes = 1024 * 1024;
const readWithinMs = 5_000;
/** Limits of what is kept of a clipboard that is lent: its text first, then an image or a document in several formats. */
const kept = { maxBytes: 16 * 1024 * 1024, maxTargets: 32, textWithinMs: 5_000, restWithinMs: 3_000 } as const;

/** The best one first. */
const textTargets = ['UTF8_STRING', 'text/plain;charset=utf-8', 'STRING', 'text/plain'] as const;
/** Targets under which programs offer one text in several encodings, so one of them is enough to keep. */
const plainTargets = new Set<string>([...textTargets, 'TEXT', 'COMPOUND_TEXT']);
/** Targets that every owner answers by itself, and requests to the owner that have an effect. */
const derivedTargets = new Set([
  ...['TARGETS', 'TIMESTAMP', 'MULTIPLE', 'SAVE_TARGETS', 'DELETE', 'INSERT_SELECTION', 'INSERT_PROPERTY'],
]);

export class Clipboard {
  constructor(
    private readonly owner: SelectionOwner,
    private readonly reader: SelectionReader,
  ) {}

  /** Empty when the clipboard has no text. Throws `unavailable` for more than 1 MiB, and after five seconds. */
  async readText({ signal }: CallOptions): Promise<string> {
    const own = await this.owner.offered('CLIPBOARD');
    if (own) return decode('UTF8_STRING', own.get('UTF8_STRING'));
    using deadline = new Deadline(readWithinMs, signal);
    try {
      return await this.#readForeignText(deadline.signal);
    } catch (error) {
      if (signal.aborted || !deadline.passed) throw error;
      throw new CoreError(
        'unavailable',
        `the program that owns the clipboard did not answer in ${readWithinMs / 1000} s`,
        {
          hint: 'Copy the text again, or set the clipboard.',
        },
      );
    }
  }

  /** The worker answers for the clipboard until another program copies something. Throws `bad_argument` beyond 1 MiB. */
  async setText(text: string, options: CallOptions): Promise<void> {
    const bytes = Buffer.byteLength(text);
    if (bytes > maxTextBytes) {
      throw new CoreError('bad_argument', `the text has ${bytes} bytes, and the clipboard takes ${maxTextBytes}`, {
        hint: 'Set a smaller part of the text, or write it to a file.',
      });
    }
    await this.offer(['CLIPBOARD'], text, options);
  }

  /** Keeps the content of the selections while the work offers others, and gives it back afterwards. */
  async lend<T>(selections: readonly SelectionName[], options: CallOptions, work: () => Promise<T>): Promise<T> {
    const before = new Map<SelectionName, SelectionContent>();
    for (const selection of selections) before.set(selection, await this.#content(selection, options));
    try {
      return await work();
    } finally {
      for (const [selection, content] of before) await this.#giveBack(selection, content);
    }
  }

  /** Offers text as these selections. */
  async offer(selections: readonly SelectionName[], text: string, { signal }: CallOptions): Promise<void> {
    const content = textContent(Buffer.from(text.toWellFormed()));
    for (const selection of selections) await this.owner.offer(selection, content, signal);
  }

  async #readForeignText(signal: AbortSignal): Promise<string> {
    for (const target of textTargets) {
      const found = await this.reader.read({ selection: 'CLIPBOARD', target, maxBytes: maxTextBytes, signal });
      if (!found) continue;
      if (!found.isTruncated) return decode(target, found.bytes);
      throw new CoreError('unavailable', 'the clipboard holds more than 1 MiB of text', {
        isRetryable: false,
        hint: 'Copy a smaller part of the text.',
      });
    }
    return '';
  }

  /** Everything that the owner offers, within the limits; empty without an owner, or when the owner is silent. */
  async #content(selection: SelectionName, { signal }: CallOptions): Promise<SelectionContent> {
    const own = await this.owner.offered(selection);
    if (own) return own;
    const content = new Map<string, Uint8Array>();
    let others: readonly string[] = [];
    const hasAnswered = await within(kept.textWithinMs, signal, async (limit) => {
      const targets = await this.reader.targets(selection, limit);
      const text = targets.includes('UTF8_STRING') ? await this.#part(selection, 'UTF8_STRING', limit) : null;
      for (const [target, bytes] of text === null ? [] : textContent(text)) content.set(target, bytes);
      others = targets.filter((target) => !derivedTargets.has(target) && !(text && plainTargets.has(target)));
    });
    if (!hasAnswered) return content;
    await within(kept.restWithinMs, signal, async (limit) => {
      let remainingBytes: number = kept.maxBytes;
      for (const target of others.slice(0, kept.maxTargets)) {
        const bytes = await this.#part(selection, target, limit, remainingBytes);
        if (bytes === null) continue;
        content.set(target, bytes);
        remainingBytes -= bytes.length;
      }
    });
    return content;
  }

  /** Null when the owner does not offer the target, or offers more than the limit. */
  async #part(selection: SelectionName, target: string, signal: AbortSignal, maxBytes: number = kept.maxBytes) {
    const found = await this.reader.read({ selection, target, maxBytes, signal });
    return found && !found.isTruncated ? found.bytes : null;
  }

  async #giveBack(selection: SelectionName, content: SelectionContent): Promise<void> {
    if (content.size > 0) await this.owner.offer(selection, content);
    else await this.owner.withdraw(selection);
  }
}

/** False when the time has passed. What the work has kept until then stays. */
async function within(
  limitMs: number,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<void>,
): Promise<boolean> {
  using deadline = new Deadline(limitMs, signal);
  try {
    await work(deadline.signal);
    return true;
  } catch (error) {
    if (signal.aborted || !deadline.passed) throw error;
    return false;
  }
}

/** A text in UTF-8, under every target that programs ask for. */
function textContent(bytes: Buffer): SelectionContent {
  const targets = ['UTF8_STRING', 'text/plain;charset=utf-8', 'text/plain', 'TEXT'];
  return new Map<string, Uint8Array>([
    ...targets.map((target): [string, Uint8Array] => [target, bytes]),
    ['STRING', Buffer.from(bytes.toString(), 'latin1')],
  ]);
}

function decode(target: string, bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString(target === 'STRING' ? 'latin1' : 'utf8');
}
