/** Sends one command of the DevTools protocol to a page or to the browser itself. */
import { CdpRefusal } from '../../protocols/cdp-errors.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Browser, PageCallOptions } from './browser.ts';
import type { Session } from './session.ts';

export interface CommandSpec extends PageCallOptions {
  /** For example `Page.reload`. */
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** True for a command to the browser itself. */
  readonly isForBrowser: boolean;
}

/** Returns the result as the browser gives it. Throws `bad_argument` when the browser refuses the command. */
export async function sendCommand(
  browser: Browser,
  { method, params, isForBrowser, ...options }: CommandSpec,
): Promise<unknown> {
  const send = async (session: Session, signal: AbortSignal) => {
    try {
      return await session.sendUntyped(method, forwarded(method, params), signal);
    } catch (error) {
      if (!(error instanceof CdpRefusal)) throw error;
      throw new CoreError('bad_argument', `the browser has refused ${method}: ${error.message}`);
    }
  };
  if (isForBrowser) return await browser.call(options, ({ root }, signal) => send(root, signal));
  const { value } = await browser.onPage(options, ({ page, signal }) => send(page.session, signal));
  return value;
}

/** The daemon goes on to hear of downloads, which the command ends unless it says otherwise. */
function forwarded(method: string, params: CommandSpec['params']): object {
  return method === 'Browser.setDownloadBehavior' ? { ...params, eventsEnabled: true } : params;
}
