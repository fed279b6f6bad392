/** Takes a picture of a page: the visible part or the whole, at its own or a smaller size. */
import { createHash } from '../../kit/crypto.ts';
import { advise } from '../../kit/advice.ts';
import { CoreError } from '../../kit/errors.ts';
import type { Point, Size } from '../../kit/types/geometry.ts';
import { findElement, subjectOf, type ElementName } from './actions/element.ts';
import { inTurn } from './actions/waiting.ts';
import type { Browser, PageCall, PageCallOptions } from './browser.ts';
import { sizeOfImage } from './image-size.ts';
import { pixels } from './info.ts';
import { withLabels } from './labels.ts';
import { interactiveRefsOf } from './snapshot/snapshot.ts';

export interface ScreenshotSpec extends PageCallOptions {
  readonly format: 'png' | 'jpeg';
  /** 0 to 100; only for jpeg. */
  readonly quality: number | null;
  readonly isFullPage: boolean;
  /** The picture is made smaller until it fits. */
  readonly scaleTo: Size | null;
  /** Names each ref whose element can be acted on, for a label that is drawn over the element; null for no labels. */
  readonly labels: ((ref: string) => string) | null;
  /** The size of the view while the picture is taken; null for its own size. */
  readonly view: Size | null;
  /** Null for the page. */
  readonly element: ElementName | null;
}

export interface Screenshot {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly image: Size;
  /** The display of the browser, in CSS pixels. */
  readonly screen: Size;
  /** The same for the same picture. */
  readonly tag: string;
}

/** Chromium draws no larger surface than this. */
const maxSide = 16_384;

export async function takeScreenshot(browser: Browser, spec: ScreenshotSpec): Promise<Screenshot> {
  const { value } = await browser.onPage(spec, (call) =>
    inForeground(call, () =>
      withView(call, spec.view, async () => {
        const { page, signal } = call;
        const box = spec.element === null ? null : await boxOf(call, spec.element);
        if (spec.labels === null) return await capture(call, spec, box);
        const refs = await interactiveRefsOf(page, signal);
        return await withLabels(page, refs, spec.labels, signal, () => capture(call, spec, box));
      }),
    ),
  );
  return value;
}

/** A tab in the background draws nothing, so it comes to the front for the picture. */
async function inForeground<T>({ browser, page: { targetId }, signal }: PageCall, work: () => Promise<T>): Promise<T> {
  const activeId = await browser.activeId(signal);
  if (activeId === targetId || activeId === null) return await work();
  await browser.activate(targetId, signal);
  try {
    return await work();
  } finally {
    if (browser.hasTab(activeId)) await browser.activate(activeId, signal);
  }
}

/** The view gets its own size back also when the client has gone, whose signal ends every command that waits. */
async function withView<T>(call: PageCall, size: Size | null, work: () => Promise<T>): Promise<T> {
  if (size === null) return await work();
  return await inTurn(call, 'view', async () => {
    const { page, signal } = call;
    const metrics = { ...size, deviceScaleFactor: 0, mobile: false };
    try {
      await page.session.send('Emulation.setDeviceMetricsOverride', metrics, signal);
      return await work();
    } finally {
      page.session.tell('Emulation.clearDeviceMetricsOverride');
    }
  });
}

type Box = Point & Size;

/** The box of an element in the view of the main frame, once the element has scrolled into the view. */
async function boxOf(call: PageCall, element: ElementName): Promise<Box> {
  const { page, signal } = call;
  const target = await findElement(call, element);
  let box = await page.callOn<Box>(target, 'shownBox', {}, signal);
  if (box.width === 0 || box.height === 0)
    throw new CoreError('bad_argument', `${subjectOf(element)} is not drawn`, {
      next: { operation: 'browser.snapshot' },
    });
  let { frame } = target;
  while (frame.parentId !== null) {
    const owner = await page.ownerOf(frame, signal);
    if (owner === null) break;
    frame = owner.parent;
    const corner = await frame.session.valueOn<Point>(owner.objectId, innerCorner, [], signal);
    box = { ...box, x: box.x + corner.x, y: box.y + corner.y };
  }
  return box;
}

/** Runs in the page: where the document of a frame begins. */
const innerCorner = `function () {
  const { x, y } = globalThis.boxkeep.shownBox(this);
  return { x: x + this.clientLeft, y: y + this.clientTop };
}`;

async function capture({ page, signal }: PageCall, spec: ScreenshotSpec, box: Box | null): Promise<Screenshot> {
  const { session } = page;
  const expression = '[screen.width, screen.height, devicePixelRatio]';
  const [screen, metrics] = await Promise.all([
    session.valueOf<unknown[]>(expression, signal),
    session.send('Page.getLayoutMetrics', undefined, signal),
  ]);
  const { cssVisualViewport: view, cssContentSize: content } = metrics;
  const area = box
    ? { x: view.pageX + box.x, y: view.pageY + box.y, width: Math.ceil(box.width), height: Math.ceil(box.height) }
    : spec.isFullPage
      ? { x: 0, y: 0, width: Math.ceil(content.width), height: Math.ceil(content.height) }
      : { x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight };
  const scale = scaleOf(area, spec, Number(screen[2]) || 1);
  const { format, quality } = spec;
  const { data } = await session.send(
    'Page.captureScreenshot',
    {
      format,
      ...(quality !== null && format === 'jpeg' && { quality }),
      // Without a clip Chromium is faster, and draws the visible part.
      ...((spec.isFullPage || box || scale !== 1) && {
        clip: { ...area, scale },
        captureBeyondViewport: spec.isFullPage || box !== null,
      }),
    },
    signal,
  );
  const bytes = Uint8Array.fromBase64(data);
  return {
    bytes,
    image: sizeOfImage(bytes) ?? area,
    screen: { width: pixels(screen[0]), height: pixels(screen[1]) },
    tag: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
  };
}

/** `ratio` is the number of pixels of the picture for each pixel of CSS. */
function scaleOf({ width, height }: Size, { scaleTo }: ScreenshotSpec, ratio: number): number {
  const scale = scaleTo === null ? 1 : Math.min(1, scaleTo.width / width, scaleTo.height / height);
  if (Math.max(width, height) * scale * ratio <= maxSide) return scale;
  const size = `${Math.ceil(width * ratio)} × ${Math.ceil(height * ratio)}`;
  throw new CoreError('bad_argument', `the page has ${size} pixels, and a picture at most ${maxSide} on a side`, {
    hint: 'Take a picture of a smaller part.',
    advice: advise`Or pass ${'scaleTo'}, such as ${Math.floor((width * maxSide) / Math.max(width, height))}x${maxSide}.`,
  });
}
