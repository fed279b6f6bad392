/** Turns a module of the asynchronous Python client into the synchronous one, word by word. */
import { head } from './inputs.ts';

/** Names that have another word than the same without `Async`, in the order in which they are replaced. */
const words: readonly (readonly [asynchronous: RegExp, synchronous: string])[] = [
  [/\bawait asyncio\.sleep\b/g, 'time.sleep'],
  [/\bawait asyncio\.to_thread\(([\w.]+)(?:, )?/g, '$1('],
  [/\bimport asyncio\b/g, 'import time'],
  [/\b(?:await|async) /g, ''],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\b__a(iter|next|enter|exit)__\b/g, '__$1__'],
  [/\baclose\b/g, 'close'],
  [/\baread\b/g, 'read'],
  [/\baiter_raw\b/g, 'iter_raw'],
  [/\basynccontextmanager\b/g, 'contextmanager'],
];

export function synchronous(module: string): string {
  const plain = module.startsWith(head) ? module.slice(head.length) : module;
  return words.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), `${head}${plain}`);
}
