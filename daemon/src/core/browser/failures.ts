/** Turns failures of a browser, a tab or a page into errors that say what to do. */
import { advise } from '../../kit/advice.ts';
import {
  CdpClosed,
  CdpRefusal,
  CdpStalled,
  CdpTooLarge,
  CdpTooLong,
  CdpUnreachable,
} from '../../protocols/cdp-errors.ts';
import { CoreError } from '../../kit/errors.ts';
import { maxDialogs } from './dialogs.ts';
import { shortened } from './url.ts';

/** The document that an operation worked on has been replaced during the operation. */
export class DocumentGone extends Error {
  override readonly name = 'DocumentGone';
}

export function noTab(id: string): CoreError {
  return new CoreError('tab_not_found', `no tab with id ${id}`, {
    advice: advise`Pass the ${'targetId'} of a tab, not its position.`,
    next: { operation: 'browser.listTabs' },
  });
}

export function noTabs(): CoreError {
  return new CoreError('tab_not_found', 'the browser has no tab', { next: { operation: 'browser.openTab' } });
}

export function staleRef(ref: string): CoreError {
  return new CoreError('ref_stale', `ref ${ref} names an element that is not in the page any more`, {
    hint: 'The page has changed since the snapshot.',
    next: { operation: 'browser.snapshot' },
    facts: { reason: 'ref_stale' },
  });
}

/** Throws `ref_malformed` for a text that was never a ref, of this or another backend of snapshots. */
export function assertRef(text: string): void {
  if (/^e\d+(?:-\w+)?$/.test(text)) return;
  throw new CoreError('ref_malformed', `${JSON.stringify(shortened(text))} is not a ref`, {
    hint: 'A ref looks like e12-k3x9a. Pass one of a snapshot, or a CSS selector as selector.',
    next: { operation: 'browser.snapshot' },
    facts: { reason: 'ref_malformed' },
  });
}

export function unreachable(address: string, { message }: CdpUnreachable): CoreError {
  return new CoreError('unavailable', `there is no browser at ${address}: ${message}`, {
    hint: 'Start one with --remote-debugging-port, or set BROWSER_REMOTE_DEBUGGING_HOST and BROWSER_REMOTE_DEBUGGING_PORT.',
    next: { operation: 'capabilities.read' },
  });
}

export function crashed(targetId: string): CoreError {
  return new CoreError('unavailable', `the page of tab ${targetId} has crashed`, {
    hint: 'Load it again, or close the tab.',
    next: { operation: 'browser.navigate' },
  });
}

export interface CallFacts {
  readonly address: string;
  /** Null for a call on the browser itself. */
  readonly targetId: string | null;
  readonly timeoutMs: number;
  /** Why the page or the browser went during the call, whatever the call has made of that; null when neither did. */
  readonly gone: CdpClosed | null;
  readonly isOver: boolean;
  readonly isConnected: boolean;
  readonly hasTab: boolean;
  /** The URL of a navigation whose server has not answered; null without one. */
  readonly loading: string | null;
  /** Dialogs that the page has opened during the call. */
  readonly dialogs: number;
}

/** Maps what a call on a page throws to a CoreError; returns other errors unchanged. */
export function callFailure(error: unknown, facts: CallFacts): unknown {
  if (facts.gone !== null && !facts.isOver) return closed(facts, facts.gone);
  if (error instanceof CoreError) return error;
  if (facts.dialogs > maxDialogs) return dialogLoop(facts);
  if (facts.isOver) return timeout(facts);
  if (error instanceof CdpUnreachable) return unreachable(facts.address, error);
  if (error instanceof CdpClosed) return closed(facts, error);
  if (error instanceof CdpTooLarge)
    return new CoreError('bad_argument', error.message, { hint: 'Send smaller values.' });
  if (error instanceof CdpTooLong)
    return new CoreError('bad_argument', error.message, { hint: 'Ask for a part of it.' });
  if (error instanceof CdpRefusal || error instanceof DocumentGone) {
    if (isAboutDocument(error.message)) return documentGone();
    return new CoreError('bad_argument', `the browser has refused: ${error.message}`);
  }
  return error;
}

/** True for the refusals of a command whose document, frame or node has gone. */
export function isAboutDocument(message: string): boolean {
  return /Not attached to an active page|context|navigated|No node|No frame|Frame with the given|detached|DocumentGone|replaced/i.test(
    message,
  );
}

function documentGone(): CoreError {
  return new CoreError('ref_stale', 'the page was replaced by another one during the call', {
    facts: { reason: 'ref_stale' },
    hint: 'Wait until it has loaded.',
    next: { operation: 'browser.snapshot' },
  });
}

export function dialogLoop({ targetId, dialogs }: Pick<CallFacts, 'dialogs' | 'targetId'>): CoreError {
  const message = `the page of tab ${targetId} opened ${dialogs} dialogs during the call, and its script was stopped`;
  return new CoreError('page_timeout', message, { hint: 'A script of the page opens dialogs without end.' });
}

function timeout({ targetId, timeoutMs, loading }: CallFacts): CoreError {
  const seconds = timeoutMs / 1000;
  if (loading !== null) {
    const message = `the page of tab ${targetId} waits for ${shortened(loading)}, which did not answer within ${seconds} s`;
    return new CoreError('page_timeout', message, {
      hint: 'Load another URL.',
      advice: advise`Or pass a longer ${'timeout'}.`,
      next: { operation: 'browser.navigate' },
    });
  }
  const subject = targetId === null ? 'the browser' : `the page of tab ${targetId}`;
  return new CoreError('page_timeout', `${subject} did not answer within ${seconds} s`, {
    hint: 'A script of the page may run without end, or a dialog may be open. Load another URL, or close the tab.',
    next: { operation: 'browser.navigate' },
  });
}

function closed({ address, targetId, isConnected, hasTab }: CallFacts, error: CdpClosed): CoreError {
  if (error instanceof CdpStalled) {
    return new CoreError('unavailable', `the browser at ${address} has sent nothing for ${error.seconds} s`, {
      hint: 'Its processes may be stopped or starved. Continue or restart the browser, and try again.',
    });
  }
  if (!isConnected) {
    return new CoreError('unavailable', `the browser at ${address} closed the connection during the call`, {
      hint: 'It may have crashed or restarted. Try again.',
    });
  }
  if (!hasTab) {
    return new CoreError('tab_not_found', `tab ${targetId} was closed during the call`, {
      next: { operation: 'browser.listTabs' },
    });
  }
  return targetId !== null && /crash/.test(error.message) ? crashed(targetId) : documentGone();
}
