/** Values of a cell that are too large for an answer: each is kept in a file, and told by its path. */
import type { Account } from '../identity/accounts.ts';
import type { ScriptDirectory } from '../../platform/script-directory.ts';
import type { CellEvent } from './events.ts';
import type { MimeBundle } from './notebook.ts';

/** Characters of one value of one media type. */
export const mostValueCharacters = 1_000_000;
/** What a program finds in place of the value: `{media_type, path, size}`, size in bytes. */
export const fileReferenceType = 'application/vnd.sandboxd.file+json';
/** The oldest ones go for new ones. */
const mostFiles = 100;
const mostBytes = 256 * 1024 * 1024;

export interface LargeValuesDeps {
  readonly files: Pick<ScriptDirectory, 'place' | 'write' | 'remove' | 'recover' | 'close'>;
  /** null where files belong to the daemon's own account anyway. */
  readonly ownerOf: (user: string | null) => Account | null;
}

export class LargeValues {
  readonly #kept: { readonly path: string; readonly size: number }[] = [];
  #bytes = 0;

  constructor(private readonly deps: LargeValuesDeps) {}

  /** Called once, before any cell is read: what an earlier daemon kept is read from its log again. */
  recover(): void {
    this.deps.files.recover();
  }

  close(): void {
    this.deps.files.close();
  }

  /** The same event without what is too large. Throws the system's error. */
  shrink(event: CellEvent, user: string | null): CellEvent {
    if (event.kind === 'update') return { ...event, data: this.#shrinkBundle(event.data, user) };
    if (event.kind !== 'output' || !('data' in event.output)) return event;
    return { ...event, output: { ...event.output, data: this.#shrinkBundle(event.output.data, user) } };
  }

  #shrinkBundle(data: MimeBundle, user: string | null): MimeBundle {
    const large = Object.entries(data).filter(([, value]) => textOf(value).length > mostValueCharacters);
    if (large.length === 0) return data;
    const rest = Object.entries(data).filter(([type]) => !large.some(([other]) => other === type));
    const references = large.map(([type, value]) => this.#keep(type, bytesOf(type, value), user));
    const told = references.map(({ media_type, path, size }) => `<${media_type}, ${size} bytes: ${path}>`).join('\n');
    const plain = Object.fromEntries(rest)['text/plain'];
    return {
      ...Object.fromEntries(rest),
      'text/plain': typeof plain === 'string' ? `${plain}\n${told}` : told,
      [fileReferenceType]: references.length === 1 ? references[0] : references,
    };
  }

  #keep(type: string, bytes: Uint8Array, user: string | null) {
    const path = this.deps.files.place();
    this.deps.files.write(path, bytes, this.deps.ownerOf(user));
    this.#kept.push({ path, size: bytes.length });
    this.#bytes += bytes.length;
    this.#makeRoom();
    return { media_type: type, path, size: bytes.length };
  }

  #makeRoom(): void {
    while (this.#kept.length > mostFiles || (this.#bytes > mostBytes && this.#kept.length > 1)) {
      const oldest = this.#kept.shift();
      this.#bytes -= oldest?.size ?? 0;
      this.deps.files.remove(oldest?.path ?? '');
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** What is no text is base64 in a notebook. */
function bytesOf(type: string, value: unknown): Uint8Array {
  const isText = /^text\/|json$|xml$|javascript$|^application\/x?-?(la)?tex$/.test(type);
  return Buffer.from(textOf(value), isText ? 'utf8' : 'base64');
}
