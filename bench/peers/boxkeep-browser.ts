/** Measures the browser routes of v2. */
import type { Field } from '../rows/row.ts';
import type { BrowserPeer } from './browser.ts';

export function boxkeepBrowser({ openBoxkeepIn }: Pick<Field, 'openBoxkeepIn'>): BrowserPeer {
  return {
    name: 'boxkeep',
    async open(port) {
      const daemon = await openBoxkeepIn({ BROWSER_REMOTE_DEBUGGING_PORT: String(port) });
      const call = async <T>(route: string, body: object): Promise<T> => {
        const response = await fetch(`${daemon.url}/v2/browser/${route}`, {
          method: 'POST',
          body: JSON.stringify(body),
        });
        const answer = (await response.json()) as { data: T; message: string };
        if (!response.ok) throw new Error(`${route}: ${response.status} ${answer.message}`);
        return answer.data;
      };
      return {
        navigate: async (url) => void (await call('navigate', { url })),
        snapshot: () => call<string>('snapshot', { format: 'text' }),
        click: async (ref) => void (await call('click', { ref })),
        [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
      };
    },
  };
}
