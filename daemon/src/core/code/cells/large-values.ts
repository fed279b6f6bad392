/** Moves cell values that are too large for a response into files. The path of the file replaces the value. */
import type { Account } from '../../identity/accounts.ts';
import type { ScriptDirectory } from '../../../platform/stores/script-directory.ts';
import type { CellEvent } from './events.ts';
import type { MimeBundle } from './notebook.ts';

export const maxValueCharacters = 1_000_000;
/** Media type of the replacement: `{media_type, path, size}`, with the size in bytes. */
export const fileReferenceType = 'application/vnd.boxkeep.file+json';
/** When a limit is reached, new files replace the oldest files. */
const maxFiles = 100;
const maxBytes = 256 * 1024 * 1024;

export interface LargeValuesDeps {
  readonly files: Pick<ScriptDirectory, 'place' | 'write' | 'remove' | 'recover' | 'close'>;
  /** null when the files belong to the daemon's own account. */
  readonly ownerOf: (user: string | null) => Account | null;
}

export class LargeValues {
  readonly #kept: { readonly path: string; readonly size: number }[] = [];
  #bytes = 0;

  constructor(private readonly deps: LargeValuesDeps) {}

  /** Called once, before any cell is read. Values of an earlier daemon are read from its log again. */
  recover(): void {
    this.deps.files.recover();
  }

  close(): void {
    this.deps.files.close();
  }

  /** Returns the event without values that are too large. Throws the system's error. */
  shrink(event: CellEvent, user: string | null): CellEvent {
    if (event.kind === 'update') return { ...event, data: this.#shrinkBundle(event.data, user) };
    if (event.kind !== 'output' || !('data' in event.output)) return event;
    return { ...event, output: { ...event.output, data: this.#shrinkBundle(event.output.data, user) } };
  }

  #shrinkBundle(data: MimeBundle, user: string | null): MimeBundle {
    const large = Object.entries(data).filter(([, value]) => textOf(value).length > maxValueCharacters);
    if (large.length === 0) return data;
    const rest = Object.entries(data).filter(([type]) => !large.some(([other]) => other === type));
    const references = large.map(([type, value]) => this.#keep(type, bytesOf(type, value), user));
    const notes = references.map(({ media_type, path, size }) => `<${media_type}, ${size} bytes: ${path}>`).join('\n');
    const plain = Object.fromEntries(rest)['text/plain'];
    return {
      ...Object.fromEntries(rest),
      'text/plain': typeof plain === 'string' ? `${plain}\n${notes}` : notes,
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
    while (this.#kept.length > maxFiles || (this.#bytes > maxBytes && this.#kept.length > 1)) {
      const oldest = this.#kept.shift();
      this.#bytes -= oldest?.size ?? 0;
      this.deps.files.remove(oldest?.path ?? '');
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Binary values are base64 in a notebook. */
function bytesOf(type: string, value: unknown): Uint8Array {
  const isText = typeof value !== 'string' || /^text\/|json$|xml$|javascript$|^application\/x?-?(la)?tex$/.test(type);
  return Buffer.from(textOf(value), isText ? 'utf8' : 'base64');
}
