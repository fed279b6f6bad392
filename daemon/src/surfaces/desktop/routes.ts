/** Where the operations of the desktop stand in v2: the worker runs them, and the daemon asks it to. */
import { z } from 'zod';
import type { Size } from '../../kit/types/geometry.ts';
import { RawReply } from '../../http/stream/raw.ts';
import { routeOf, type Placed, type Placement } from '../../http/route/operation-route.ts';
import { remote, type RemoteDeps, type RemoteOperation } from '../../http/route/remote.ts';
import type { Picture } from '../../core/desktop/desktop.ts';
import { findNodes, readTree } from '../../operations/desktop/accessibility.ts';
import { act, ActionBody, actInBatch } from '../../operations/desktop/act.ts';
import { includeScreenshot, acceptedFormat, mediaTypeOf } from '../../operations/desktop/inputs.ts';
import type { DesktopDeps } from '../../operations/desktop/operation.ts';
import { record } from '../../operations/desktop/record.ts';
import {
  awaitChange,
  getClipboard,
  getCursor,
  getInfo,
  listWindows,
  screenshotFields,
  setResolution,
  takeScreenshot,
} from '../../operations/desktop/screen.ts';
import { ActionResult } from '../../operations/desktop/views.ts';
import type { Operation } from '../../operations/operation.ts';

export interface DesktopRoute<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly served: Placed<DesktopDeps>;
  readonly forwarded: Placed<RemoteDeps>;
  readonly remote: RemoteOperation<I, O>;
}

function desktopRoute<
  I extends z.ZodType,
  O extends z.ZodType,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  operation: Operation<DesktopDeps, I, O>,
  at: Placement<I, O, Q, B>,
  receive?: (answer: Response) => Promise<z.input<O>>,
): DesktopRoute<I, O> {
  const { method, path, query } = at;
  const asked = remote(operation, { method, path, query, receive });
  return { served: routeOf(operation, at), forwarded: passedOn(asked, at), remote: asked };
}

/** The route of an operation of the worker. Its answers are passed on unread, because reading a large tree takes 0.1 s. */
export function passedOn<
  I extends z.ZodType,
  O extends z.ZodType,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(operation: RemoteOperation<I, O>, at: Placement<I, O, Q, B>): Placed<RemoteDeps> {
  return routeOf(operation, at, operation.ask);
}

export const action = desktopRoute(act, {
  method: 'POST',
  path: '/v2/computer/actions',
  summary: 'Do one thing with the pointer, the keyboard, a window or a node',
  query: includeScreenshot,
  body: ActionBody,
  top: ActionResult,
});

export const config = desktopRoute(setResolution, {
  method: 'POST',
  path: '/v2/computer/config',
  summary: 'Set the resolution of the display',
  body: setResolution.input,
});

export const recording = desktopRoute(record, {
  method: 'POST',
  path: '/v2/computer/record',
  summary: 'Record the display as a film',
  body: record.input,
});

export const screenshot = desktopRoute(
  takeScreenshot,
  {
    method: 'GET',
    path: '/v2/computer/screenshot',
    summary: 'Take a picture of the display',
    query: z.object({
      format: z.enum(['png', 'jpg', 'jpeg', 'webp']).optional().describe('What Accept prefers by default, else png.'),
      ...screenshotFields,
    }),
    read: ({ query: { format, ...look }, headers }) => ({
      ...look,
      format: format === 'jpg' ? 'jpeg' : (format ?? acceptedFormat(headers.get('accept'))),
    }),
    raw: {
      contentType: ['image/png', 'image/jpeg', 'image/webp'],
      description:
        'The picture. x-image-width and x-image-height are its size, x-screen-width and x-screen-height that of the display.',
    },
    reply: pictureReply,
  },
  pictureIn,
);

export const changes = desktopRoute(awaitChange, {
  method: 'GET',
  path: '/v2/computer/changes',
  summary: 'Wait until the display shows something else, or the pointer has moved',
  query: awaitChange.input,
});

function pictureReply({ bytes, format, image, screen }: Picture): RawReply {
  const headers = {
    'x-image-width': String(image.width),
    'x-image-height': String(image.height),
    'x-screen-width': String(screen.width),
    'x-screen-height': String(screen.height),
  };
  return new RawReply({ kind: 'bytes', bytes }, { ...headers, 'content-type': mediaTypeOf(format) });
}

async function pictureIn(answer: Response): Promise<Picture> {
  const sizeOf = (what: 'image' | 'screen'): Size => ({
    width: Number(answer.headers.get(`x-${what}-width`)),
    height: Number(answer.headers.get(`x-${what}-height`)),
  });
  const format = acceptedFormat(answer.headers.get('content-type'));
  return {
    format,
    bytes: new Uint8Array(await answer.arrayBuffer()),
    image: sizeOf('image'),
    screen: sizeOf('screen'),
  };
}

/** In the order of the description. */
export const routes: readonly DesktopRoute[] = [
  desktopRoute(getClipboard, {
    method: 'GET',
    path: '/v2/computer/clipboard',
    summary: 'Read the text of the clipboard',
  }),
  desktopRoute(getCursor, { method: 'GET', path: '/v2/computer/cursor', summary: 'Say where the pointer is' }),
  desktopRoute(getInfo, {
    method: 'GET',
    path: '/v2/computer/info',
    summary: 'Describe the display and what works on it',
  }),
  desktopRoute(listWindows, { method: 'GET', path: '/v2/computer/windows', summary: 'List the windows' }),
  config,
  screenshot,
  changes,
  desktopRoute(actInBatch, {
    method: 'POST',
    path: '/v2/computer/actions/batch',
    summary: 'Do several things in order; nothing else touches the display meanwhile',
    body: actInBatch.input,
  }),
  action,
  desktopRoute(findNodes, {
    method: 'GET',
    path: '/v2/computer/accessibility/nodes',
    summary: 'Find nodes of the accessibility tree',
    query: findNodes.input,
  }),
  desktopRoute(readTree, {
    method: 'GET',
    path: '/v2/computer/accessibility',
    summary: 'Read the accessibility tree',
    query: readTree.input,
  }),
  recording,
];
