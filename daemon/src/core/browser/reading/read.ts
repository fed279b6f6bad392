/** Reads the documents of a page, frames included, as Markdown, as plain text or as a list of links. */
import type { Browser, PageCall, PageCallOptions, PageResult } from '../browser.ts';
import { CdpClosed, CdpRefusal } from '../../../protocols/cdp-errors.ts';
import { DocumentGone } from '../failures.ts';
import type { Frame } from '../frames.ts';
import { placeOf, type UrlAndTitle } from '../place.ts';

export interface Link {
  readonly text: string;
  /** Absolute. */
  readonly href: string;
}

export interface ReadText extends UrlAndTitle {
  readonly text: string;
  readonly isCut: boolean;
}

export interface ReadLinks {
  readonly links: readonly Link[];
  readonly isCut: boolean;
}

/** Of one document. */
const maxCharacters = 1_000_000;
const maxLinkCharacters = 200_000;
/** Time for the document of a frame; one that does not answer is left out. */
const maxFrameMs = 3000;
const titleMs = 500;

/** The main document, and below it the documents of its frames. */
export async function readText(
  browser: Browser,
  { form, ...options }: PageCallOptions & { readonly form: 'markdown' | 'text' },
): Promise<PageResult<ReadText>> {
  return await browser.onPage({ ...options, runsScripts: true }, async (call) => {
    const parts = await inFrames<Omit<ReadText, keyof UrlAndTitle>>(call, { form, maxCharacters });
    const text = parts.map((part) => part.text).filter((part) => part !== '');
    const place = await placeOf(call, titleMs);
    return { ...place, text: text.join('\n\n'), isCut: parts.some(({ isCut }) => isCut) };
  });
}

export async function readLinks(browser: Browser, options: PageCallOptions): Promise<PageResult<ReadLinks>> {
  return await browser.onPage({ ...options, runsScripts: true }, async (call) => {
    const parts = await inFrames<ReadLinks>(call, { form: 'links', maxCharacters: maxLinkCharacters });
    return { links: parts.flatMap(({ links }) => links), isCut: parts.some(({ isCut }) => isCut) };
  });
}

async function inFrames<T>({ page, signal }: PageCall, argument: object): Promise<readonly T[]> {
  const [main, ...others] = await page.frames(signal);
  if (!main) throw new DocumentGone('the page has no document');
  const inFrame = (frame: Frame, limit: AbortSignal) => page.call<T>(frame, 'read', argument, limit);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(maxFrameMs)]);
  const parts = await Promise.all([inFrame(main, signal), ...others.map((frame) => unlessGone(inFrame(frame, limit)))]);
  signal.throwIfAborted();
  return parts.filter((part) => part !== null);
}

/** Null for a frame that goes meanwhile, or whose scripts do not end. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    const isLate = error instanceof DOMException;
    if (isLate || error instanceof DocumentGone || error instanceof CdpRefusal || error instanceof CdpClosed)
      return null;
    throw error;
  }
}
