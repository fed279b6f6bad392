/** Lets an answer take as long as the work in the sandbox: Node and Bun end a request after 300 s without one. */
import type { Fetch } from './transport.ts';

/** What sends the requests of `fetch` in Node, with the proxies and certificates of the program. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

const globalDispatcher = Symbol.for('undici.globalDispatcher.1');

export const fetchWithoutLimit: Fetch = (url, init) => {
  void new Headers(); // Node loads what sends requests when it is used first.
  const sender = (globalThis as { readonly [globalDispatcher]?: Dispatcher })[globalDispatcher];
  const dispatcher: Dispatcher | null = sender
    ? { dispatch: (options, handler) => sender.dispatch({ ...options, headersTimeout: 0 }, handler) }
    : null;
  // `timeout` is for Bun. Browsers know neither.
  const limits: object = { timeout: false, ...(dispatcher && { dispatcher }) };
  return fetch(url, { ...init, ...limits });
};
