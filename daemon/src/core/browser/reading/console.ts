/** Reads what a page has written to its console. The browser keeps the messages and repeats them to a new listener. */
import type { CdpEvents, CdpResult } from '../../../platform/clients/cdp-connection.ts';
import type { Browser, PageCallOptions, PageResult } from '../browser.ts';
import type { Session } from '../session.ts';

export interface ConsoleMessage {
  /** Such as `log`, `warning` or `error`. */
  readonly level: string;
  readonly text: string;
  /** Null when the message has no place in a document or script. */
  readonly url: string | null;
  readonly line: number | null;
}

const maxMessages = 1000;
/** A page can log texts of any length. */
const maxCharacters = 2000;

/** The newest messages of the documents that the tab shows now, errors of scripts and of the network included. */
export async function readConsole(
  browser: Browser,
  options: PageCallOptions,
): Promise<PageResult<readonly ConsoleMessage[]>> {
  return await browser.onPage(options, async ({ page, signal }) => {
    const messages: ConsoleMessage[] = [];
    const add = ({ text, url, ...message }: ConsoleMessage) => {
      messages.push({ ...message, text: cut(text), url: url === null ? null : cut(url) });
      if (messages.length > maxMessages) messages.shift();
    };
    const sessions = new Set((await page.frames(signal)).map((frame) => frame.session));
    for (const session of sessions) await listen(session, add, signal);
    return messages;
  });
}

async function listen(session: Session, add: (message: ConsoleMessage) => void, signal: AbortSignal): Promise<void> {
  const removals = [
    session.on('Runtime.consoleAPICalled', (event) => add(calledMessage(event))),
    session.on('Runtime.exceptionThrown', ({ exceptionDetails }) => {
      const { exception, text, url = null, lineNumber } = exceptionDetails;
      add({ level: 'error', text: exception?.description ?? text, url, line: lineNumber + 1 });
    }),
    session.on('Log.entryAdded', ({ entry: { level, text, url = null } }) => add({ level, text, url, line: null })),
  ];
  try {
    // The browser sends the kept messages before it answers.
    await Promise.all([
      session.send('Runtime.enable', undefined, signal),
      session.send('Log.enable', undefined, signal),
    ]);
  } finally {
    for (const remove of removals) remove();
    session.tell('Runtime.disable');
    session.tell('Log.disable');
    session.tell('Runtime.releaseObjectGroup', { objectGroup: 'console' });
  }
}

function calledMessage({ type, args, stackTrace }: CdpEvents['Runtime.consoleAPICalled'][0]): ConsoleMessage {
  const [place] = stackTrace?.callFrames ?? [];
  return {
    level: type,
    text: args.map(textOf).join(' '),
    url: place?.url ?? null,
    line: place ? place.lineNumber + 1 : null,
  };
}

function textOf({ type, value, unserializableValue, description }: CdpResult<'Runtime.evaluate'>['result']): string {
  if (type === 'string') return String(value);
  return unserializableValue ?? description ?? (value === undefined ? type : JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
