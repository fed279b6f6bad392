/** Worker entry of the built-in grep engine: receives one query and posts one answer. */
import { grepTree } from './engine.ts';
import { type GrepFound, type GrepQuery, PatternError } from './query.ts';

export type WorkerAnswer =
  | { readonly kind: 'found'; readonly found: GrepFound }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

declare const self: Worker;

self.addEventListener('message', (event: MessageEvent<GrepQuery>) => self.postMessage(answer(event.data)));

function answer(query: GrepQuery): WorkerAnswer {
  try {
    return { kind: 'found', found: grepTree(query) };
  } catch (error) {
    if (error instanceof PatternError) return { kind: 'refused', message: error.message };
    return { kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
